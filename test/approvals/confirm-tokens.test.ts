import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Answer } from '../harness/daemon.ts';
import { TestDaemon } from '../harness/daemon.ts';
import { requirement } from '../requirement.ts';
import { inTrace, listWorkspace, outputOf, postJson, writeWorkspaceFile } from './approval-desk.ts';

let daemon: TestDaemon;
let token: string;
let sessionId: string;
let tcp: object;
const traceId = '4bf92f3577b34da6a3ce929d0e0e4736';

before(async () => {
  daemon = await TestDaemon.start();
  const created = outputOf(await daemon.call('sessions.create', { agent: 'ada' }));
  [token, sessionId] = [String(created['token']), String(created['sessionId'])];
  const { hostname: host, port } = new URL(daemon.address);
  tcp = { host, port };
});
after(() => daemon.remove());

interface Issued {
  readonly tokenId: string;
  readonly confirmToken: string;
}

/** A person looks at what the calls would do, and agrees. */
async function issue(paths: readonly string[], more: object = {}): Promise<Issued> {
  const calls = paths.map((path) => ({ tool: 'files.delete', arguments: { path } }));
  const input = { session_id: sessionId, trace_id: traceId, calls, ...more };
  const shown = await daemon.call('confirm.issue', input);
  for (const path of paths) assert.match(shown.denied?.approval?.effect ?? '', new RegExp(`Delete ${path}`));
  const confirmBinding = shown.denied?.approval?.binding;
  return outputOf(await daemon.call('confirm.issue', input, { confirmBinding })) as unknown as Issued;
}

async function run(name: string, input: object, confirmToken: string, trace = traceId): Promise<Answer> {
  const body = { name, inputJson: JSON.stringify(input), confirmToken };
  const { json } = await postJson(tcp, 'sallyport.v1.ToolService/ExecuteTool', body, token, inTrace(trace));
  return json as unknown as Answer;
}
const remove = (path: string, confirmToken: string, trace?: string) =>
  run('files.delete', { path }, confirmToken, trace);
const withOtherEnd = (text: string) => text.slice(0, -1) + (text.endsWith('A') ? 'B' : 'A');
const codeOf = ({ denied }: Answer) => denied?.rationaleCode;

test('a token lets its call through once, in its trace, and each failure has a code of its own', async () => {
  requirement('APPR-7');
  for (const name of ['a.txt', 'b.txt']) writeWorkspaceFile(daemon, name);
  const { confirmToken } = await issue(['a.txt']);
  assert.equal(codeOf(await remove('a.txt', '')), 'APPROVAL_REQUIRED');
  assert.equal(codeOf(await remove('a.txt', 'spct1.made.up.token')), 'CONFIRM_TOKEN_INVALID');
  assert.equal(codeOf(await remove('a.txt', withOtherEnd(confirmToken))), 'CONFIRM_TOKEN_INVALID');
  assert.equal(codeOf(await remove('a.txt', confirmToken, '1'.repeat(32))), 'CONFIRM_TOKEN_TRACE');
  assert.equal(codeOf(await remove('b.txt', confirmToken)), 'CONFIRM_TOKEN_SCOPE');
  outputOf(await remove('a.txt', confirmToken));
  writeWorkspaceFile(daemon, 'a.txt');
  assert.equal(codeOf(await remove('a.txt', confirmToken)), 'CONFIRM_TOKEN_USED');
  assert.deepEqual(listWorkspace(daemon), ['a.txt', 'b.txt']);
});

test('a token expires', async () => {
  requirement('APPR-7');
  writeWorkspaceFile(daemon, 'c.txt');
  const { confirmToken } = await issue(['c.txt'], { ttl_seconds: 1 });
  await sleep(1100);
  assert.equal(codeOf(await remove('c.txt', confirmToken)), 'CONFIRM_TOKEN_EXPIRED');
});

test('a token for one session is worth nothing to another', async () => {
  requirement('APPR-7');
  writeWorkspaceFile(daemon, 'd.txt');
  const { confirmToken } = await issue(['d.txt']);
  const own = token;
  token = await daemon.newAgent('eve');
  assert.equal(codeOf(await remove('d.txt', confirmToken)), 'CONFIRM_TOKEN_TRACE');
  token = own;
});

test('nothing critical is confirmed for any number of times', async () => {
  const calls = [{ tool: 'files.delete', arguments: { path: 'd.txt' } }];
  const input = { session_id: sessionId, trace_id: traceId, calls, reusable: true };
  assert.match((await daemon.call('confirm.issue', input)).denied?.message ?? '', /critical risk is for one use/);
});

test('a token that is marked so is good for any number of uses, until it is revoked', async () => {
  requirement('APPR-7');
  mkdirSync(join(daemon.place.workspace, 'target'));
  const move = { from: '.', patterns: ['none'], to: 'target' };
  const calls = [{ tool: 'files.move_glob', arguments: move }];
  const input = { session_id: sessionId, trace_id: traceId, calls, reusable: true };
  const { denied } = await daemon.call('confirm.issue', input);
  const issued = outputOf(
    await daemon.call('confirm.issue', input, { confirmBinding: denied?.approval?.binding }),
  ) as unknown as Issued;
  const again = () => run('files.move_glob', move, issued.confirmToken);
  outputOf(await again());
  outputOf(await again());
  outputOf(await daemon.call('confirm.revoke', { token_id: issued.tokenId }));
  assert.equal(codeOf(await again()), 'CONFIRM_TOKEN_USED');
});

test('the key rotates: the one before is still accepted, also after a restart, unless all are revoked', async () => {
  requirement('APPR-7');
  for (const name of ['e.txt', 'f.txt']) writeWorkspaceFile(daemon, name);
  const [one, two] = [await issue(['e.txt']), await issue(['f.txt'], { ttl_seconds: 300 })];
  outputOf(await daemon.call('confirm.rotate_key', {}));
  await daemon.kill('SIGKILL');
  daemon = await TestDaemon.start(daemon.place);
  const { hostname: host, port } = new URL(daemon.address);
  tcp = { host, port };
  outputOf(await remove('e.txt', one.confirmToken));
  outputOf(await daemon.call('confirm.rotate_key', { revoke_all: true }));
  assert.equal(codeOf(await remove('f.txt', two.confirmToken)), 'CONFIRM_TOKEN_INVALID');
});

test('a token is for the effect that was shown when it was given', async () => {
  requirement('APPR-6');
  writeWorkspaceFile(daemon, 'shown.txt', 'shown');
  const { confirmToken } = await issue(['shown.txt']);
  writeWorkspaceFile(daemon, 'shown.txt', 'another');
  assert.equal(codeOf(await remove('shown.txt', confirmToken)), 'APPROVAL_MISMATCH');
  assert.ok(listWorkspace(daemon).includes('shown.txt'));
});
