import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonObject } from '@sallyport/contract';
import { stretchMs } from '../../../audit/search/activity.ts';
import type { EntryKind } from '../../../audit/search/entry.ts';
import { Database } from '../database.ts';
import { ActivityBook, activitySchema } from './activity-book.ts';
import { makeFolder } from '../../../policy/test-world.ts';
import { join } from 'node:path';

const fromMs = 1000 * stretchMs;
const entry = (timeMs: number, result: string, payload: JsonObject, kind: EntryKind = 'call') => {
  return {
    kind,
    result,
    timeMs,
    callId: 'c',
    sessionId: 's',
    payload: { principal: 'agent', agent: 'ada', ...payload },
  };
};

test('calls of agents are counted by agent, tool and rule, slot by slot, with how long they took', () => {
  const database = Database.openForIndex(join(makeFolder(), 'index.db'));
  database.execute(activitySchema);
  const book = new ActivityBook(database);
  const read = { tool: 'files.read', decision: { rule_id: 'read' } };
  book.add(entry(fromMs, 'ok', { ...read, duration_ms: 10 }));
  book.add(entry(fromMs + 1, 'ok', { ...read, duration_ms: 1000 }));
  book.flush();
  book.add(entry(fromMs + 2, 'denied', { ...read, refusal: { code: 'RULE_DENIES', rule_id: 'secrets' } }));
  book.add(entry(fromMs + stretchMs, 'pending', read));
  book.add(entry(fromMs, 'denied', { tool: 'made.up', refusal: { code: 'UNKNOWN_TOOL' } }));
  book.add(entry(fromMs, 'ok', { principal: 'operator', agent: 'me', tool: 'mode.set', decision: { rule_id: 'own' } }));
  book.add(entry(fromMs, 'none', { event: 'mode_changed' }, 'event'));
  book.flush();
  book.add(entry(fromMs, 'ok', read));
  book.drop();
  const { agents, tools, ownTools, rules, medianMs, p95Ms } = book.read({ fromMs, slotMs: stretchMs, slots: 2 });
  assert.deepEqual(agents, [{ name: 'ada', succeeded: [2, 0], denied: [2, 0], asked: [0, 1], failed: [0, 0] }]);
  assert.deepEqual(tools, [{ name: 'files.read', succeeded: [2, 0], denied: [1, 0], asked: [0, 1], failed: [0, 0] }]);
  assert.deepEqual(ownTools, [{ name: 'mode.set', succeeded: [1, 0], denied: [0, 0], asked: [0, 0], failed: [0, 0] }]);
  assert.deepEqual(
    rules.map(({ name }) => name),
    ['read'],
  );
  const [hour] = book.read({ fromMs: fromMs - stretchMs, slotMs: 3 * stretchMs, slots: 1 }).agents;
  assert.deepEqual([hour?.succeeded, hour?.denied, hour?.asked], [[2], [2], [1]], 'several stretches make a slot');
  const [median = 0, none] = medianMs;
  assert.ok(median > 8 && median < 12 && none === 0, String(medianMs));
  assert.ok((p95Ms[0] ?? 0) > 850 && (p95Ms[0] ?? 0) < 1200, String(p95Ms));
  assert.deepEqual(book.totals('own-rule'), [
    { kind: 'own-rule', name: 'own', succeeded: 1, denied: 0, asked: 0, failed: 0, lastMs: fromMs },
  ]);
  assert.equal(book.totals('session')[0]?.lastMs, fromMs + stretchMs);
  database.close();
});
