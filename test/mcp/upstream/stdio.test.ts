import assert from 'node:assert/strict';
import { chmodSync, chownSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { ToolFailure } from '../../../packages/gateway/src/call/tool.ts';
import { openWorld, server, textOf, writeUpstream } from './upstream-kit.ts';
import { requirement } from '../../requirement.ts';

test('a server gets its own variables and declared secrets, and sees declared paths only', async (context) => {
  const open = mkdtempSync(join(tmpdir(), 'shown-'));
  context.after(() => rmSync(open, { recursive: true }));
  writeFileSync(join(open, 'note.txt'), 'for the server', { mode: 0o644 });
  writeFileSync(join(open, 'closed.txt'), 'for nobody', { mode: 0o644 });
  // The user of sandboxed programs comes in.
  chmodSync(open, 0o755);
  const files = {
    good: server('good', { secrets: ['TOKEN'], environment: { REGION: 'eu' }, paths: { read: [serverPath(), open] } }),
  };
  const world = await openWorld(context, files, {
    secrets: { TOKEN: 'hush', OTHER: 'not declared' },
    protects: (path) => path.endsWith('closed.txt'),
  });
  await world.settle('good', 'accept');
  const environment = JSON.parse(textOf(await world.call('good.environment'))) as Record<string, string>;
  assert.deepEqual(
    Object.keys(environment).filter((name) => !['PATH', 'HOME', 'LANG', 'PWD'].includes(name)),
    ['REGION', 'TOKEN'],
  );
  assert.equal(environment['TOKEN'], 'hush');
  const read = async (path: string): Promise<string> => textOf(await world.call('good.read_file', { path }));
  assert.equal(await read(join(open, 'note.txt')), 'for the server');
  assert.notEqual(await read(join(open, 'closed.txt')), 'for nobody');
  assert.equal(await read('/etc/shadow'), 'ENOENT');
  assert.equal(await read(join(world.folder, 'good.yaml')), 'ENOENT');
});

test('tools of a server wait until they are accepted, and only high, mutating risk is assumed', async (context) => {
  requirement('DEF-6');
  const world = await openWorld(context, { good: server('good'), hints: server('hints') });
  await Promise.all([world.settle('good'), world.settle('hints')]);
  const echo = world.registry.find('good.echo')?.tool;
  assert.equal(echo?.status?.(), 'new');
  assert.equal(echo?.explainUnusable?.()?.code, 'TOOL_NOT_ACCEPTED');
  assert.match(echo?.explainUnusable?.()?.forOperators ?? '', /sallyport upstream accept good\.echo/);
  assert.deepEqual([echo?.definition.risk, echo?.definition.mutates], ['high', true]);
  // A hint never lowers what is assumed; it may raise it.
  const mild = world.registry.find('hints.mild')?.tool.definition;
  assert.deepEqual([mild?.risk, mild?.mutates, mild?.idempotent], ['high', true, false]);
  assert.equal(world.registry.find('hints.wild')?.tool.definition.risk, 'critical');
  await world.settle('good', 'accept');
  assert.equal(world.registry.find('good.echo')?.tool.status?.(), 'ready');
  assert.equal(textOf(await world.call('good.echo', { text: 'hi' })), 'hi');
  assert.ok(world.events.includes('tool_found good.echo') && world.events.includes('tool_accepted good.echo'));
});

test('an operator can assign a tool less risk than is assumed', async (context) => {
  const file = server('good', { tools: { echo: { risk: 'low', mutates: false, timeout_ms: 5000 } } });
  const world = await openWorld(context, { good: file });
  await world.settle('good');
  const echo = world.registry.find('good.echo')?.tool.definition;
  assert.deepEqual([echo?.risk, echo?.mutates, echo?.timeoutMs], ['low', false, 5000]);
});

test('structured content, failures, progress and refused requests pass as what they are', async (context) => {
  const world = await openWorld(context, { good: server('good') });
  await world.settle('good', 'accept');
  assert.deepEqual(await world.call('good.structured'), { n: 7 });
  await assert.rejects(world.call('good.fail'), (error: ToolFailure) => {
    assert.equal(error.code, 'EXECUTION_ERROR');
    assert.match(error.message, /good\.fail failed: the disk is on fire/);
    return true;
  });
  const steps: unknown[] = [];
  await world.call('good.progress', {}, { onProgress: (progress) => steps.push(progress) });
  assert.deepEqual(steps.at(-1), { kind: 'step', done: 3, total: 3, message: 'part 3' });
  await world.call('good.ask');
  await world.call('good.echo', { text: 'later' });
  assert.deepEqual(
    world.requests.map(({ upstream, method, decision }) => [upstream, method, decision]),
    [['good', 'sampling/createMessage', 'refused']],
  );
});

test('a rule can take new tools of a server in, by their names', async (context) => {
  requirement('DEF-6');
  const acceptsNew = (tool: string): boolean => tool === 'good.echo';
  const world = await openWorld(context, { good: server('good') }, { acceptsNew });
  await world.settle('good');
  assert.equal(world.registry.find('good.echo')?.tool.status?.(), 'ready');
  assert.equal(world.registry.find('good.slow')?.tool.status?.(), 'new');
});

test('a cancelled call ends at once, and the server is told', async (context) => {
  const world = await openWorld(context, { good: server('good') });
  await world.settle('good', 'accept');
  const controller = new AbortController();
  const slow = world.call('good.slow', {}, { signal: controller.signal });
  await world.call('good.echo', { text: 'in between' });
  controller.abort(new ToolFailure('CANCELLED', 'The caller cancelled the call.'));
  await assert.rejects(slow, { code: 'CANCELLED' });
  assert.equal(textOf(await world.call('good.cancelled')), '1');
});

test('a server that ends loses its own calls, is tried again with a pause, and is back', async (context) => {
  requirement('WIRE-6');
  const world = await openWorld(context, { good: server('good'), other: server('good') });
  await Promise.all([world.settle('good', 'accept'), world.settle('other', 'accept')]);
  const waiting = world.call('good.slow');
  const elsewhere = world.call('other.slow', {}, { signal: AbortSignal.timeout(60_000) });
  elsewhere.catch(() => undefined);
  await assert.rejects(world.call('good.exit'), { code: 'UPSTREAM_UNAVAILABLE' });
  await assert.rejects(waiting, { code: 'UPSTREAM_UNAVAILABLE' });
  // During the pause nobody waits.
  await assert.rejects(world.call('good.echo', { text: 'x' }), /exit code 3\. It is tried again in 1 s/);
  assert.equal(textOf(await world.call('other.echo', { text: 'unharmed' })), 'unharmed');
  while (world.upstreams.find('good')?.state !== 'connected') await sleep(50);
  assert.equal(textOf(await world.call('good.echo', { text: 'back' })), 'back');
});

test('an idle server is stopped, and started by the next call', async (context) => {
  const world = await openWorld(context, { good: server('good', { idle_seconds: 1 }) });
  await world.settle('good', 'accept');
  const upstream = world.upstreams.find('good');
  while (upstream?.state !== 'idle') await sleep(50);
  assert.equal(world.registry.find('good.echo')?.tool.status?.(), 'ready');
  assert.equal(textOf(await world.call('good.echo', { text: 'awake' })), 'awake');
});

test('a file that is written, changed or removed is followed', async (context) => {
  const world = await openWorld(context, {});
  writeUpstream(world.folder, 'late', server('good'));
  while (world.registry.find('late.echo') === undefined) await sleep(50);
  writeUpstream(world.folder, 'late', server('hints'));
  while (world.registry.find('late.wild') === undefined) await sleep(50);
  rmSync(join(world.folder, 'late.yaml'));
  while (world.registry.find('late.wild') !== undefined) await sleep(50);
  assert.equal(world.upstreams.all.length, 0);
});

function serverPath(): string {
  return join(import.meta.dirname, 'stdio-server.mjs');
}

test('what a server must not leave behind is set aside before the call is answered, while the server runs on', async (context) => {
  const shared = mkdtempSync(join(tmpdir(), 'shared-'));
  context.after(() => rmSync(shared, { recursive: true }));
  chmodSync(shared, 0o755);
  if (process.getuid?.() === 0) chownSync(shared, 65_530, 65_530);
  const files = { demo: server('writing', { paths: { read: [serverPath()], write: [shared] } }) };
  const world = await openWorld(context, files);
  await world.settle('demo', 'accept');
  for (const name of ['.envrc', '.mise.toml', '.envrc']) {
    assert.equal(textOf(await world.call('demo.write', { path: join(shared, name) })), 'written');
    assert.deepEqual(
      readdirSync(shared).filter((entry) => !entry.includes('withheld')),
      [],
    );
  }
  assert.equal(world.upstreams.find('demo')?.state, 'connected');
  assert.equal(world.events.filter((event) => event.startsWith('set_aside ')).length, 3);
  assert.equal(world.warnings.length, 3, 'each call says what became of its file');
  for (const warning of world.warnings) assert.match(warning, /were set aside: \S+withheld-/);
  assert.equal(readdirSync(shared).length, 3, 'nothing that was set aside is lost');
});
