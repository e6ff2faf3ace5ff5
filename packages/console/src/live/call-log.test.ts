import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { reportStages } from '../calls/stages.ts';
import type { AuditRecord } from '../daemon/messages.ts';
import { CallLog, mostKept } from './call-log.ts';

const record = (index: number, fields: object, payload: object = {}) =>
  recordOf({ index: String(index), timeMs: String(1000 + index), payloadJson: JSON.stringify(payload), ...fields });

const recordOf = (fields: Partial<AuditRecord>) => ({ callId: '', kind: '', result: '', ...fields }) as AuditRecord;

const intent = (index: number, callId: string) =>
  record(index, { kind: 'intent', result: 'none', callId }, { tool: 'files.read', agent: 'coder', principal: 'agent' });
const outcome = (index: number, callId: string) =>
  record(index, { kind: 'outcome', result: 'ok', callId }, { summary: '3 bytes read', duration_ms: 7 });
const refusal = (index: number, callId: string, stage: string, code: string) =>
  record(
    index,
    { kind: 'refusal', result: 'denied', callId },
    { tool: 'files.read', refusal: { stage, code, message: 'no' } },
  );

describe('the log of calls', () => {
  it('puts a call together from its records, as they come', () => {
    const log = new CallLog();
    log.add([intent(0, 'a')]);
    assert.equal(log.view.get().calls[0]?.outcome, 'running');
    log.add([outcome(1, 'a')]);
    const [call] = log.view.get().calls;
    assert.deepEqual(
      [call?.outcome, call?.tool, call?.agent, call?.summary, call?.durationMs],
      ['ok', 'files.read', 'coder', '3 bytes read', 7],
    );
  });

  it('ends a request that nobody decided in time, also when the rest of it is older than the page', () => {
    const expired = (index: number) =>
      record(
        index,
        { kind: 'event', result: 'denied', callId: 'a' },
        { event: 'approval_expired', tool: 'files.read' },
      );
    for (const records of [[refusal(0, 'a', 'seek-approval', 'APPROVAL_REQUIRED'), expired(1)], [expired(1)]]) {
      const log = new CallLog();
      log.add(records);
      const [call] = log.view.get().calls;
      assert.deepEqual([call?.outcome, call?.summary], ['denied', 'Nobody decided in time.']);
    }
  });

  it('goes on after the last record, and takes none twice', () => {
    const log = new CallLog();
    log.add([intent(5, 'a'), outcome(6, 'a')]);
    assert.equal(log.next, 7);
    log.add([outcome(6, 'a'), intent(7, 'b')]);
    assert.deepEqual(
      log.view.get().records.map(({ index }) => index),
      ['5', '6', '7'],
    );
  });

  it('forgets the oldest, and calls of which nothing is left', () => {
    const log = new CallLog();
    for (let at = 0; at < mostKept + 10; at++) log.add([refusal(at, `call-${at}`, 'judge-call', 'RULE_DENIES')]);
    assert.equal(log.view.get().records.length, mostKept);
    assert.equal(log.view.get().calls.length, mostKept);
    assert.equal(log.view.get().calls.at(-1)?.id, 'call-10');
  });

  it('tells a call that waits for a person from one that was denied', () => {
    const log = new CallLog();
    log.add([
      refusal(0, 'a', 'seek-approval', 'APPROVAL_REQUIRED'),
      refusal(1, 'b', 'seek-approval', 'APPROVAL_DENIED'),
    ]);
    assert.deepEqual(
      log.view.get().calls.map((call) => call.outcome),
      ['denied', 'waiting'],
    );
  });

  it('survives a record whose payload is erased or no object', () => {
    const log = new CallLog();
    log.add([
      recordOf({ index: '1', kind: 'outcome', result: 'ok', callId: 'a', payloadJson: '' }),
      recordOf({ index: '2', kind: 'event', payloadJson: 'null' }),
    ]);
    assert.equal(log.view.get().calls[0]?.summary, '(erased)');
  });
});

describe('the gates of a call', () => {
  it('are passed up to the one that refused, and not reached after it', () => {
    const log = new CallLog();
    log.add([refusal(0, 'a', 'judge-call', 'RULE_DENIES')]);
    const [call] = log.view.get().calls;
    assert.ok(call);
    const verdicts = new Map(reportStages(call).map(({ name, verdict }) => [name, verdict]));
    assert.equal(verdicts.get('check-mode'), 'passed');
    assert.equal(verdicts.get('judge-call'), 'refused');
    assert.equal(verdicts.get('execute-tool'), 'not reached');
  });

  it('are all passed by a call that succeeded', () => {
    const log = new CallLog();
    log.add([intent(0, 'a'), outcome(1, 'a')]);
    const [call] = log.view.get().calls;
    assert.ok(call);
    assert.ok(reportStages(call).every(({ verdict }) => verdict === 'passed'));
  });
});
