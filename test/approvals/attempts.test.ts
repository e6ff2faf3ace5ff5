import assert from 'node:assert/strict';
import { appendFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import type { Answer } from '../harness/daemon.ts';
import { newPlace, TestDaemon } from '../harness/daemon.ts';
import { ownRules } from '../harness/own-rules.ts';
import { requirement } from '../requirement.ts';
import { ApprovalDesk, inTrace, listWorkspace, outputOf, postJson, writeWorkspaceFile } from './approval-desk.ts';

// Ways around a decision that need more than another argument: what the decision was made under has changed.

let daemon: TestDaemon;
let desk: ApprovalDesk;
let token: string;
let sessionId: string;

before(async () => {
  daemon = await TestDaemon.start(ownRules(newPlace(), {}));
  desk = new ApprovalDesk(daemon);
  const created = outputOf(await daemon.call('sessions.create', { agent: 'ada' }));
  [token, sessionId] = [String(created['token']), String(created['sessionId'])];
});
after(() => daemon.remove());

const codeOf = ({ denied }: Answer) => denied?.rationaleCode;
const remove = (path: string, more: object = {}) => daemon.call('files.delete', { path }, { token, ...more });

/** The call of a person who looks at its effect and confirms it. */
async function confirmed(tool: string, input: object): Promise<void> {
  const asked = await daemon.call(tool, input);
  const confirmBinding = asked.denied?.approval?.binding;
  outputOf(confirmBinding === undefined ? asked : await daemon.call(tool, input, { confirmBinding }));
}

async function approveRemoval(name: string): Promise<string> {
  writeWorkspaceFile(daemon, name);
  const { taskId } = ApprovalDesk.ticketOf(await remove(name));
  await desk.approve(taskId);
  return taskId;
}

test('approved, then the mode changes: the decision was for another one', async () => {
  requirement('APPR-6');
  const taskId = await approveRemoval('a.txt');
  await confirmed('mode.set', { mode: 'ALERT', cause: 'a test' });
  assert.equal(codeOf(await remove('a.txt', { approvalTaskId: taskId })), 'APPROVAL_MISMATCH');
  assert.equal(codeOf(await remove('a.txt')), 'APPROVAL_REQUIRED');
  await confirmed('mode.set', { mode: 'NORMAL', cause: 'the end of it' });
  assert.ok(listWorkspace(daemon).includes('a.txt'));
});

test('approved, then the rules change: the decision was under others', async () => {
  requirement('APPR-6');
  const taskId = await approveRemoval('b.txt');
  appendFileSync(join(daemon.place.home, 'governance', 'tools.yaml'), '\n# Another set of rules.\n');
  outputOf(await remove('b.txt', { approvalTaskId: taskId }));
  const next = await approveRemoval('b.txt');
  await confirmed('policy.apply', {});
  assert.equal(codeOf(await remove('b.txt', { approvalTaskId: next })), 'APPROVAL_MISMATCH');
  assert.ok(listWorkspace(daemon).includes('b.txt'), 'an edited file alone changes nothing; applying it does');
});

test('approved with its difference shown, then the file is edited: a person is asked about the new difference', async () => {
  requirement('APPR-6');
  const file = join(daemon.place.workspace, '.envrc');
  writeFileSync(file, 'A=1\nB=2\n');
  const edit = (more: object = {}) =>
    daemon.call('files.edit', { path: '.envrc', old_content: 'A=1', new_content: 'A=3' }, { token, ...more });
  const { taskId } = ApprovalDesk.ticketOf(await edit());
  assert.match((await desk.show(taskId)).effect ?? '', /^-A=1\n\+A=3\n B=2/m);
  await desk.approve(taskId);
  writeFileSync(file, 'A=1\nB=evil\n');
  assert.equal(codeOf(await edit({ approvalTaskId: taskId })), 'APPROVAL_MISMATCH');
  const again = ApprovalDesk.ticketOf(await edit());
  assert.notEqual(again.taskId, taskId);
  assert.match((await desk.show(again.taskId)).effect ?? '', /B=evil/);
  assert.equal(readFileSync(file, 'utf8'), 'A=1\nB=evil\n');
  await desk.approve(again.taskId);
  outputOf(await edit({ approvalTaskId: again.taskId }));
});

test('a token for one tool is worth nothing for another, whatever its arguments', async () => {
  requirement('APPR-7');
  writeWorkspaceFile(daemon, 'c.txt');
  mkdirSync(join(daemon.place.workspace, 'target'));
  const traceId = '5a'.repeat(16);
  const calls = [{ tool: 'files.delete', arguments: { path: 'c.txt' } }];
  const input = { session_id: sessionId, trace_id: traceId, calls };
  const { denied } = await daemon.call('confirm.issue', input);
  const confirmBinding = denied?.approval?.binding;
  const { confirmToken } = outputOf(await daemon.call('confirm.issue', input, { confirmBinding }));
  const { hostname: host, port } = new URL(daemon.address);
  const send = async (name: string, args: object): Promise<Answer> => {
    const body = { name, inputJson: JSON.stringify(args), confirmToken };
    const { json } = await postJson(
      { host, port },
      'sallyport.v1.ToolService/ExecuteTool',
      body,
      token,
      inTrace(traceId),
    );
    return json as unknown as Answer;
  };
  const moved = await send('files.move_glob', { from: '.', patterns: ['c.txt'], to: 'target' });
  assert.equal(codeOf(moved), 'CONFIRM_TOKEN_SCOPE');
  assert.equal(codeOf(await send('files.read', { path: 'c.txt' })), 'CONFIRM_TOKEN_SCOPE');
  outputOf(await send('files.delete', { path: 'c.txt' }));
});

test('a call that was approved meets every gate again: what was taken from its session meanwhile stays taken', async () => {
  requirement('APPR-6', 'PIPE-3');
  const taskId = await approveRemoval('d.txt');
  await confirmed('leases.grant', { session_id: sessionId, tools: ['files.read'] });
  assert.equal(codeOf(await remove('d.txt', { approvalTaskId: taskId })), 'OUTSIDE_LEASE');
  assert.ok(listWorkspace(daemon).includes('d.txt'));
});

test('neither another agent, nor the one that asked, decides with what it has', async () => {
  requirement('APPR-3');
  const asking = await daemon.newAgent('eve');
  const { taskId } = ApprovalDesk.ticketOf(await daemon.call('files.delete', { path: 'd.txt' }, { token: asking }));
  const { effectSha256 } = await desk.show(taskId);
  const { hostname: host, port } = new URL(daemon.address);
  const body = { id: taskId, approved: true, effectSha256 };
  for (const credential of [asking, await daemon.newAgent('mallory')]) {
    const { status } = await postJson({ host, port }, 'sallyport.v1.ApprovalService/DecideApproval', body, credential);
    assert.equal(status, 403);
  }
  assert.equal((await desk.show(taskId)).status, 'pending');
});
