import assert from 'node:assert/strict';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { newPlace, TestDaemon } from '../../harness/daemon.ts';
import { runSallyport } from '../../harness/run-sallyport.ts';
import { Bridge, callTool } from './bridge.ts';
import { openTestDoor } from './door-kit.ts';
import { initialize } from './raw-client.ts';
import type { RawMessage } from './raw-client.ts';
import { endlessTool } from './test-tools.ts';

let daemon: TestDaemon;
before(async () => {
  daemon = await TestDaemon.start();
});
after(() => daemon.remove());

test('without a token or a daemon the bridge says what to do, on standard error', (t) => {
  const place = newPlace();
  t.after(() => rmSync(place.folder, { recursive: true }));
  const nobody = runSallyport(place, ['mcp']);
  assert.equal(nobody.status, 1);
  assert.match(nobody.stderr, /No session token is set.*\n.*session create/s);
  const alone = runSallyport(place, ['mcp'], { SALLYPORT_TOKEN: 'x' });
  assert.equal(alone.status, 2);
  assert.match(alone.stderr, /No daemon answers/);
  assert.equal(nobody.stdout + alone.stdout, '', 'standard output is for the protocol alone');
});

test('the credential of an operator is not lent to clients', () => {
  const { status, stderr } = runSallyport(daemon.place, ['mcp']);
  assert.equal(status, 1);
  assert.match(stderr, /No session token is set/);
});

test('a token that the daemon does not know is told to the client', async (t) => {
  const bridge = new Bridge(t, daemon.place, 'unknown');
  bridge.send(initialize);
  assert.match((await bridge.answer(0)).error?.message ?? '', /No valid credential/);
  assert.equal(await bridge.end(), 0);
});

test('the token may lie in a file, and everything on standard output is a message', async (t) => {
  const file = join(daemon.place.folder, 'token');
  writeFileSync(file, await daemon.newAgent('ada'));
  writeFileSync(join(daemon.place.workspace, 'a.txt'), 'grün\n');
  const bridge = new Bridge(t, daemon.place, '', ['--token-file', file]);
  await bridge.begin();
  bridge.send(callTool(1, 'files_read', { path: 'a.txt' }));
  const { structuredContent } = (await bridge.answer(1)).result ?? {};
  assert.equal((structuredContent as { content: string }).content, 'grün\n');
  bridge.send('this is no JSON');
  assert.equal((await bridge.answer(null)).error?.code, -32700);
  bridge.send('{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"a","name":"b"}}');
  assert.match((await bridge.answer(2)).error?.message ?? '', /stands twice/);
  assert.equal(await bridge.end(), 0);
  for (const line of bridge.lines) assert.equal((JSON.parse(line) as { jsonrpc: string }).jsonrpc, '2.0');
});

test('--start starts a daemon that outlives the bridge', async (t) => {
  const place = newPlace();
  t.after(() => {
    runSallyport(place, ['stop']);
    rmSync(place.folder, { recursive: true, force: true });
  });
  const bridge = new Bridge(t, place, 'made-up-token', ['--start']);
  bridge.send(initialize);
  assert.match((await bridge.answer(0)).error?.message ?? '', /No valid credential/, 'a daemon answers');
  assert.equal(await bridge.end(), 0);
  const { status, stdout } = runSallyport(place, ['status', '--json']);
  assert.equal(status, 0);
  const { pid } = JSON.parse(stdout) as { readonly pid: number };
  assert.ok(!readFileSync(`/proc/${pid}/environ`, 'utf8').includes('made-up-token'), 'the token stays with the client');
});

test('what the client cancels, and what it leaves behind, is cancelled in the tool', async (t) => {
  const [first, second] = [endlessTool('test.first'), endlessTool('test.second')];
  const door = await openTestDoor(t, { tools: [first.tool, second.tool] });
  const bridge = new Bridge(t, door.place, door.setSession());
  await bridge.begin();
  bridge.send(callTool(1, 'test_first', {}));
  await first.begun;
  bridge.send({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } });
  await first.cancelled;
  bridge.send(callTool(2, 'test_second', {}));
  await second.begun;
  assert.equal(await bridge.end(), 0);
  await second.cancelled;
  assert.ok(
    !bridge.lines.some((line) => (JSON.parse(line) as RawMessage).id === 1),
    'a cancelled request has no answer',
  );
});
