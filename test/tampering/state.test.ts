import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { DatabaseSync } from 'node:sqlite';
import { TestDaemon } from '../harness/daemon.ts';
import type { Place } from '../harness/daemon.ts';
import { runSallyport } from '../harness/run-sallyport.ts';
import { onCopy, startRefusal, vandalise } from './vandal.ts';

const forged = createHash('sha256').update('a token of my own').digest('hex');

/** Puts rows of one table as they were before, and leaves all others. */
function putBack(place: Place, table: string, rows: readonly Record<string, unknown>[]): void {
  vandalise(place, (database) => {
    for (const row of rows) {
      const names = Object.keys(row);
      database
        .prepare(`INSERT OR REPLACE INTO ${table} (${names.join(', ')}) VALUES (${names.map(() => '?').join(', ')})`)
        .run(...(Object.values(row) as string[]));
    }
  });
}

describe('state beside the log', () => {
  let place: Place;
  let early: { state: Record<string, unknown>[]; sessions: Record<string, unknown>[] };

  before(async () => {
    const daemon = await TestDaemon.start();
    ({ place } = daemon);
    const created = await daemon.call('sessions.create', { agent: 'ada' });
    const { sessionId: id } = JSON.parse(created.success?.outputJson ?? '{}') as { sessionId: string };
    await daemon.call('sessions.create', { agent: 'ben' });
    const reading = new DatabaseSync(join(place.home, 'sallyport.db'), { readOnly: true });
    early = {
      state: reading.prepare('SELECT * FROM state').all(),
      sessions: reading.prepare('SELECT * FROM sessions').all(),
    };
    reading.close();
    assert.ok((await daemon.call('sessions.end', { session_id: id })).success, 'the session is revoked');
    await daemon.kill('SIGTERM');
  });
  after(() => rmSync(place.folder, { recursive: true, force: true }));

  for (const [what, change, back, named] of [
    [
      'a forged operator session',
      `INSERT INTO sessions SELECT 'forged', principal, agent, '${forged}', 'active', created_at_ms, expires_at_ms,
         working_directory, max_calls, max_active_ms, max_tokens, max_cost_micros, calls, active_ms, tokens, cost_micros,
         misconduct, misconduct_since_ms, door, callback_url, workspace FROM sessions WHERE principal = 'operator' LIMIT 1`,
      `DELETE FROM sessions WHERE id = 'forged'`,
      /sessions/,
    ],
    [
      'a lease for everything',
      `UPDATE leases SET scope = '{"tools":["*"],"x":1}' WHERE id = (SELECT max(id) FROM leases)`,
      undefined,
      /leases/,
    ],
    [
      'a mode',
      `INSERT INTO settings VALUES ('mode', 'LOCKDOWN')`,
      `DELETE FROM settings WHERE name = 'mode'`,
      /settings/,
    ],
    [
      'a pin',
      `INSERT INTO tool_pins VALUES ('x.y', '1', 'a', 'b', 1, 'operator')`,
      `DELETE FROM tool_pins`,
      /tool pins/,
    ],
    [
      'a folder to work in',
      `INSERT INTO workspace_roots VALUES ('/', 1, 'operator', NULL, NULL, NULL)`,
      `DELETE FROM workspace_roots`,
      /workspace roots/,
    ],
    [
      'a permission',
      `INSERT INTO permissions VALUES ('agent', 'ada', '*', 'allow', 'operator', 1)`,
      `DELETE FROM permissions`,
      /permissions/,
    ],
    [
      'a standing approval',
      `INSERT INTO standing_approvals VALUES ('s', 'x', '{}', 1, 9e15, 5, NULL)`,
      `DELETE FROM standing_approvals`,
      /standing approvals/,
    ],
    [
      'a trigger that would write for the vandal',
      `CREATE TRIGGER mine AFTER INSERT ON records BEGIN UPDATE sessions SET status = 'active'; END`,
      `DROP TRIGGER mine`,
      /trigger mine/,
    ],
    ['what authenticates it removed', `DELETE FROM state`, undefined, /is gone/],
  ] as const) {
    test(`${what}: the daemon does not start, and says why`, async () => {
      const copy = new DatabaseSync(join(place.home, 'sallyport.db'));
      const state = copy.prepare('SELECT * FROM state').all();
      const leases = copy.prepare('SELECT * FROM leases').all();
      copy.close();
      vandalise(place, change);
      const said = await startRefusal(place);
      assert.match(said, /changed by something other than Sallyport/, said);
      assert.match(said, named, said);
      assert.match(said, /backup/, said);
      if (back !== undefined) vandalise(place, back);
      putBack(place, 'leases', leases);
      putBack(place, 'state', state);
    });
  }

  test('a session as it was before it was revoked is noticed, alone and together with what authenticated it', async () => {
    const copy = new DatabaseSync(join(place.home, 'sallyport.db'));
    const late = {
      state: copy.prepare('SELECT * FROM state').all(),
      sessions: copy.prepare('SELECT * FROM sessions').all(),
    };
    copy.close();
    putBack(place, 'sessions', early.sessions);
    assert.match(await startRefusal(place), /put back in: sessions/);
    putBack(place, 'state', early.state);
    assert.match(await startRefusal(place), /one of the two is older|put back/);
    putBack(place, 'sessions', late.sessions);
    putBack(place, 'state', late.state);
  });

  test('a home of a version before is taken over with a record of that, and only where there is no key yet', async () => {
    const asBefore = `DROP TABLE erasures; DROP TABLE removals; ALTER TABLE dedupe DROP COLUMN sealed;
      ALTER TABLE dedupe ADD COLUMN output TEXT; DROP TABLE anomalies; DROP TABLE journal; DROP TABLE workspace_roots; ALTER TABLE sessions DROP COLUMN workspace; DROP TABLE state;
      DROP TABLE tool_uses; DROP TABLE record_calls; DROP INDEX approvals_by_effect; PRAGMA user_version = 4`;
    await onCopy(place, async () => {
      vandalise(place, asBefore);
      assert.match(await startRefusal(place), /What authenticates it is gone/);
      rmSync(join(place.home, 'keys', 'state.key'));
      const daemon = await TestDaemon.start(place);
      const records = await daemon.records();
      await daemon.kill('SIGTERM');
      assert.equal(records.filter(({ payload }) => payload['event'] === 'state_taken_over').length, 1);
      const uses: unknown[] = [];
      vandalise(place, (database) => {
        uses.push(...database.prepare('SELECT tool, last_ms FROM tool_uses ORDER BY tool').all());
      });
      assert.deepEqual(
        uses.map((use) => (use as { tool: string }).tool),
        ['sessions.create', 'sessions.end'],
      );
      assert.ok(uses.every((use) => Math.abs((use as { last_ms: number }).last_ms - Date.now()) < 3_600_000));
    });
  });

  test('state as the gate left it starts, and removing the key takes it over with a record of that', async () => {
    const daemon = await TestDaemon.start(place);
    await daemon.kill('SIGTERM');
    vandalise(place, `UPDATE sessions SET agent = 'carl' WHERE agent = 'ben'`);
    assert.match(await startRefusal(place), /remove keys\/state.key/);
    rmSync(join(place.home, 'keys', 'state.key'));
    const again = await TestDaemon.start(place);
    const records = await again.records();
    assert.equal(records.filter(({ payload }) => payload['event'] === 'state_taken_over').length, 1);
    await again.kill('SIGTERM');
    const verified = runSallyport(place, ['audit', 'verify', '--json']);
    assert.equal(verified.status, 0, verified.stdout);
  });
});
