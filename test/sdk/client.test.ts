import assert from 'node:assert/strict';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { createClient, ToolDenied, ToolFailed } from '@sallyport/sdk/client';
import type { CallProgress, Client, ClientOptions } from '@sallyport/sdk/client';
import { ApprovalDesk } from '../approvals/approval-desk.ts';
import { newPlace, TestDaemon } from '../harness/daemon.ts';
import { liftLimits } from '../harness/lift-limits.ts';
import { requirement } from '../requirement.ts';

let daemon: TestDaemon;
let token: string;
const clients: Client[] = [];

before(async () => {
  // The same call over and over is what some of these tests are about.
  daemon = await TestDaemon.start(liftLimits(newPlace()));
  token = await daemon.newAgent('client');
  writeFileSync(join(daemon.place.workspace, 'notes.md'), 'remember the milk\n');
});
after(async () => {
  for (const client of clients) client.close();
  await daemon.remove();
});

function connect(options: ClientOptions = {}): Client {
  const client = createClient({ address: daemon.address, token, ...options });
  clients.push(client);
  return client;
}

test('tools are listed, described and called over TCP, a unix socket and fetch', async () => {
  const socketClient = createClient({ token, socketPath: join(daemon.place.home, 'run/agent/sallyport.sock') });
  clients.push(socketClient);
  for (const client of [connect(), socketClient, connect({ fetch })]) {
    const names = (await client.listTools()).map(({ name }) => name);
    assert.ok(names.includes('files.read') && names.includes('content.get'), names.join());
    const files = await client.listTools({ category: 'files' });
    assert.ok(files.every(({ category }) => category === 'files') && files.length < names.length);
    const tool = await client.getToolSchema('read_file');
    assert.deepEqual([tool.name, tool.risk, tool.mutates], ['files.read', 'low', false]);
    assert.deepEqual((JSON.parse(tool.inputSchemaJson) as { required: string[] }).required, ['path']);
    const output = await client.callTool<{ content: string }>('files.read', { path: 'notes.md' });
    assert.equal(output.content, 'remember the milk\n');
  }
});

test('a result carries what the gate knows about the call, and the log has what the caller said about it', async () => {
  const result = await connect().tryCallTool(
    'files.read',
    { path: 'notes.md' },
    { requestId: 'r-1', taskId: 't-1', correlationId: 'c-1', timeoutMs: 4000 },
  );
  assert.equal(result.status, 'success');
  assert.deepEqual([result.requestId, result.tool, result.warnings], ['r-1', 'files.read', []]);
  assert.match(result.callId, /^[0-9a-f-]{36}$/);
  assert.match(result.traceId, /^[0-9a-f]{32}$/);
  assert.equal(typeof result.durationMs, 'number');
  assert.equal(result.usage?.bytesRead, 18);
  const [record] = (await daemon.records()).filter(({ callId }) => callId === result.callId);
  assert.deepEqual([record?.payload['task_id'], record?.payload['correlation_id']], ['t-1', 'c-1']);
});

test('a denial says which rule, why and what to do; callTool throws it', async () => {
  const client = connect();
  const denied = await client.tryCallTool('files.read', { path: '/etc/passwd' });
  assert.equal(denied.status, 'denied');
  assert.equal(denied.code, 'NO_RULE_ALLOWS');
  assert.ok(denied.rule && denied.message && denied.remedy);
  await assert.rejects(client.callTool('files.read', { path: '/etc/passwd' }), (error) => {
    assert.ok(error instanceof ToolDenied);
    assert.equal(error.code, 'NO_RULE_ALLOWS');
    assert.ok(error.message.startsWith('files.read: ') && error.message.includes('give them call'));
    return true;
  });
  const invalid = await client.tryCallTool('files.read', { path: 1, limitt: 2 });
  assert.equal(invalid.status, 'denied');
  assert.deepEqual(invalid.violations.map(({ field }) => field).sort(), ['limitt', 'path']);
  const unknown = await client.tryCallTool('files.reed');
  assert.deepEqual([unknown.status, unknown.tool], ['denied', 'files.reed']);
});

test('a call that a person must agree to is pending, and nothing has run', async () => {
  const client = connect();
  const pending = await client.tryCallTool('files.delete', { path: 'notes.md' });
  assert.equal(pending.status, 'pending_approval');
  assert.equal(pending.code, 'APPROVAL_REQUIRED');
  await assert.rejects(client.callTool('files.delete', { path: 'notes.md' }), (error) => {
    return error instanceof ToolDenied && error.result.status === 'pending_approval';
  });
  assert.equal((await client.tryCallTool('files.read', { path: 'notes.md' })).status, 'success');
});

test('a call waits for a person, says where they decide, and runs when they have agreed', async () => {
  requirement('BIN-5');
  const client = connect();
  const desk = new ApprovalDesk(daemon);
  const file = join(daemon.place.workspace, 'old.md');
  writeFileSync(file, 'to go');
  const links: string[] = [];
  const onPending = ({ taskId, link }: { taskId: string; link: string }): void => {
    links.push(link);
    void desk.approve(taskId);
  };
  await client.callTool('files.delete', { path: 'old.md' }, { waitMs: 60_000, onPending });
  assert.equal(existsSync(file), false);
  assert.equal(links.length, 1);
  assert.match(links[0] ?? '', /^http:.*\/approvals\//);
});

test('a pending call is made again under its task, once a person has agreed', async () => {
  requirement('BIN-5');
  const client = connect();
  const desk = new ApprovalDesk(daemon);
  writeFileSync(join(daemon.place.workspace, 'older.md'), 'to go');
  const pending = await client.tryCallTool('files.delete', { path: 'older.md' });
  assert.equal(pending.status, 'pending_approval');
  const { taskId: approvalTaskId, status, expiresAt } = pending.approval ?? assert.fail();
  assert.equal(status, 'pending');
  assert.ok((expiresAt?.getTime() ?? 0) > Date.now());
  await desk.approve(approvalTaskId);
  const done = await client.tryCallTool('files.delete', { path: 'older.md' }, { approvalTaskId });
  assert.equal(done.status, 'success');
  const again = await client.tryCallTool('files.delete', { path: 'older.md' }, { approvalTaskId });
  assert.equal(again.status, 'denied', 'one decision is one run');
});

test('a failure of the tool has its code and says whether trying again makes sense', async () => {
  const client = connect();
  const failed = await client.tryCallTool('files.read', { path: 'nowhere.md' });
  assert.equal(failed.status, 'error');
  assert.deepEqual([failed.code, failed.retryable, failed.category], ['NOT_FOUND', false, 'execution_error']);
  await assert.rejects(client.callTool('files.read', { path: 'nowhere.md' }), (error) => {
    return error instanceof ToolFailed && error.code === 'NOT_FOUND' && error.result.tool === 'files.read';
  });
});

test('the same dedupe key runs once', async () => {
  const client = connect();
  const write = (content: string) =>
    client.tryCallTool('files.write', { path: 'once.txt', content }, { dedupeKey: 'k' });
  const first = await write('one');
  const second = await write('one');
  assert.equal(first.status, 'success');
  assert.deepEqual(second.status === 'success' && second.output, first.output);
  const other = await write('two');
  assert.equal(other.status === 'denied' && other.code, 'DEDUPE_CONFLICT');
});

test('with progress asked for, the answer is the same, and refusals of the credential too', async () => {
  for (const client of [connect(), connect({ fetch })]) {
    const heard: CallProgress[] = [];
    const options = { onProgress: (progress: CallProgress) => void heard.push(progress) };
    const output = await client.callTool<{ content: string }>('files.read', { path: 'notes.md' }, options);
    assert.equal(output.content, 'remember the milk\n');
    assert.equal((await client.tryCallTool('files.read', { path: '/etc/passwd' }, options)).status, 'denied');
  }
  await assert.rejects(connect({ token: 'sp_wrong' }).tryCallTool('files.read', {}, { onProgress: () => undefined }), {
    name: 'GateError',
    code: 'unauthenticated',
  });
});

test('an output that is too large for an answer is named by its hash, and callTool fetches it', async () => {
  const client = connect();
  const content = 'all work and no play\n'.repeat(150_000);
  writeFileSync(join(daemon.place.workspace, 'large.txt'), content);
  const stored = await client.tryCallTool('files.read', { path: 'large.txt' });
  assert.equal(stored.status, 'stored');
  assert.match(stored.hash, /^[0-9a-f]{64}$/);
  assert.ok(stored.sizeBytes > content.length);
  const output = await client.callTool<{ content: string }>('files.read', { path: 'large.txt' });
  assert.equal(output.content, content);
  await assert.rejects(client.readOutput({ hash: '00'.repeat(32) }), ToolFailed);
});

test('who is not let in, and what does not exist, is a GateError', async () => {
  const stranger = connect({ token: 'sp_wrong' });
  await assert.rejects(stranger.callTool('files.read'), { name: 'GateError', code: 'unauthenticated' });
  await assert.rejects(stranger.listTools(), { code: 'unauthenticated' });
  await assert.rejects(connect().getToolSchema('files.reed'), { code: 'not_found', message: /files\.read/ });
});

test('a gate that is not there is unreachable', async () => {
  const nobody = { token, address: 'http://127.0.0.1:9' };
  for (const client of [
    createClient(nobody),
    createClient({ ...nobody, fetch }),
    createClient({ token, socketPath: '/nowhere' }),
  ]) {
    await assert.rejects(client.callTool('files.read'), { name: 'GateError', code: 'unreachable' });
    await assert.rejects(client.callTool('files.read', {}, { onProgress: () => undefined }), { code: 'unreachable' });
  }
});

test('cancelling rejects with the reason of the signal, also while the gate is silent', async () => {
  const client = connect();
  const reason = new Error('changed my mind');
  await assert.rejects(
    client.callTool('files.read', { path: 'notes.md' }, { signal: AbortSignal.abort(reason) }),
    reason,
  );
  daemon.process.kill('SIGSTOP');
  try {
    for (const more of [{}, { onProgress: () => undefined }]) {
      const cancel = new AbortController();
      const call = client.callTool('files.read', { path: 'notes.md' }, { signal: cancel.signal, ...more });
      setImmediate(() => cancel.abort(reason));
      await assert.rejects(call, reason);
    }
  } finally {
    daemon.process.kill('SIGCONT');
  }
});

test('options that cannot work are refused at once', () => {
  assert.throws(() => createClient({ token: ' ' }), /There is no token/);
  assert.throws(() => createClient({ token, address: 'ftp://127.0.0.1' }), /http: or https:/);
  assert.throws(
    () => createClient({ token, address: daemon.address, socketPath: '/x' }),
    /either socketPath or address/,
  );
});
