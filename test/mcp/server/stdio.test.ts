import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import type { TestContext } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { environmentOf, newPlace, TestDaemon } from '../../harness/daemon.ts';
import type { Place } from '../../harness/daemon.ts';
import { runSallyport } from '../../harness/run-sallyport.ts';
import { openTestDoor } from './door-kit.ts';
import { connectPeer, peerKinds, textOf } from './peers.ts';
import { initialize } from './raw-client.ts';
import type { RawMessage } from './raw-client.ts';
import { endlessTool } from './test-tools.ts';

const program = join(import.meta.dirname, '../../../packages/gateway/bin/sallyport.mjs');

/** `sallyport mcp`, spoken to line by line. */
class Bridge {
  readonly child: ChildProcess;
  readonly lines: string[] = [];
  stderr = '';
  #rest = '';

  constructor(t: TestContext, place: Place, token: string, args: readonly string[] = []) {
    this.child = spawn(process.execPath, [program, 'mcp', ...args], {
      env: environmentOf(place, { SALLYPORT_TOKEN: token }),
      cwd: place.folder,
    });
    this.child.stdout?.on('data', (data: Buffer) => {
      const lines = (this.#rest + data.toString()).split('\n');
      this.#rest = lines.pop() ?? '';
      this.lines.push(...lines);
    });
    this.child.stderr?.on('data', (data: Buffer) => (this.stderr += data.toString()));
    t.after(() => this.child.kill('SIGKILL'));
  }

  send(message: object | string): void {
    this.child.stdin?.write(`${typeof message === 'string' ? message : JSON.stringify(message)}\n`);
  }

  async answer(id: number | string | null): Promise<RawMessage> {
    return this.find((message) => message.id === id);
  }

  async find(fits: (message: RawMessage) => boolean): Promise<RawMessage> {
    for (;;) {
      const found = this.lines.map((line) => JSON.parse(line) as RawMessage).find(fits);
      if (found !== undefined) return found;
      if (this.child.exitCode !== null) assert.fail(`the bridge ended: ${this.stderr}`);
      await setTimeout(20);
    }
  }

  async begin(): Promise<void> {
    this.send(initialize);
    await this.answer(0);
    this.send({ jsonrpc: '2.0', method: 'notifications/initialized' });
  }

  async end(): Promise<number | null> {
    const ended = once(this.child, 'exit');
    this.child.stdin?.end();
    await ended;
    return this.child.exitCode;
  }
}

const call = (id: number, name: string, args: object): object => ({
  jsonrpc: '2.0',
  id,
  method: 'tools/call',
  params: { name, arguments: args },
});

let daemon: TestDaemon;
before(async () => {
  daemon = await TestDaemon.start();
});
after(() => daemon.remove());

async function startDaemon(t: TestContext, place: Place): Promise<TestDaemon> {
  const started = await TestDaemon.start(place);
  t.after(() => started.remove());
  return started;
}

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
  bridge.send(call(1, 'files_read', { path: 'a.txt' }));
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

for (const kind of peerKinds) {
  test(`${kind} goes on over a restart of the daemon`, async (t) => {
    const first = await TestDaemon.start();
    const { place } = first;
    const token = await first.newAgent('ada');
    writeFileSync(join(place.workspace, 'a.txt'), 'one');
    let changes = 0;
    const peer = await connectPeer(t, kind, { place, token }, { onToolsChanged: () => void changes++ });
    assert.match(textOf(await peer.call('files_read', { path: 'a.txt' })), /one/);
    await first.kill('SIGTERM');
    const meanwhile = peer.call('files_list', { path: '.' });
    const second = await startDaemon(t, place);
    assert.notEqual((await meanwhile).isError, true);
    assert.match(textOf(await peer.call('files_read', { path: 'a.txt' })), /one/);
    while (changes === 0) await setTimeout(20);
    assert.equal(second.process.exitCode, null);
  });
}

test('a call that the daemon held when it was killed is answered with an error, and not made twice', async (t) => {
  const first = await TestDaemon.start();
  const { place } = first;
  const token = await first.newAgent('ada');
  writeFileSync(join(place.workspace, 'a.txt'), 'one');
  const bridge = new Bridge(t, place, token);
  await bridge.begin();
  bridge.send(call(1, 'files_delete', { path: 'a.txt' }));
  const pending = async (): Promise<unknown> =>
    (await first.post('sallyport.v1.ApprovalService/ListApprovals', { status: 'pending' })).json;
  while (!JSON.stringify(await pending()).includes('files.delete')) await setTimeout(20);
  await first.kill('SIGKILL');
  assert.match((await bridge.answer(1)).error?.message ?? '', /ended before it answered/);
  const second = await startDaemon(t, place);
  bridge.send(call(2, 'files_read', { path: 'a.txt' }));
  assert.notEqual((await bridge.answer(2)).result?.['isError'], true);
  const records = (await second.records()).filter(({ payload }) => payload['tool'] === 'files.delete');
  assert.ok(records.length <= 1, JSON.stringify(records));
});

test('what the client cancels, and what it leaves behind, is cancelled in the tool', async (t) => {
  const [first, second] = [endlessTool('test.first'), endlessTool('test.second')];
  const door = await openTestDoor(t, { tools: [first.tool, second.tool] });
  const bridge = new Bridge(t, door.place, door.setSession());
  await bridge.begin();
  bridge.send(call(1, 'test_first', {}));
  await first.begun;
  bridge.send({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } });
  await first.cancelled;
  bridge.send(call(2, 'test_second', {}));
  await second.begun;
  assert.equal(await bridge.end(), 0);
  await second.cancelled;
  assert.ok(
    !bridge.lines.some((line) => (JSON.parse(line) as RawMessage).id === 1),
    'a cancelled request has no answer',
  );
});
