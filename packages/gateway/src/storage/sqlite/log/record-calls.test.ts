import assert from 'node:assert/strict';
import { randomUUIDv7 } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import type { TestContext } from 'node:test';
import { createSigningKey, openSigner } from '@sallyport/log';
import { ownText } from '../../../call/redacted.ts';
import { Database } from '../database.ts';
import { migrate } from '../migrations.ts';
import { LogAppender } from './log-appender.ts';
import { callRecords, hasAllCalls } from './record-calls.ts';

const calls = Array.from({ length: 4 }, () => randomUUIDv7()) as [string, string, string, string];

/** Intents of all calls and an event; outcomes in the opposite order. The first five records are signed. */
function writeLog(t: TestContext) {
  const folder = mkdtempSync(join(tmpdir(), 'sallyport-calls-'));
  const database = Database.openForWriting(join(folder, 'log.db'));
  t.after(() => {
    database.close();
    rmSync(folder, { recursive: true });
  });
  migrate(database);
  const signer = openSigner(createSigningKey('test/log').privateKey);
  const appender = new LogAppender(database, signer, 'test/log', join(folder, 'checkpoint'));
  const append = (kind: 'intent' | 'outcome' | 'event', callId?: string): void => {
    appender.append({ kind, result: 'none', timeMs: 1, callId, payload: ownText('{}') });
    appender.committed();
  };
  for (const callId of calls) append('intent', callId);
  append('event');
  appender.sign()?.();
  for (const callId of calls.toReversed()) append('outcome', callId);
  const of = callRecords(database);
  return { database, appender, placesOf: (callId: string) => of(callId).map(({ position }) => position) };
}

test('the records of a call are found before they are signed and after it, each once', (t) => {
  const { database, appender, placesOf } = writeLog(t);
  const expected = [0, 1, 2, 3].map((place) => [place, 8 - place]);
  assert.deepEqual(calls.map(placesOf), expected);
  assert.ok(hasAllCalls(database));
  appender.sign()?.();
  assert.deepEqual(calls.map(placesOf), expected);
  assert.ok(hasAllCalls(database));
  assert.deepEqual(placesOf(randomUUIDv7()), []);
});

const changes: Record<string, string> = {
  'a place removed': `DELETE FROM record_calls WHERE position = 1`,
  'a place exchanged for another': `UPDATE record_calls SET position = 2 WHERE position = 1`,
  'a place that does not exist': `INSERT INTO record_calls VALUES (x'00', 77)`,
  'a place of another call': `UPDATE record_calls SET call_id = zeroblob(16) WHERE position = 1`,
  'the record of an event': `INSERT INTO record_calls VALUES (zeroblob(16), 4)`,
};

for (const [what, sql] of Object.entries(changes)) {
  test(`${what} is noticed, and never shows the record of another call`, (t) => {
    const { database, placesOf } = writeLog(t);
    database.execute(sql);
    assert.equal(hasAllCalls(database), false);
    for (const place of placesOf(calls[1])) assert.ok(place === 1 || place === 7, String(place));
  });
}
