import assert from 'node:assert/strict';
import { test } from 'node:test';
import { textWidth } from '../../terminal/text-width.ts';
import { renderRun } from './render-run.ts';
import { arrangeRun } from './run-calls.ts';
import type { RunCall } from './run-calls.ts';

const startedAtMs = new Date(2026, 2, 1, 12, 0, 0).getTime();

function call(callId: string, more: Partial<RunCall> = {}): RunCall {
  return {
    ...{ callId, parentCallId: '', step: '', traceId: 'ab'.repeat(16), sessionId: 's', tool: 'files.write' },
    ...{ agent: 'scout', startedAtMs, durationMs: 12, status: 'ok', code: '', changedPaths: [], network: [] },
    isErased: false,
    ...more,
  };
}

test('steps stand below their call, in the order in which they began', () => {
  const placed = arrangeRun([
    call('late', { startedAtMs: startedAtMs + 9 }),
    call('inner', { parentCallId: 'step', startedAtMs: startedAtMs + 3 }),
    call('step', { parentCallId: 'pipe', startedAtMs: startedAtMs + 2 }),
    call('pipe', { startedAtMs: startedAtMs + 1 }),
    call('orphan', { parentCallId: 'elsewhere', startedAtMs: startedAtMs + 4 }),
  ]);
  assert.deepEqual(
    placed.map(({ callId, depth }) => `${'-'.repeat(depth)}${callId}`),
    ['pipe', '-step', '--inner', 'orphan', 'late'],
  );
});

test('calls that claim to be steps of each other are shown once, and the rest of the run too', () => {
  const placed = arrangeRun([call('a', { parentCallId: 'b' }), call('b', { parentCallId: 'a' }), call('c')]);
  assert.deepEqual(placed.map(({ callId }) => callId).toSorted(), ['a', 'b', 'c']);
});

test('no line is longer than 80 columns, whatever callers named their tools and files', () => {
  const long = 'x'.repeat(300);
  const calls = arrangeRun([
    call('a', { tool: long, changedPaths: [long, 'b', 'c', 'd'], agent: `${long}\u001b[31m` }),
    call('b', { parentCallId: 'a', step: long, status: 'denied', code: 'APPROVAL_REQUIRED' }),
    call('c', {
      approval: { by: 'operator', how: 'approved', atMs: startedAtMs },
      network: [{ outcome: 'connected', target: `${long}:443`, times: 2 }],
    }),
  ]);
  const lines = renderRun(calls, 'c', { columns: Infinity, paint: (_, text) => text });
  for (const line of lines) assert.ok(textWidth(line) <= 80, `${textWidth(line)}: ${line}`);
  const text = lines.join('\n');
  assert.ok(!text.includes('\u001b'));
  assert.match(text, /approved by operator at 12:00:00/);
  assert.match(text, / \*files\.write +ok +12 ms/);
  assert.match(text, /denied APPROVAL_REQUIRED/);
  assert.match(text, /and 1 more/);
});
