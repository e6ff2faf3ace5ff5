import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { ApprovalDesk } from '../approvals/approval-desk.ts';
import { TestDaemon } from '../harness/daemon.ts';
import type { Answer } from '../harness/daemon.ts';
import { runSallyport } from '../harness/run-sallyport.ts';
import { requirement } from '../requirement.ts';

let daemon: TestDaemon;
let ada: string;
let bob: string;

before(async () => {
  daemon = await TestDaemon.start();
  ada = await daemon.newAgent('ada');
  bob = await daemon.newAgent('bob');
});
after(() => daemon.remove());

const at = (name: string): string => join(daemon.place.workspace, name);
const textOf = (name: string): string => readFileSync(at(name), 'utf8');

async function backToNormal(): Promise<void> {
  for (const mode of ['RECOVERY', 'NORMAL']) await daemon.call('mode.set', { mode, cause: 'the test is over' });
  assert.equal((await daemon.status())['mode'], 'NORMAL');
}

async function write(path: string, content: string, token = ada): Promise<Answer> {
  const answer = await daemon.call('files.write', { path, content }, { token });
  assert.ok(answer.success, JSON.stringify(answer));
  return answer;
}

test('an operator undoes a call of an agent at the command line, after a look at what that changes', async () => {
  writeFileSync(at('notes.md'), 'one\ntwo\n');
  const { callId } = await write('notes.md', 'one\nthree\n');
  const listed = runSallyport(daemon.place, ['undo']);
  assert.match(listed.stdout, /CALL +WHEN +AGENT +TOOL +CHANGED/);
  assert.match(listed.stdout, /ada +files\.write .*notes\.md/);

  const shown = runSallyport(daemon.place, ['undo', callId, '--dry-run']);
  assert.equal(shown.status, 0, shown.stderr);
  assert.match(shown.stdout, /-three\n +\+two/);
  assert.equal(textOf('notes.md'), 'one\nthree\n');

  const unasked = runSallyport(daemon.place, ['undo', callId]);
  assert.equal(unasked.status, 3, 'without a terminal nobody can agree');
  const short = runSallyport(daemon.place, ['undo', callId.slice(0, 18), '--yes']);
  assert.equal(short.status, 0, short.stderr);
  assert.match(short.stdout, /restored +notes\.md/);
  assert.equal(textOf('notes.md'), 'one\ntwo\n');
  const again = runSallyport(daemon.place, ['undo', callId, '--yes']);
  assert.match(again.stdout, /Nothing to undo: 1 path as before/);

  const records = await daemon.records();
  const outcome = records.findLast(({ payload, kind }) => kind === 'outcome' && payload['tool'] === 'undo.run');
  assert.equal(outcome?.result, 'ok');
  assert.ok(records.some(({ payload, kind }) => kind === 'intent' && payload['tool'] === 'undo.run'));
});

test('what something else changed since is left alone, with the difference and who it was', async () => {
  const { callId } = await write('plan.txt', 'of ada\n');
  const other = await write('plan.txt', 'of bob\n', bob);
  const byCall = runSallyport(daemon.place, ['undo', callId, '--yes']);
  assert.equal(byCall.status, 4);
  assert.match(byCall.stderr, /Not undone/);
  assert.match(byCall.stderr, new RegExp(`files\\.write of bob, call ${other.callId}`));
  assert.match(byCall.stdout, /-of bob/);

  writeFileSync(at('plan.txt'), 'of a person\n');
  const byPerson = runSallyport(daemon.place, ['undo', other.callId, '--yes']);
  assert.equal(byPerson.status, 4);
  assert.match(byPerson.stderr, /plan\.txt was changed by something else since\.\n/);
  assert.match(byPerson.stdout, /-of a person\n +\+of ada/);
  assert.equal(textOf('plan.txt'), 'of a person\n');
  const raced = await daemon.call('undo.run', { call_id: other.callId });
  const forced = await daemon.call(
    'undo.run',
    { call_id: other.callId },
    { confirmBinding: raced.denied?.approval?.binding },
  );
  assert.equal(forced.error?.code, 'FILE_CHANGED');
});

test('an agent undoes its own calls, and nobody else’s', async () => {
  writeFileSync(at('mine.txt'), 'before');
  const { callId } = await write('mine.txt', 'after');
  const ofOther = await daemon.call('files.undo', { call_id: callId }, { token: bob });
  assert.equal(ofOther.denied?.rationaleCode, 'INVALID_ARGUMENTS');
  assert.doesNotMatch(JSON.stringify(ofOther), /mine\.txt|ada/);
  const own = await daemon.call('files.undo', { call_id: callId }, { token: ada });
  assert.deepEqual(JSON.parse(own.success?.outputJson ?? '{}'), {
    undone: [{ path: 'mine.txt', what: 'restored' }],
    unchanged: [],
  });
  assert.equal(textOf('mine.txt'), 'before');
  for (const operatorTool of ['undo.run', 'undo.preview', 'undo.list']) {
    const answer = await daemon.call(operatorTool, { call_id: callId }, { token: ada });
    assert.ok(answer.denied, operatorTool);
  }
});

test('an undo needs the permission to write at the time of the undo', async () => {
  const { callId } = await write('open.txt', 'content');
  await daemon.call('mode.set', { mode: 'DEGRADED', cause: 'a test' });
  try {
    const answer = await daemon.call('files.undo', { call_id: callId }, { token: ada });
    assert.ok(answer.denied, 'the rules let nobody write in this mode');
    assert.equal(textOf('open.txt'), 'content');
  } finally {
    await backToNormal();
  }
});

test('in LOCKDOWN an operator still undoes, and an agent does not', async () => {
  const { callId } = await write('locked.txt', 'content');
  assert.ok((await daemon.call('mode.set', { mode: 'LOCKDOWN', cause: 'a test' })).success);
  try {
    const byAgent = await daemon.call('files.undo', { call_id: callId }, { token: ada });
    assert.equal(byAgent.denied?.rationaleCode, 'MODE_FORBIDS');
    const byOperator = runSallyport(daemon.place, ['undo', callId, '--yes']);
    assert.equal(byOperator.status, 0, byOperator.stderr);
    assert.match(byOperator.stdout, /removed +locked\.txt/);
    assert.ok(!existsSync(at('locked.txt')));
  } finally {
    await backToNormal();
  }
});

test('what a run of an agent did to files is taken back by governed calls, where nothing else changed them', async () => {
  requirement('EXEC-9');
  const desk = new ApprovalDesk(daemon);
  const dora = await daemon.newAgent('dora');
  const traceparent = `00-${'d0'.repeat(16)}-${'0a'.repeat(8)}-01`;
  writeFileSync(at('dora.txt'), 'before');
  writeFileSync(at('gone.txt'), 'deleted');
  const call = async (tool: string, args: object, more: object = {}): Promise<Answer> => {
    const response = await fetch(`${daemon.address}/sallyport.v1.ToolService/ExecuteTool`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${dora}`, traceparent },
      body: JSON.stringify({ name: tool, inputJson: JSON.stringify(args), ...more }),
    });
    return (await response.json()) as Answer;
  };
  const agreed = async (tool: string, args: object): Promise<{ answer: Answer; effect: string; undoable: unknown }> => {
    const { taskId } = ApprovalDesk.ticketOf(await call(tool, args));
    const shown = (await desk.show(taskId)) as unknown as { effect: string; undoable?: boolean };
    await desk.approve(taskId);
    const answer = await call(tool, args, { approvalTaskId: taskId });
    return { answer, effect: shown.effect, undoable: shown.undoable ?? false };
  };
  const first = await call('files.write', { path: 'dora.txt', content: 'after' });
  assert.ok((await call('files.write', { path: 'dora.txt', content: 'after all' })).success);
  const deleted = await agreed('files.delete', { path: 'gone.txt' });
  assert.ok(deleted.answer.success, JSON.stringify(deleted));
  assert.equal(deleted.undoable, true, 'the card promises what the journal can do');
  assert.ok(!existsSync(at('gone.txt')));

  // Others do not undo it, the first call is not undone below the second, and nothing is while nobody may write.
  assert.ok((await daemon.call('files.undo', { call_id: first.callId }, { token: bob })).denied);
  assert.equal((await call('files.undo', { call_id: first.callId })).error?.code, 'FILE_CHANGED');
  await daemon.call('mode.set', { mode: 'DEGRADED', cause: 'a test' });
  assert.ok((await call('files.undo', { call_id: deleted.answer.callId })).denied);
  await backToNormal();

  const run = runSallyport(daemon.place, ['undo', '--trace', first.traceId, '--yes']);
  assert.equal(run.status, 0, run.stderr + run.stdout);
  assert.equal(textOf('dora.txt'), 'before');
  assert.equal(textOf('gone.txt'), 'deleted');
  const records = await daemon.records();
  const undone = records.findLast(({ payload, kind }) => kind === 'outcome' && payload['tool'] === 'undo.run');
  assert.equal((undone?.payload['changes'] as unknown[] | undefined)?.length, 3);
});

test('a whole run and a whole session are undone, the newest call first', async () => {
  const carl = await daemon.newAgent('carl');
  mkdirSync(at('run'));
  writeFileSync(at('run/a.txt'), 'start');
  const first = await write('run/a.txt', 'first', carl);
  await write('run/a.txt', 'second', carl);
  await write('run/b.txt', 'new', carl);
  const undone = runSallyport(daemon.place, ['undo', '--trace', first.traceId, '--yes']);
  assert.equal(undone.status, 4, 'the other calls had traces of their own');
  const sessions = await daemon.call('sessions.list', {});
  const { sessions: all } = JSON.parse(sessions.success?.outputJson ?? '{}') as {
    sessions: { agent: string; sessionId: string }[];
  };
  const session = all.find(({ agent }) => agent === 'carl')?.sessionId ?? '';
  const whole = runSallyport(daemon.place, ['undo', '--session', session, '--yes', '--json']);
  assert.equal(whole.status, 0, whole.stderr + whole.stdout);
  assert.equal(textOf('run/a.txt'), 'start');
  assert.ok(!existsSync(at('run/b.txt')));
});
