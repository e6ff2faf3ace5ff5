import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { newPlace, TestDaemon } from '../harness/daemon.ts';
import type { Place } from '../harness/daemon.ts';
import { liftLimits } from '../harness/lift-limits.ts';
import { runSallyport } from '../harness/run-sallyport.ts';
import { requirement } from '../requirement.ts';
import { onCopy, startRefusal, vandalise } from './vandal.ts';

const until = async (reached: () => Promise<boolean>): Promise<void> => {
  while (!(await reached())) await new Promise((resolve) => setTimeout(resolve, 50));
};

/** More records than are looked at before the gate serves. */
async function fillLog(daemon: TestDaemon): Promise<void> {
  for (let n = 0; n < 5; n++) {
    await Promise.all(Array.from({ length: 32 }, () => daemon.call('files.read', { path: 'a.txt' })));
  }
}

const newest = '(SELECT max(position) FROM records)';

describe('a log that something else has changed', () => {
  let place: Place;

  before(async () => {
    place = liftLimits(newPlace());
    const daemon = await TestDaemon.start(place);
    await fillLog(daemon);
    assert.ok((await daemon.status())['health'] === 'serving');
    await daemon.kill('SIGTERM');
  });
  after(() => rmSync(place.folder, { recursive: true, force: true }));

  for (const [what, change, expected] of [
    [
      'two payloads with their salts exchanged',
      `UPDATE records SET (salt, payload) = (SELECT b.salt, b.payload FROM records b WHERE b.position = ${newest} - 9)
       WHERE position = ${newest} - 3`,
      /payload of record \d+ was changed/,
    ],
    [
      'a salt changed by a bit',
      `UPDATE records SET salt = CAST(x'00' || substr(salt, 2) AS BLOB) WHERE position = ${newest} - 3`,
      /payload of record \d+ was changed/,
    ],
    [
      'a leaf changed by a bit',
      `UPDATE records SET leaf = CAST(substr(leaf, 1, 75) || x'0000' || substr(leaf, 78) AS BLOB)
       WHERE position = ${newest} - 3`,
      /was not written by this gate, or was changed/,
    ],
    ['a record removed', `DELETE FROM records WHERE position = ${newest} - 3`, /is missing/],
    ['an end cut off', `DELETE FROM records WHERE position > ${newest} - 3`, /The log ends at/],
    [
      'an end cut off together with the checkpoints over it',
      `DELETE FROM checkpoints WHERE size > ${newest} - 3; DELETE FROM records WHERE position > ${newest} - 3`,
      /was signed, but the database has none|belongs to a log of/,
    ],
  ] as const) {
    test(`${what}: the daemon does not start, and says what to do`, async () => {
      requirement('AUD-3');
      await onCopy(place, async () => {
        vandalise(place, change);
        const said = await startRefusal(place);
        assert.match(said, expected, said);
        assert.match(said, /backup/, said);
      });
    });
  }

  test('an end cut off after a kill, before it was signed, is noticed too', async () => {
    await onCopy(place, async () => {
      vandalise(
        place,
        `DELETE FROM checkpoints WHERE size > ${newest} - 3; DELETE FROM records WHERE position > ${newest} - 3`,
      );
      rmSync(join(place.home, 'audit', 'checkpoint'));
      assert.match(await startRefusal(place), /belongs to a log of \d+ records, and the log has/);
    });
  });

  test('an old record changed is found after the start: the gate seals itself, and opens when it is put right', async () => {
    requirement('AUD-3');
    let daemon: TestDaemon | undefined;
    try {
      vandalise(place, `UPDATE records SET payload = payload || ' ' WHERE position = 3`);
      daemon = await TestDaemon.start(place);
      const { health } = await daemon.status();
      assert.equal(health, 'serving', 'a start does not wait for all of the log');
      await until(async () => (await daemon?.status())?.['health'] === 'sealed');
      const { healthReason = '' } = await daemon.status();
      assert.match(healthReason, /Record 3: payload and leaf do not match/);
      const { denied } = await daemon.call('files.read', { path: 'a.txt' });
      assert.equal(denied?.rationaleCode, 'SEALED');
      assert.match(denied.remedy ?? '', /audit verify.*restore sallyport\.db/);
      vandalise(place, `UPDATE records SET payload = rtrim(payload) WHERE position = 3`);
      await until(async () => (await daemon?.status())?.['health'] === 'serving');
      assert.equal((await daemon.call('files.read', { path: 'no.txt' })).denied, undefined);
      const events = (await daemon.records(-20)).map(({ payload }) => payload['event']);
      assert.ok(events.includes('daemon_unsealed'), 'the log says so');
    } finally {
      await daemon?.kill('SIGTERM');
    }
  });

  test('a record hidden from those who ask for its call is found after the start, and by the command', async () => {
    requirement('AUD-3');
    await onCopy(place, async () => {
      vandalise(place, 'DELETE FROM record_calls WHERE position = (SELECT max(position) FROM record_calls) - 300');
      const { stdout, status } = runSallyport(place, ['audit', 'verify']);
      assert.match(stdout, /which records belong to a call does not agree with the log/);
      assert.notEqual(status, 0);
      const daemon = await TestDaemon.start(place);
      try {
        await until(async () => (await daemon.status())['health'] === 'sealed');
        assert.match((await daemon.status())['healthReason'] ?? '', /which records belong to a call/);
      } finally {
        await daemon.kill('SIGTERM');
      }
    });
  });

  test('a row written while the gate runs seals it before the next call runs', async () => {
    const daemon = await TestDaemon.start(place);
    try {
      vandalise(place, `UPDATE sessions SET agent = 'mallory'`);
      const answer = await daemon.call('files.read', { path: 'a.txt' });
      assert.equal(answer.denied?.rationaleCode, 'SEALED', JSON.stringify(answer));
      vandalise(place, `UPDATE sessions SET agent = 'operator'`);
      await until(async () => (await daemon.status())['health'] === 'serving');
    } finally {
      await daemon.kill('SIGTERM');
    }
    const again = await TestDaemon.start(place);
    await again.kill('SIGTERM');
  });
});

test('a gate that nobody calls notices a change within seconds, and opens again when all is as it was', async (t) => {
  requirement('AUD-3');
  const daemon = await TestDaemon.start();
  t.after(() => daemon.remove());
  await daemon.call('files.list', { path: '.' });
  // All of the log is read once after a start; what is done later nobody would see without looking again.
  await sleep(8000);
  const health = async (wanted: string): Promise<void> => {
    const giveUpAtMs = Date.now() + 30_000;
    await until(async () => (await daemon.status())['health'] === wanted || Date.now() > giveUpAtMs);
    assert.equal((await daemon.status())['health'], wanted);
  };
  let salt: unknown;
  vandalise(daemon.place, (database) => {
    ({ salt } = database.prepare('SELECT salt FROM records WHERE position = 1').get() ?? {});
    database.exec("UPDATE records SET salt = CAST(x'00' || substr(salt, 2) AS BLOB) WHERE position = 1");
  });
  await health('sealed');
  vandalise(daemon.place, (database) => {
    database.prepare('UPDATE records SET salt = ? WHERE position = 1').run(salt as Uint8Array);
  });
  await health('serving');
});
