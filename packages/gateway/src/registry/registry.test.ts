import assert from 'node:assert/strict';
import { test } from 'node:test';
import { requirement } from '../../../../test/requirement.ts';
import { toolOf } from '../stages/facts.test-kit.ts';
import { isVisible, Registry } from './registry.ts';

const read = toolOf({
  name: 'files.read',
  aliases: ['read_file', 'files.read_text'],
  tags: ['files'],
  category: 'read_only',
});
const write = toolOf({
  name: 'files.write',
  tags: ['files', 'write'],
  category: 'system_write',
  allowedModes: ['NORMAL'],
});
const end = toolOf({ name: 'sessions.end', audience: 'operator', category: 'administration' });

function registryOf(...tools: ReturnType<typeof toolOf>[]): Registry {
  const registry = new Registry();
  for (const tool of tools) registry.register(tool);
  return registry;
}

const names = (tools: readonly ReturnType<typeof toolOf>[]) => tools.map(({ definition }) => definition.name);

test('a tool is found by its name and by every alias, and by nothing else', () => {
  requirement('DEF-3', 'CAT-11');
  const registry = registryOf(write, read);
  for (const name of ['files.read', 'read_file', 'files.read_text']) assert.equal(registry.find(name)?.tool, read);
  for (const name of ['files', '', 'FILES.READ', 'constructor']) assert.equal(registry.find(name), undefined, name);
});

test('tools are listed by name, for a mode, by category and by tag', () => {
  requirement('DEF-3');
  const registry = registryOf(end, write, read);
  assert.deepEqual(names(registry.all), ['files.read', 'files.write', 'sessions.end']);
  assert.deepEqual(names(registry.listForMode('NORMAL')), ['files.read', 'files.write', 'sessions.end']);
  assert.deepEqual(names(registry.listForMode('LOCKDOWN')), ['files.read', 'sessions.end']);
  assert.deepEqual(names(registry.filterByCategory('system_write')), ['files.write']);
  assert.deepEqual(names(registry.filterByTag('files')), ['files.read', 'files.write']);
  assert.deepEqual(names(registry.filterByTag('nothing')), []);
});

test('two tools never answer to one name, and who comes second leaves no trace', () => {
  const registry = registryOf(read);
  for (const late of [
    toolOf({ name: 'files.read' }),
    toolOf({ name: 'read_file' }),
    toolOf({ name: 'other', aliases: ['fresh', 'files.read'] }),
    toolOf({ name: 'other', aliases: ['read_file'] }),
  ]) {
    assert.throws(() => registry.register(late), /belongs to files\.read/);
  }
  assert.equal(registry.find('other'), undefined);
  assert.equal(registry.find('fresh'), undefined);
  assert.deepEqual(names(registry.all), ['files.read']);
});

test('suggestions name only what the caller may know of', () => {
  requirement('DEF-5');
  const registry = registryOf(read, end);
  assert.deepEqual(registry.suggest('sessions.ends', 'agent'), []);
  assert.deepEqual(registry.suggest('sessions.ends', 'operator'), ['sessions.end']);
  assert.deepEqual(registry.suggest('files.raed', 'agent'), ['files.read']);
  assert.ok(isVisible(end, 'operator') && !isVisible(end, 'agent') && isVisible(read, 'agent'));
});

test('the schemas of a tool belong to that very tool', () => {
  requirement('PIPE-2');
  const registry = registryOf(read);
  assert.equal(registry.schemasOf(read).tool, read);
  assert.throws(() => registry.schemasOf(write), { code: 'INTERNAL' });
  assert.throws(() => registry.schemasOf(toolOf({ name: 'files.read' })), /not registered/);
  assert.throws(() => registry.schemasOf(toolOf({ name: 'read_file' })), /not registered/);
});

test('warming up survives a schema that does not compile, and only its own tool is worse for it', async () => {
  const broken = toolOf({ name: 'a.broken', inputSchema: { type: 'nonsense' } });
  const good = toolOf({ name: 'b.good', inputSchema: { type: 'object', required: ['x'] } });
  const registry = registryOf(broken, good);
  await registry.warmUp(new AbortController().signal);
  assert.throws(() => registry.schemasOf(broken).input.check({}));
  assert.equal(registry.schemasOf(good).input.check({}).length, 1);
  await registry.warmUp(AbortSignal.abort());
});
