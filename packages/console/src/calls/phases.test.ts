import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { AuditRecord } from '../daemon/messages.ts';
import { addRecord } from '../live/call.ts';
import type { Call } from '../live/call.ts';
import { phaseBars, slowStages, storyBars } from './phases.ts';
import { groupStories } from './story.ts';

function callOf(id: string, ...records: readonly (readonly [kind: string, timeMs: number, payload: object])[]): Call {
  return records
    .map(([kind, timeMs, payload], at) => {
      const result = kind === 'intent' ? 'none' : kind === 'refusal' ? 'pending' : 'ok';
      const written = { index: String(at), timeMs: String(timeMs), payloadJson: JSON.stringify(payload) };
      return { callId: id, kind, result, ...written } as AuditRecord;
    })
    .reduce<Call | undefined>((call, record) => addRecord(call, record), undefined) as Call;
}

const names = (bars: readonly { readonly name: string; readonly fromMs: number; readonly ms: number }[]) =>
  bars.map(({ name, fromMs, ms }) => `${name} ${fromMs}+${ms}`);
const intent = ['intent', 1010, { tool: 'files.write', agent: 'ada', principal: 'agent' }] as const;

describe('where the time went', () => {
  it('is told by the record, each part after the one before', () => {
    const phases = { gates: 500, log: 1500, tool: 8000, result: 250, slow: { 'admit-call': 1400 } };
    const call = callOf('a', intent, ['outcome', 1012, { phases_us: phases, duration_ms: 10, started_at_ms: 1009 }]);
    const bars = ['Gates 0+0.5', 'Intent written to the log 0.5+1.5', 'The tool 2+8', 'Result checked 10+0.25'];
    assert.deepEqual(names(phaseBars(call)), bars);
    assert.deepEqual(slowStages(call), [['admit-call', 1.4]]);
  });

  it('is roughly known of older records, and not at all of what did not run', () => {
    const older = callOf('a', intent, ['outcome', 1020, { duration_ms: 20, started_at_ms: 1000 }]);
    assert.deepEqual(names(phaseBars(older)), ['Gates 0+10', 'The log, and the tool 10+10']);
    assert.deepEqual([phaseBars(callOf('b', intent)), slowStages(older)], [[], []]);
  });

  it('counts the person and the agent between the question and the run', () => {
    const who = { tool: 'files.write', agent: 'ada', principal: 'agent' };
    const refusal = { code: 'APPROVAL_REQUIRED', task: 't' };
    const asked = callOf('a', ['refusal', 1000, { ...who, refusal }]);
    const consent = { by: 'mara', how: 'approved', at_ms: 41_000, task: 't' };
    const ran = callOf(
      'b',
      ['intent', 43_001, { ...who, consent }],
      ['outcome', 43_010, { duration_ms: 10, started_at_ms: 43_000 }],
    );
    const [story] = groupStories([asked, ran]);
    assert.ok(story);
    assert.deepEqual(names(storyBars(story)), [
      'Waited for a person 0+40000',
      'Agent came back 40000+2000',
      'The call 42000+10',
    ]);
    const [simple] = groupStories([callOf('c', intent)]);
    assert.ok(simple);
    assert.deepEqual(storyBars(simple), []);
  });
});
