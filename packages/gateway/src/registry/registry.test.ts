import assert from 'node:assert/strict';
import { test } from 'node:test';
import { requirement } from '../../../../test/requirement.ts';
import { refuse } from '../call/refusal.ts';
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

test('a name that rules know and nobody can call is not listed', () => {
  const onlyName = {
    ...toolOf({ name: 'upstream.roots' }),
    explainUnusable: () => refuse('TOOL_NOT_ACCEPTED', 'registry', 'x'),
  };
  const registry = registryOf(read, onlyName);
  assert.deepEqual(names(registry.listForMode('NORMAL')), ['files.read']);
  assert.ok(registry.find('upstream.roots'));
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

test('a source replaces its own tools and no others, and anyone who listens is told of it', () => {
  requirement('DEF-3');
  const registry = registryOf(read);
  let changes = 0;
  const stop = registry.onChange(() => changes++);
  const first = toolOf({ name: 'text.count', origin: 'executable' });
  assert.deepEqual(registry.replaceSource('installed', [first]), []);
  assert.deepEqual(registry.replaceSource('upstream', [toolOf({ name: 'other.tool' })]), []);
  const second = toolOf({ name: 'text.sort' });
  registry.replaceSource('installed', [second]);
  assert.deepEqual(names(registry.all), ['files.read', 'other.tool', 'text.sort']);
  assert.equal(registry.find('text.count'), undefined);
  assert.equal(registry.schemasOf(first).tool, first, 'a call in flight still checks its result');
  assert.equal(changes, 3);
  stop();
  registry.replaceSource('installed', []);
  assert.equal(changes, 3);
});

test('a source cannot take a name, an alias, or what models would take for one of them', () => {
  requirement('DEF-6');
  const registry = registryOf(read);
  registry.replaceSource('upstream', [toolOf({ name: 'far.tool' })]);
  const late = ['files.read', 'files_read', 'read_file', 'read.file', 'far.tool', 'far_tool'].map((name) =>
    toolOf({ name }),
  );
  const fine = toolOf({ name: 'fine' });
  const rejected = registry.replaceSource('installed', [...late, fine]);
  assert.deepEqual(
    rejected.map(({ tool }) => tool),
    late,
  );
  assert.ok(rejected.every(({ reason }) => reason.startsWith('its name belongs to ')));
  assert.deepEqual(names(registry.all), ['far.tool', 'files.read', 'fine']);
  const twins = [toolOf({ name: 'a.b' }), toolOf({ name: 'a_b' }), toolOf({ name: 'a.b' })];
  assert.deepEqual(
    registry.replaceSource('installed', twins).map(({ reason }) => reason),
    ['its name belongs to a.b', 'a.b@1.0.0 already exists'],
  );
});

test('a name without a version means the newest that can be called', () => {
  requirement('DEF-7');
  const registry = new Registry();
  const unusable = { explainUnusable: () => refuse('TOOL_NOT_ACCEPTED', 'registry', 'New.') };
  const versions = ['1.0.0', '1.10.0', '1.9.0', '2.0.0'].map((version) =>
    toolOf({ name: 'text.count', version }, version === '2.0.0' ? unusable : {}),
  );
  registry.replaceSource('installed', versions);
  assert.equal(registry.find('text.count')?.tool.definition.version, '1.10.0');
  for (const tool of versions) assert.equal(registry.find(`text.count@${tool.definition.version}`)?.tool, tool);
  assert.deepEqual(
    registry.versionsOf('text.count').map(({ definition }) => definition.version),
    ['2.0.0', '1.10.0', '1.9.0', '1.0.0'],
  );
  assert.deepEqual(names(registry.all), ['text.count']);
  registry.replaceSource('installed', [versions[3] ?? assert.fail()]);
  assert.equal(registry.find('text.count')?.tool, versions[3], 'if none can be called, it says why');
});

test('schemas of others are held to what they can be trusted with', () => {
  const registry = new Registry();
  const inputSchema = { type: 'object', properties: { text: { type: 'string', pattern: '^(a+)+$' } } };
  const tool = toolOf({ name: 'text.count', origin: 'executable', inputSchema });
  registry.replaceSource('installed', [tool]);
  assert.equal(registry.schemasOf(tool).input.check({ text: `${'a'.repeat(50_000)}!` }).length, 1);
});
