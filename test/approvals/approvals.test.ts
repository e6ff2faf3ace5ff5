import assert from 'node:assert/strict';
import { mkdirSync, renameSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import type { Answer } from '../harness/daemon.ts';
import { TestDaemon } from '../harness/daemon.ts';
import { requirement } from '../requirement.ts';
import { ApprovalDesk, listWorkspace, outputOf, writeWorkspaceFile } from './approval-desk.ts';

let daemon: TestDaemon;
let desk: ApprovalDesk;
let token: string;

before(async () => {
  daemon = await TestDaemon.start();
  desk = new ApprovalDesk(daemon);
  token = await daemon.newAgent('ada');
});
after(() => daemon.remove());

const remove = (path: string, more: object = {}) => daemon.call('files.delete', { path }, { token, ...more });
const codeOf = ({ denied, error }: Answer) => denied?.rationaleCode ?? error?.code;

/** A call that waits, and its task. */
async function askToRemove(name: string, more: object = {}): Promise<string> {
  return ApprovalDesk.ticketOf(await remove(name, more)).taskId;
}

function newFolder(name: string, files: readonly string[]): void {
  mkdirSync(join(daemon.place.workspace, name));
  for (const file of files) writeWorkspaceFile(daemon, join(name, file));
}

test('a call that needs a person waits, is approved with its effect in view, and runs once', async () => {
  requirement('APPR-2');
  writeWorkspaceFile(daemon, 'a.txt');
  const taskId = await askToRemove('a.txt');
  const [listed] = await desk.pending();
  const { id, tool, agent, risk, effect = '' } = listed ?? assert.fail();
  assert.deepEqual([id, tool, agent, risk, effect], [taskId, 'files.delete', 'ada', 'critical', '']);
  const shown = (await desk.show(taskId)) as unknown as Record<string, string>;
  assert.match(shown['effect'] ?? '', /a\.txt/);
  assert.deepEqual(
    ['argumentsJson', 'priority', 'approverRole', 'title', 'status'].map((field) => shown[field]),
    ['{"path":"a.txt","recursive":false}', 'critical', 'director', 'Delete a.txt (1 file)', 'pending'],
  );
  assert.equal(Number(shown['expiresAtMs']) - Number(shown['createdAtMs']), 300_000);
  await desk.approve(taskId);
  assert.ok(listWorkspace(daemon).includes('a.txt'), 'a decision runs nothing by itself');
  outputOf(await remove('a.txt', { approvalTaskId: taskId }));
  assert.ok(!listWorkspace(daemon).includes('a.txt'));
  assert.equal((await desk.show(taskId)).status, 'used');
});

test('who asks to wait is answered when a person has decided', async () => {
  requirement('APPR-2');
  writeWorkspaceFile(daemon, 'b.txt');
  const [first, second] = [remove('b.txt', { waitMs: 60_000 }), remove('b.txt', { waitMs: 20 })];
  const { taskId } = ApprovalDesk.ticketOf(await second);
  await desk.approve(taskId);
  outputOf(await first);
});

test('a denial tells the agent what to change', async () => {
  requirement('APPR-10');
  writeWorkspaceFile(daemon, 'c.txt');
  const taskId = await askToRemove('c.txt');
  const { status } = await desk.decide(taskId, false, { note: 'Move it to the archive instead.' });
  assert.equal(status, 200);
  const answer = await remove('c.txt', { approvalTaskId: taskId });
  assert.equal(codeOf(answer), 'APPROVAL_DENIED');
  assert.match(answer.denied?.message ?? '', /operator decided against .*They say: Move it to the archive instead\./);
});

test('what changed after it was shown is not what was approved', async () => {
  requirement('APPR-6');
  writeWorkspaceFile(daemon, 'd.txt');
  newFolder('inbox', ['one.txt', 'two.txt']);
  newFolder('outbox', []);
  newFolder('box', ['in.txt']);
  const move = (more: object = {}) =>
    daemon.call('files.move_glob', { from: 'inbox', patterns: ['*.txt'], to: 'outbox' }, { token, ...more });
  const removeBox = (more: object = {}) =>
    daemon.call('files.delete', { path: 'box', recursive: true }, { token, ...more });
  const changes: [() => Promise<Answer>, (id: string) => Promise<Answer>, () => void][] = [
    [() => remove('d.txt'), (id) => remove('d.txt', { approvalTaskId: id }), () => writeWorkspaceFile(daemon, 'd.txt')],
    [move, (id) => move({ approvalTaskId: id }), () => writeWorkspaceFile(daemon, 'inbox/two.txt', 'other')],
    [move, (id) => move({ approvalTaskId: id }), () => writeWorkspaceFile(daemon, 'inbox/three.txt')],
    [removeBox, (id) => removeBox({ approvalTaskId: id }), () => writeWorkspaceFile(daemon, 'box/in.txt', 'other')],
  ];
  for (const [ask, again, change] of changes) {
    const { taskId } = ApprovalDesk.ticketOf(await ask());
    await desk.approve(taskId);
    change();
    assert.equal(codeOf(await again(taskId)), 'APPROVAL_MISMATCH');
  }
  assert.equal(listWorkspace(daemon, 'outbox').length, 0);
});

test('a link put in the place of what was approved leads nowhere', async () => {
  requirement('APPR-6');
  newFolder('real', ['kept.txt']);
  newFolder('decoy', ['kept.txt']);
  const taskId = await askToRemove('real/kept.txt');
  await desk.approve(taskId);
  const at = (name: string) => join(daemon.place.workspace, name);
  renameSync(at('real'), at('moved'));
  symlinkSync(at('decoy'), at('real'));
  const answer = await remove('real/kept.txt', { approvalTaskId: taskId });
  assert.ok(answer.denied, JSON.stringify(answer));
  assert.deepEqual(listWorkspace(daemon, 'decoy'), ['kept.txt']);
});

test('other arguments, another session and a used approval each get nothing; reordered arguments are the same call', async () => {
  requirement('APPR-6');
  for (const name of ['e.txt', 'f.txt']) writeWorkspaceFile(daemon, name);
  const taskId = await askToRemove('e.txt');
  await desk.approve(taskId);
  const other = await daemon.newAgent('eve');
  assert.equal(codeOf(await remove('f.txt', { approvalTaskId: taskId })), 'APPROVAL_MISMATCH');
  const stolen = await daemon.call('files.delete', { path: 'e.txt' }, { token: other, approvalTaskId: taskId });
  assert.equal(codeOf(stolen), 'APPROVAL_MISMATCH');
  const spelled = '{ "recursive": false,\n "path": "e.txt" }';
  outputOf(await daemon.call('files.delete', spelled, { token, approvalTaskId: taskId }));
  const replayed = await remove('e.txt', { approvalTaskId: taskId });
  assert.match(codeOf(replayed) ?? '', /^APPROVAL_(?:MISMATCH|USED)$/);
});

test('of a hundred who use one approval at once, one runs', async () => {
  requirement('APPR-6');
  writeWorkspaceFile(daemon, 'g.txt');
  const crowd = await daemon.newAgent('crowd');
  const ask = (more: object = {}) => daemon.call('files.delete', { path: 'g.txt' }, { token: crowd, ...more });
  const { taskId } = ApprovalDesk.ticketOf(await ask({ requestId: 'same' }));
  await desk.approve(taskId);
  const answers = await Promise.all(
    Array.from({ length: 100 }, async () => ask({ approvalTaskId: taskId, requestId: 'same' })),
  );
  assert.equal(answers.filter(({ success }) => success).length, 1);
  const records = (await daemon.records()).filter(({ payload }) => JSON.stringify(payload).includes(taskId));
  assert.equal(
    records.filter(({ kind }) => kind === 'intent').filter(({ payload }) => payload['agent'] === 'crowd').length,
    1,
  );
});

test('identical requests are one card, and each is a run of its own', async () => {
  requirement('APPR-9');
  newFolder('many', ['x.txt']);
  newFolder('target', []);
  const move = (requestId: string) =>
    daemon.call('files.move_glob', { from: 'many', patterns: ['none*'], to: 'target' }, { token, requestId });
  const [one, two] = [ApprovalDesk.ticketOf(await move('1')), ApprovalDesk.ticketOf(await move('2'))];
  assert.equal(one.taskId, two.taskId);
  assert.equal((await desk.show(one.taskId)).wanted, 2);
  await desk.approve(one.taskId);
  outputOf(await move('1'));
  outputOf(await move('2'));
  assert.equal(codeOf(await move('3')), 'APPROVAL_REQUIRED');
});

test('of two people who decide at once, one wins, and the other hears who', async () => {
  const { credential } = outputOf(await daemon.call('people.add', { name: 'olga' })) as { credential: string };
  const olga = new ApprovalDesk(daemon, credential);
  for (let round = 0; round < 5; round++) {
    const name = `race-${round}.txt`;
    writeWorkspaceFile(daemon, name);
    const taskId = await askToRemove(name);
    const replies = await Promise.all([desk.decide(taskId, true), olga.decide(taskId, false)]);
    assert.equal(replies.filter(({ status }) => status === 200).length, 1, JSON.stringify(replies));
    const lost = replies.find(({ status }) => status !== 200);
    assert.match(JSON.stringify(lost?.json), /(olga has denied|operator has approved) it already/);
    const { status, decidedBy } = await desk.show(taskId);
    assert.deepEqual([status, decidedBy], lost === replies[0] ? ['denied', 'olga'] : ['approved', 'operator']);
  }
});

test('a decision about another effect than the one that was shown decides nothing', async () => {
  requirement('APPR-2');
  writeWorkspaceFile(daemon, 'h.txt');
  const taskId = await askToRemove('h.txt');
  const unseen = await desk.send('ApprovalService/DecideApproval', {
    id: taskId,
    approved: true,
    effectSha256: '0'.repeat(64),
  });
  assert.match(JSON.stringify(unseen.json), /The effect is not the one that you saw/);
  const blind = await desk.send('ApprovalService/DecideApproval', { id: taskId, approved: true });
  assert.equal(blind.status, 400);
  assert.equal((await desk.show(taskId)).status, 'pending');
});

test('decisions are governed calls: who decided what is on record', async () => {
  requirement('APPR-4');
  writeWorkspaceFile(daemon, 'i.txt');
  const taskId = await askToRemove('i.txt');
  await desk.approve(taskId, { note: 'Fine.' });
  const decided = (await daemon.records()).find(
    ({ kind, payload }) =>
      kind === 'intent' && payload['tool'] === 'approvals.approve' && JSON.stringify(payload).includes(taskId),
  );
  assert.deepEqual([decided?.payload['agent'], decided?.payload['principal']], ['operator', 'operator']);
});

test('an approval for the session or for minutes lets calls like it run, until it is revoked', async () => {
  requirement('APPR-9');
  newFolder('pile', ['1.txt', '2.txt', '3.txt', '4.txt']);
  newFolder('sorted', []);
  const move = (name: string) =>
    daemon.call('files.move_glob', { from: 'pile', patterns: [name], to: 'sorted' }, { token });
  const { taskId } = ApprovalDesk.ticketOf(await move('1.txt'));
  const { standingId } = await desk.approve(taskId, { standing: { forSession: true } });
  outputOf(await move('1.txt'));
  outputOf(await move('2.txt'));
  const other = await daemon.newAgent('another');
  const theirs = await daemon.call(
    'files.move_glob',
    { from: 'pile', patterns: ['3.txt'], to: 'sorted' },
    { token: other },
  );
  assert.equal(codeOf(theirs), 'APPROVAL_REQUIRED');
  const listed = await desk.send('ApprovalService/ListStandingApprovals', {});
  assert.match(JSON.stringify(listed.json), new RegExp(String(standingId)));
  const revoked = await desk.send('ApprovalService/RevokeStandingApproval', { id: standingId });
  assert.deepEqual(revoked.json, { revoked: true });
  const { taskId: next } = ApprovalDesk.ticketOf(await move('3.txt'));
  await desk.approve(next, { standing: { minutes: 5, uses: 1 } });
  outputOf(await move('3.txt'));
  outputOf(await move('4.txt'));
  assert.equal(codeOf(await move('4.txt')), 'APPROVAL_REQUIRED', 'the one further use is over');
});

test('of 64 who use a standing approval of five uses at once, five run', async () => {
  requirement('APPR-9');
  const names = Array.from({ length: 65 }, (_, index) => `${index}.txt`);
  newFolder('crowd', names);
  newFolder('through', []);
  const crowd = await daemon.newAgent('standing-crowd');
  const move = (name: string) =>
    daemon.call('files.move_glob', { from: 'crowd', patterns: [name], to: 'through' }, { token: crowd });
  const { taskId } = ApprovalDesk.ticketOf(await move('64.txt'));
  await desk.approve(taskId, { standing: { minutes: 5, uses: 5 } });
  outputOf(await move('64.txt'));
  const answers = await Promise.all(names.slice(0, 64).map(move));
  assert.equal(answers.filter(({ success }) => success).length, 5);
  assert.equal(listWorkspace(daemon, 'through').length, 6);
  for (const answer of answers) {
    if (!answer.success) assert.match(codeOf(answer) ?? '', /^(?:APPROVAL_REQUIRED|APPROVAL_USED|TOO_MANY_APPROVALS)$/);
  }
});

test('nothing critical is approved beforehand', async () => {
  requirement('APPR-9');
  writeWorkspaceFile(daemon, 'j.txt');
  const taskId = await askToRemove('j.txt');
  for (const standing of [{ forSession: true }, { minutes: 5, uses: 1 }]) {
    const { status, json } = await desk.decide(taskId, true, { standing });
    assert.equal(status, 400, JSON.stringify(json));
  }
  assert.equal((await desk.show(taskId)).status, 'pending');
});

test('text that hides or turns is spelled out for the person who decides', async () => {
  const name = 'safe\u202etxt.exe';
  writeFileSync(join(daemon.place.workspace, name), '');
  const { effect = '', title } = await desk.show(await askToRemove(name));
  assert.doesNotMatch(effect + title, /\u202e/);
  assert.match(effect, /202e/);
});
