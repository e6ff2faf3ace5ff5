import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ApprovalWatch } from '../approvals/approval-watch.ts';
import { completed, refused } from '../closers/ending.test-kit.ts';
import type { ApprovalTask } from '../call/approval.ts';
import { refuse } from '../call/refusal.ts';
import { RunningCalls } from '../calls/running-calls.ts';
import { callOf, sessionOf } from '../stages/facts.test-kit.ts';
import { awaitDecision, openSubmit } from './submit.ts';
import type { Submission, Submit } from '../call/submission.ts';
import { answerOf } from './answer-call.test-kit.ts';
import type { Call, CallFacts } from '../call/call.ts';
import { Redactor } from '../redaction/redact.ts';

const approval = { binding: '', effect: '', taskId: 't', status: 'pending' } as const;
const pending = refuse('APPROVAL_REQUIRED', 'ask', 'Ask.', { approval });

/** A gate at which one call waits until the task is approved. */
function openGate(more: { readonly whilePending?: () => void } = {}) {
  const watch = new ApprovalWatch();
  const submitted: Submission[] = [];
  let status: ApprovalTask['status'] = 'pending';
  const submitOnce: Submit = async (call) => {
    submitted.push(call);
    if (status === 'approved') return answerOf(completed(call as Partial<CallFacts>));
    more.whilePending?.();
    return answerOf(refused(pending, 'seek-approval', call as Partial<CallFacts>));
  };
  const store = { findApproval: () => Promise.resolve({ id: 't', status } as ApprovalTask) };
  const decide = (): void => {
    status = 'approved';
    watch.tell({ kind: 'decided', task: { id: 't', status } as ApprovalTask });
  };
  const running = new RunningCalls(() => 'NORMAL');
  return { submit: awaitDecision(submitOnce, { watch, store, running }), submitted, decide, watch, running };
}

const { callId: _callId, startedAtMs: _startedAtMs, ...call } = callOf();

test('who does not wait gets the ticket at once', async () => {
  const { submit, submitted } = openGate();
  assert.equal((await submit(call)).ended, 'refused');
  assert.equal(submitted.length, 1);
});

test('who waits is submitted again once it is decided, naming the task', async () => {
  const { submit, submitted, decide, watch } = openGate();
  const waiting = submit({ ...call, parsedInput: {}, waitMs: 60_000 });
  await new Promise((resolve) => setImmediate(resolve));
  watch.tell({ kind: 'decided', task: { id: 'another' } as ApprovalTask });
  watch.tell({ kind: 'reminder', task: { id: 't' } as ApprovalTask });
  assert.equal(submitted.length, 1);
  decide();
  assert.equal((await waiting).ended, 'completed');
  assert.deepEqual(
    submitted.map(({ approvalTaskId }) => approvalTaskId),
    [undefined, 't'],
  );
  // The first run may have changed the value, such as by adding defaults.
  assert.deepEqual(
    submitted.map(({ parsedInput }) => parsedInput),
    [{}, undefined],
  );
});

test('who ends the session or cancels the call ends the wait, and it is submitted once more to be on record', async () => {
  for (const end of ['session', 'call', 'daemon'] as const) {
    const { submit, submitted, running } = openGate();
    const waiting = submit({ ...call, ...{ callId: 'c', session: sessionOf({ id: 's' }) }, waitMs: 60_000 });
    await new Promise((resolve) => setImmediate(resolve));
    assert.deepEqual(
      running.list().map(({ callId, state }) => [callId, state]),
      [['c', 'waiting']],
    );
    if (end === 'session') running.endSession('s', 'olga');
    else if (end === 'call') running.cancel('c', 'olga');
    else await running.stop('olga', { finishMs: 1, endMs: 60_000 });
    assert.equal((await waiting).ended, 'refused');
    assert.deepEqual(
      submitted.map(({ signal }) => signal.aborted),
      // After a stop the ticket is still good.
      end === 'daemon' ? [false] : [false, true],
    );
    assert.deepEqual(running.list(), []);
  }
});

test('a decision that came before the wait began is not missed', async () => {
  const gate: ReturnType<typeof openGate> = openGate({ whilePending: () => gate.decide() });
  assert.equal((await gate.submit({ ...call, waitMs: 60_000 })).ended, 'completed');
});

test('the wait ends with its time, and when the caller goes away', async () => {
  const { submit } = openGate();
  assert.equal((await submit({ ...call, waitMs: 5 })).ended, 'refused');
  const leaving = new AbortController();
  const waiting = submit({ ...call, waitMs: 60_000, signal: leaving.signal });
  await new Promise((resolve) => setImmediate(resolve));
  leaving.abort();
  assert.equal((await waiting).ended, 'refused');
});

test('what changed before a call was admitted is looked at once more, with the arguments as they were sent', async () => {
  const stale = refuse('STANDING_CHANGED', 'standing', 'The mode changed.');
  for (const [endings, ended, times] of [
    [[refused(stale, 'admit-call', {}), completed()], 'completed', 2],
    [[refused(stale, 'admit-call', {}), refused(stale, 'admit-call', {})], 'refused', 2],
    // Here it was charged, and its caller decides.
    [[refused(stale, 'confirm-standing', {}), completed()], 'refused', 1],
    [[refused(refuse('MODE_FORBIDS', 'mode', 'No.'), 'check-mode', {}), completed()], 'refused', 1],
  ] as const) {
    const seen: unknown[] = [];
    const gateway = {
      run: (each: Call) => {
        seen.push(each.parsedInput);
        return Promise.resolve(endings[seen.length - 1] ?? assert.fail('a third time'));
      },
    };
    const running = new RunningCalls(() => 'NORMAL');
    const parts = { gateway, running, redactor: new Redactor(), watch: new ApprovalWatch(), store: {}, rehearsal: {} };
    const { submit } = openSubmit(parts as unknown as Parameters<typeof openSubmit>[0]);
    assert.equal((await submit({ ...call, parsedInput: {} })).ended, ended);
    assert.deepEqual(seen, times === 1 ? [{}] : [{}, undefined]);
    assert.deepEqual(running.list(), []);
  }
});
