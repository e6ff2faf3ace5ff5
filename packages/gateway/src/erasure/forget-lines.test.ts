import assert from 'node:assert/strict';
import { test } from 'node:test';
import { tellsOf } from './forget-lines.ts';

const time = '2026-03-01T12:00:00.000Z';
const atMs = Date.parse(time);
const line = (more: Record<string, unknown>): string => JSON.stringify({ time, level: 'info', event: 'e', ...more });
const rows = { callIds: ['c1'], decisionIds: [], sessionIds: ['s1'], untilMs: atMs + 1 };

test('lines of erased calls and sessions go, and those of others and of the gate stay', () => {
  const isDropped = tellsOf(rows);
  for (const gone of [{ call_id: 'c1' }, { call_id: 'c9', parent_call_id: 'c1' }, { call_id: 'c9', session_id: 's1' }])
    assert.ok(isDropped(line(gone)), JSON.stringify(gone));
  for (const left of [{ call_id: 'c9', session_id: 's9' }, { port: 4780 }, {}])
    assert.ok(!isDropped(line(left)), JSON.stringify(left));
  assert.ok(!isDropped(''));
  assert.ok(!tellsOf({ ...rows, untilMs: atMs })(line({ call_id: 'c9', session_id: 's1' })), 'what came later stays');
});

test('what is old goes by its age, unless it is about the gate itself', () => {
  const isDropped = tellsOf({ callIds: [], decisionIds: [], sessionIds: [], beforeMs: atMs + 1, untilMs: 0 });
  assert.ok(isDropped(line({ call_id: 'c9' })));
  assert.ok(!isDropped(line({ port: 4780 })));
});

test('a name that a caller chose cannot have the line of somebody else removed', () => {
  assert.ok(!tellsOf(rows)(line({ call_id: 'c9', session_id: 's9', tool: '","call_id":"c1","session_id":"s1' })));
});
