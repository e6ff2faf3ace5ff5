import assert from 'node:assert/strict';
import { test } from 'node:test';
import { renderRecord } from './audit-tail.ts';

const terminal = { columns: 80, paint: (_tone: string, text: string) => text };
const nowMs = new Date(2026, 2, 1, 20).getTime();
const timeMs = String(new Date(2026, 2, 1, 14, 5, 9).getTime());
const recordOf = (kind: string, result: string, payload?: object) => ({
  ...{ index: '7', leafHash: '', callId: '', sessionId: '', rulesHash: '' },
  kind,
  result,
  timeMs,
  payloadJson: payload === undefined ? '' : JSON.stringify(payload),
});
const render = (kind: string, result: string, payload?: object): string =>
  renderRecord(recordOf(kind, result, payload), terminal, nowMs);

test('a record is one line: when, how it went, which tool, whose call, why, how long', () => {
  const call = { tool: 'files.read', agent: 'scout' };
  assert.equal(
    render('outcome', 'ok', { ...call, summary: 'read 12 bytes', duration_ms: 3 }),
    '14:05:09  ok       files.read        scout     read 12 bytes  3 ms',
  );
  assert.match(render('intent', 'none', call), / begins {3}files\.read/);
  assert.match(
    render('refusal', 'denied', { ...call, refusal: { code: 'RULE_DENIES', rule_id: 'no-secrets' } }),
    / denied {3}files\.read {8}scout {5}RULE_DENIES no-secrets$/,
  );
  assert.match(
    render('outcome', 'error', { ...call, error: { code: 'NOT_FOUND', message: 'gone' } }),
    /NOT_FOUND: gone$/,
  );
  assert.match(render('outcome', 'unknown', { summary: 'cut off' }), / unknown {2}-/);
});

test('the date is shown unless it is today, and in full where the line may be long', () => {
  const record = recordOf('outcome', 'ok', { tool: 't' });
  const aDayMs = 86_400_000;
  assert.match(renderRecord(record, terminal, nowMs + aDayMs), /^03-01 14:05 {2}ok/);
  assert.match(renderRecord(record, { ...terminal, columns: Infinity }, nowMs), /^2026-03-01 14:05:09 {2}ok/);
});

test('a record without its payload is said to be erased', () => {
  assert.match(render('outcome', 'ok'), /\(erased\)$/);
});

test('names chosen by callers cannot write to the terminal, and a long line is cut to fit', () => {
  const line = render('refusal', 'denied', { tool: '\u001b[2Jx\ny', agent: 'a', refusal: { code: 'X'.repeat(200) } });
  assert.ok(!line.includes('\u001b') && !line.includes('\n'));
  const long = render('outcome', 'ok', { tool: 't', agent: 'a', summary: 's'.repeat(200), duration_ms: 12 });
  assert.equal(long.length, 80);
  assert.match(long, /s… {2}12 ms$/, 'the duration is kept');
});
