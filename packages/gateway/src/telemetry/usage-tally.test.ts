import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { RecordResult } from '@sallyport/log';
import { openTestStore } from '../stages/store.test-kit.ts';
import { UsageTally } from './usage-tally.ts';
import { ownText } from '../call/redacted.ts';

const hourMs = 3_600_000;
// In the middle of an hour, so that nothing here stands on the edge of a slot.
const nowMs = 480_000 * hourMs + hourMs / 2;

test('calls are counted by tool, slot and ending; what came since is added, what is too old is not', async (t) => {
  const store = await openTestStore(t);
  // A refusal is the ending that needs no intent; outcomes are counted as they are.
  const write = (kind: 'refusal' | 'event', result: RecordResult, agoMs: number, payload: object) =>
    store.append({ kind, result, timeMs: nowMs - agoMs, payload: ownText(JSON.stringify(payload)) });
  await write('refusal', 'ok', 30 * hourMs, { tool: 'files.read' });
  await write('refusal', 'ok', 3 * hourMs, { tool: 'files.read' });
  await write('refusal', 'denied', 20 * 60_000, { tool: 'files.delete', refusal: { code: 'APPROVAL_REQUIRED' } });
  await write('refusal', 'denied', 20 * 60_000, { tool: 'files.delete', refusal: { code: 'RULE_DENIES' } });
  await write('refusal', 'denied', 10 * 60_000, { tool: 'made.up', refusal: { code: 'UNKNOWN_TOOL' } });
  await write('event', 'denied', 5 * 60_000, { event: 'limits_ignored', agent: 'ada', tool: 'files.read' });
  await write('refusal', 'error', 0, { tool: 'files.read' });

  const tally = new UsageTally(store);
  const sums = async (hours: number) => {
    const { tools, slots, slotMs } = await tally.read(hours, nowMs);
    assert.ok(tools.every(({ succeeded }) => succeeded.length === slots));
    const sum = (counts: readonly number[]) => counts.reduce((total, count) => total + count, 0);
    const uses = tools.map(({ tool, succeeded, denied, asked, failed }) => [
      tool,
      ...[succeeded, denied, asked, failed].map(sum),
    ]);
    return { slotMs, uses: uses.toSorted(([a = ''], [b = '']) => (a < b ? -1 : 1)) };
  };
  assert.deepEqual(await sums(1), {
    slotMs: 5 * 60_000,
    uses: [
      ['files.delete', 0, 1, 1, 0],
      ['files.read', 0, 0, 0, 1],
    ],
  });
  assert.deepEqual((await sums(24)).uses[1], ['files.read', 1, 0, 0, 1]);
  await write('refusal', 'ok', 0, { tool: 'files.read' });
  const { tools, reports, fromMs, slotMs } = await tally.read(24, nowMs);
  const read = tools.find(({ tool }) => tool === 'files.read');
  assert.deepEqual([read?.succeeded.at(-1), read?.succeeded.at(-4), read?.failed.at(-1)], [1, 1, 1]);
  assert.equal(fromMs % slotMs, 0);
  assert.deepEqual(
    reports.map(({ event, agent }) => [event, agent]),
    [['limits_ignored', 'ada']],
  );
});

test('of a long log the count begins at the right record', async (t) => {
  const store = await openTestStore(t);
  const payload = ownText(JSON.stringify({ tool: 'files.read' }));
  for (let portion = 0; portion < 4; portion++) {
    const timeMs = nowMs - (3 - portion) * 10 * hourMs;
    await Promise.all(
      Array.from({ length: 300 }, () => store.append({ kind: 'refusal', result: 'ok', timeMs, payload })),
    );
  }
  const { tools } = await new UsageTally(store).read(24, nowMs);
  assert.equal(
    tools[0]?.succeeded.reduce((total, count) => total + count, 0),
    900,
  );
});

test('calls are counted in their own stretch of time, also where the clock was set back', async (t) => {
  const store = await openTestStore(t);
  const payload = ownText(JSON.stringify({ tool: 'files.read' }));
  const minutesAgo = [50, 49, 20, 48, 19, 47, 3, 2, 1];
  for (const minutes of minutesAgo) {
    await store.append({ kind: 'refusal', result: 'ok', timeMs: nowMs - minutes * 60_000, payload });
  }
  const { tools, fromMs, slotMs } = await new UsageTally(store).read(1, nowMs);
  const expected = Array.from({ length: 12 }, () => 0);
  for (const minutes of minutesAgo) {
    const slot = Math.floor((nowMs - minutes * 60_000 - fromMs) / slotMs);
    expected[slot] = (expected[slot] ?? 0) + 1;
  }
  assert.deepEqual(tools[0]?.succeeded, expected);
});
