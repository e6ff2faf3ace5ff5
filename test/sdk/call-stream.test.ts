import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';
import { CallStream } from '@sallyport/contract/call-stream';
import { createClient } from '@sallyport/sdk/client';
import { newPlace, TestDaemon } from '../harness/daemon.ts';
import { liftLimits } from '../harness/lift-limits.ts';

let daemon: TestDaemon;
let token: string;

before(async () => {
  daemon = await TestDaemon.start(liftLimits(newPlace()));
  token = await daemon.newAgent('streamer');
  for (let n = 0; n < 50; n++) writeFileSync(join(daemon.place.workspace, `${n}.txt`), `number ${n}`);
});
after(() => daemon.remove());

const socketPath = (): string => join(daemon.place.home, 'run/agent/sallyport.sock');
const read = (path: string, more: object = {}) => ({
  name: 'files.read',
  inputJson: JSON.stringify({ path }),
  ...more,
});

/** A stream that is open. */
async function openStream(credential = token): Promise<CallStream> {
  const stream = new CallStream({ path: socketPath() }, credential);
  for (let tries = 0; tries < 500; tries++) {
    const answer = stream.execute(read('0.txt'));
    if (answer !== undefined) {
      await answer.catch(() => undefined);
      return stream;
    }
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  throw new Error('the stream did not open');
}

test('calls side by side each get their own answer', async () => {
  const stream = await openStream();
  const answers = await Promise.all(
    Array.from({ length: 50 }, async (_, n) => stream.execute(read(`${n}.txt`, { requestId: `r${n}` }))),
  );
  for (const [n, answer] of answers.entries()) {
    assert.equal(answer?.requestId, `r${n}`);
    assert.match(answer?.success?.outputJson ?? '', new RegExp(`"number ${n}"`));
  }
  stream.close();
});

test('a refusal is the answer of its call, and the stream goes on', async () => {
  const stream = await openStream();
  const denied = await stream.execute(read('/etc/passwd'));
  assert.equal(denied?.denied?.rationaleCode, 'NO_RULE_ALLOWS');
  assert.ok((await stream.execute(read('1.txt')))?.success);
  stream.close();
});

test('the credential is looked at with each call', async () => {
  const made = await daemon.call('sessions.create', { agent: 'leaver' });
  const { sessionId, token: mine } = JSON.parse(made.success?.outputJson ?? '') as {
    sessionId: string;
    token: string;
  };
  const stream = await openStream(mine);
  assert.ok((await stream.execute(read('1.txt')))?.success);
  assert.ok((await daemon.call('sessions.end', { session_id: sessionId })).success);
  await assert.rejects(stream.execute(read('1.txt')) ?? assert.fail(), { name: 'GateError', code: 'unauthenticated' });
  stream.close();
});

test('a call that is cancelled is ended in the gate, and the others are not', async () => {
  const stream = await openStream();
  const cancel = new AbortController();
  const waiting = stream.execute(
    { name: 'files.delete', inputJson: '{"path":"2.txt"}', waitMs: 60_000, requestId: 'unwanted' },
    { signal: cancel.signal },
  );
  assert.ok((await stream.execute(read('3.txt')))?.success);
  while ((await running()).length === 0) await new Promise((resolve) => setTimeout(resolve, 10));
  cancel.abort(new Error('changed my mind'));
  await assert.rejects(waiting ?? assert.fail(), /changed my mind/);
  while ((await running()).length > 0) await new Promise((resolve) => setTimeout(resolve, 10));
  assert.ok((await stream.execute(read('3.txt')))?.success);
  stream.close();
});

async function running(): Promise<unknown[]> {
  const listed = await daemon.call('calls.list', {});
  const { calls } = JSON.parse(listed.success?.outputJson ?? '') as { calls: { tool: string }[] };
  return calls.filter(({ tool }) => tool === 'files.delete');
}

test('behind a proxy that speaks only HTTP/1.1 the calls go one by one', async (context) => {
  const paths: string[] = [];
  const proxy = createServer((incoming, outgoing) => {
    paths.push(incoming.url ?? '');
    const { headers, method = '', url: path = '' } = incoming;
    const passed = request({ socketPath: socketPath(), method, path, headers }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 0, answer.headers);
      answer.pipe(outgoing);
    });
    incoming.pipe(passed);
  });
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  context.after(() => proxy.close());
  const client = createClient({ token, address: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}` });
  for (let n = 0; n < 8; n++) assert.ok(await client.callTool('files.read', { path: `${n}.txt` }));
  assert.equal(paths.filter((path) => path.endsWith('/ExecuteTool')).length, 8);
  client.close();
  proxy.closeAllConnections();
});

test('a program that has made its calls ends, though its stream is open', async () => {
  const program = `
    import { createClient } from '@sallyport/sdk/client';
    const client = createClient({ socketPath: process.argv[1], token: process.argv[2] });
    for (let n = 0; n < 30; n++) await client.callTool('files.read', { path: n + '.txt' });
    console.log('done');`;
  const args = ['--input-type=module', '-e', program, socketPath(), token];
  const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: import.meta.dirname, timeout: 60_000 });
  assert.equal(stdout, 'done\n');
});

test('calls that a gate which dies had not answered are lost, and later ones reach the next gate', async () => {
  const client = createClient({ token, socketPath: socketPath() });
  for (let n = 0; n < 5; n++) await client.callTool('files.read', { path: `${n}.txt` });
  daemon.process.kill('SIGSTOP');
  const lost = client.callTool('files.read', { path: '6.txt' });
  await new Promise((resolve) => setTimeout(resolve, 50));
  const gone = assert.rejects(lost, { name: 'GateError', code: 'unreachable' });
  await daemon.kill('SIGKILL');
  await gone;
  daemon = await TestDaemon.start(daemon.place);
  for (let n = 0; n < 5; n++) assert.ok(await client.callTool('files.read', { path: `${n}.txt` }));
  client.close();
});
