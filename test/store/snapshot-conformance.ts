import assert from 'node:assert/strict';
import { randomUUIDv7 } from 'node:crypto';
import { test } from 'node:test';
import { ownText } from '../../packages/gateway/src/call/redacted.ts';
import type { Change, NewSession, Store } from '../../packages/gateway/src/storage/stores.ts';
import { admissionFor } from './entries.ts';

interface SnapshotSubject {
  readonly store: () => Store;
  readonly reopen: () => Promise<void>;
  readonly newSession: (more?: Partial<NewSession>) => Promise<NewSession>;
}

/** What the gates read without waiting, how it follows the store, and what happens when it lags behind. */
export function testSnapshot({ store, reopen, newSession }: SnapshotSubject): void {
  const changeMode = async (): Promise<void> => {
    const from = store().readMode();
    const to = from === 'NORMAL' ? 'ALERT' : 'NORMAL';
    const change = { from, to, by: 'olga', cause: ownText('a test'), atMs: Date.now() } as const;
    assert.equal(await store().changeMode(change), true);
  };
  const changeOrganisation = async (): Promise<void> => {
    const change = { kind: 'put-team', team: { name: `t${randomUUIDv7().slice(0, 8)}` } } as const;
    assert.equal(await store().changeOrganisation(change), true);
  };

  test('each change is told once, in order, and can be read by then', async () => {
    const session = await newSession();
    const heard: [kind: Change['kind'], version: number][] = [];
    const stop = store().onChange((change, version) => {
      heard.push([change.kind, version]);
      assert.equal(store().version(), version);
      if (change.kind === 'session') assert.equal(store().findSession(change.session.id), change.session);
      if (change.kind === 'mode') assert.equal(store().readMode(), change.mode);
      if (change.kind === 'organisation') assert.equal(store().readOrganisation(), change.organisation);
    });
    await store().grantLease(session.id, { id: randomUUIDv7(), tools: ['*'] }, Date.now());
    await changeMode();
    await changeOrganisation();
    await store().endSession(session.id);
    stop();
    await changeMode();
    assert.deepEqual(
      heard.map(([kind]) => kind),
      ['session', 'mode', 'organisation', 'session'],
    );
    const versions = heard.map(([, version]) => version);
    assert.deepEqual(
      versions,
      versions.toSorted((a, b) => a - b),
    );
    assert.equal(new Set(versions).size, versions.length);
  });

  test('what changed since a version is named, for the session that asks', async () => {
    const [one, other] = [await newSession(), await newSession()];
    const changedSince = (version: number) => [one, other].map(({ id }) => store().changedSince(version, id));
    let before = store().version();
    assert.deepEqual(changedSince(before), [undefined, undefined]);
    await store().revokeLease(one.id, Date.now());
    assert.deepEqual(changedSince(before), ['session', undefined]);
    before = store().version();
    await changeMode();
    assert.deepEqual(changedSince(before), ['mode', 'mode']);
    before = store().version();
    await changeOrganisation();
    assert.deepEqual(changedSince(before), ['organisation', 'organisation']);
    assert.deepEqual(changedSince(store().version()), [undefined, undefined]);
  });

  test('a call that was judged by what has changed since is not admitted, and costs nothing', async () => {
    const session = await newSession();
    const admit = (basedOn: number) => store().admit({ ...admissionFor(session), basedOn });
    for (const [what, change] of [
      ['mode', changeMode],
      ['organisation', changeOrganisation],
    ] as const) {
      const before = store().version();
      await change();
      assert.deepEqual(await admit(before), { admitted: false, because: 'stale', what });
    }
    assert.equal((await store().readSession(session.id))?.spent.calls, 0);
    assert.equal((await admit(store().version())).admitted, true);
    assert.equal((await store().readSession(session.id))?.spent.calls, 1);
  });

  test('a change that comes while a call is on its way to admission is noticed, whichever is first', async () => {
    const session = await newSession();
    for (let round = 0; round < 20; round++) {
      const basedOn = store().version();
      // Both in one turn: they share a commit, and the order in it decides.
      const changing = changeMode();
      const admitted = await store().admit({ ...admissionFor(session), basedOn });
      await changing;
      assert.deepEqual(admitted, { admitted: false, because: 'stale', what: 'mode' });
    }
  });

  test('calls and changes of other sessions make nothing stale', async () => {
    const [session, other] = [await newSession(), await newSession()];
    const basedOn = store().version();
    await store().admit({ ...admissionFor(other), basedOn });
    await store().endSession(other.id);
    assert.equal((await store().admit({ ...admissionFor(session), basedOn })).admitted, true);
  });

  test('after a restart the snapshot is what the store holds, and is known to be true', async () => {
    const [live, ended] = [await newSession(), await newSession()];
    await store().endSession(ended.id);
    const pin = { name: 'x.y', version: '1', fileSha256: 'a', definitionSha256: 'b', acceptedAtMs: 1, acceptedBy: 'o' };
    await store().pinTool(pin);
    await changeMode();
    const mode = store().readMode();
    const beforeMs = Date.now();
    await reopen();
    assert.equal(store().readMode(), mode);
    assert.equal(store().findSessionByToken(live.tokenSha256)?.id, live.id);
    assert.equal(store().findSessionByToken(ended.tokenSha256)?.status, 'ended');
    const ids = store()
      .liveSessions()
      .map(({ id }) => id);
    assert.ok(ids.includes(live.id) && !ids.includes(ended.id));
    assert.ok(
      store()
        .listToolPins()
        .some(({ name }) => name === 'x.y'),
    );
    assert.ok(store().trueAtMs() >= beforeMs);
    assert.equal(await store().unpinTool('x.y', '1'), true);
    assert.ok(
      !store()
        .listToolPins()
        .some(({ name }) => name === 'x.y'),
    );
  });
}
