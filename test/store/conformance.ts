import assert from 'node:assert/strict';
import { hash, randomUUIDv7 } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import { decodeLeaf } from '../../packages/log/src/leaf.ts';
import type { Artifact, NewSession, Store } from '../../packages/gateway/src/storage/stores.ts';
import { requirement } from '../requirement.ts';
import { admissionFor, eventNamed, outcomeFor, sessionNamed } from './entries.ts';
import { testAnomalies } from './anomaly-conformance.ts';
import { testApprovals } from './approval-conformance.ts';
import { testErasures } from './erasure-conformance.ts';
import { testJournal } from './journal-conformance.ts';
import { testLeases } from './lease-conformance.ts';
import { testModes } from './mode-conformance.ts';
import { testSnapshot } from './snapshot-conformance.ts';
import { testOrganisation } from './organisation-conformance.ts';
import { ownText } from '../../packages/gateway/src/call/redacted.ts';

/** How the suite opens an adapter. `open` may be called again after `close` and must find what was written. */
export interface StoreUnderTest {
  readonly open: () => Promise<Store>;
  readonly remove: () => Promise<void>;
}

/** What every store must do, whatever it is built on. */
export function describeStore(name: string, prepare: () => Promise<StoreUnderTest>): void {
  describe(name, () => {
    let subject: StoreUnderTest;
    let store: Store;

    before(async () => {
      subject = await prepare();
      store = await subject.open();
    });
    after(async () => {
      await store.close();
      await subject.remove();
    });
    const reopen = async (): Promise<void> => {
      await store.close();
      store = await subject.open();
    };
    const newSession = async (more: Partial<NewSession> = {}): Promise<NewSession> => {
      const session = sessionNamed(more);
      await store.createSession(session);
      return session;
    };

    test('a session is found by the hash of its token, and by nothing else', async () => {
      const session = await newSession({ budget: { calls: 7 }, expiresAtMs: Date.now() + 60_000 });
      const found = store.findSessionByToken(session.tokenSha256);
      assert.equal(found?.id, session.id);
      assert.deepEqual(found?.budget, { calls: 7 });
      assert.equal(found?.lease.id, session.lease.id);
      assert.deepEqual(found?.lease.tools, session.lease.tools);
      assert.equal(store.findSessionByToken(hash('sha256', 'another')), undefined);
      assert.equal((await store.readSession(session.id))?.agent, session.agent);
    });

    test('ending a session is final and seen by the next read', async () => {
      const session = await newSession();
      assert.equal((await store.readSession(session.id))?.status, 'active');
      assert.equal(await store.endSession(session.id), true);
      assert.equal(store.findSessionByToken(session.tokenSha256)?.status, 'ended');
      assert.equal((await store.readSession(session.id))?.status, 'ended');
      assert.equal(await store.endSession(session.id), false);
    });

    test('one bad write fails alone, not with the writes that share its commit', async () => {
      const session = sessionNamed();
      const [first, second, appended] = await Promise.allSettled([
        store.createSession(session),
        store.createSession(session),
        store.append(eventNamed('beside a bad write')),
      ]);
      assert.equal(first.status, 'fulfilled');
      assert.equal(second.status, 'rejected');
      assert.equal(appended.status, 'fulfilled');
      assert.equal(store.sealed(), undefined);
    });

    test('an admitted call is an open intent until it is settled, once', async () => {
      requirement('AUD-2');
      const session = await newSession();
      const admission = admissionFor(session);
      const admitted = await store.admit(admission);
      assert.ok(admitted.admitted);
      assert.ok((await store.listOpenIntents()).some(({ callId }) => callId === admission.intent.callId));
      await store.settle({ outcome: outcomeFor(admission) });
      assert.ok(!(await store.listOpenIntents()).some(({ callId }) => callId === admission.intent.callId));
      await assert.rejects(store.settle({ outcome: outcomeFor(admission) }), /no open intent/);
    });

    test('an ended, expired or unknown session is not admitted and leaves no intent', async () => {
      const ended = await newSession();
      await store.endSession(ended.id);
      const expired = await newSession({ expiresAtMs: Date.now() - 1 });
      const sizeBefore = await store.logSize();
      for (const session of [ended, expired]) {
        assert.deepEqual(await store.admit(admissionFor(session)), { admitted: false, because: 'session' });
      }
      assert.deepEqual(await store.admit(admissionFor(sessionNamed())), { admitted: false, because: 'session' });
      assert.equal(await store.logSize(), sizeBefore);
    });

    test('200 concurrent calls against a budget of 50: exactly 50 are admitted', async () => {
      requirement('PERM-4');
      const session = await newSession({ budget: { calls: 50 } });
      const answers = await Promise.all(Array.from({ length: 200 }, () => store.admit(admissionFor(session))));
      assert.equal(answers.filter(({ admitted }) => admitted).length, 50);
      await reopen();
      assert.deepEqual(await store.admit(admissionFor(session)), {
        ...{ admitted: false, because: 'budget' },
        spent: { of: 'session', kind: 'calls', used: 50, limit: 50 },
      });
      assert.equal((await store.readSession(session.id))?.spent.calls, 50);
    });

    test('200 concurrent calls against a rate of 50: exactly 50 are admitted, also across a restart', async () => {
      requirement('RATE-2');
      const session = await newSession();
      const key = `rate ${session.id}`;
      const day = { key, windowMs: 86_400_000, limit: 50, rule: 'per-day' };
      const admit = () => store.admit({ ...admissionFor(session), reservations: [day] });
      const answers = await Promise.all(Array.from({ length: 120 }, admit));
      await reopen();
      const later = await Promise.all(Array.from({ length: 80 }, admit));
      const all = [...answers, ...later];
      assert.equal(all.filter(({ admitted }) => admitted).length, 50);
      const refused = all.find((answer) => !answer.admitted);
      assert.ok(
        refused && 'retryAfterMs' in refused && refused.retryAfterMs > 0 && refused.retryAfterMs <= day.windowMs,
      );
      assert.equal((await store.usedOf(day, Date.now())).used, 50);
      assert.equal((await store.readSession(session.id))?.spent.calls, 50, 'a refused call is not charged');
    });

    test('a window that lies ahead, because the clock was there, is left to the admission to judge', async () => {
      const session = await newSession();
      const hour = { key: `ahead ${session.id}`, windowMs: 3_600_000, limit: 1, rule: 'hour' };
      assert.ok((await store.admit({ ...admissionFor(session), reservations: [hour] })).admitted);
      const setBackMs = Date.now() - 3 * 86_400_000;
      assert.equal((await store.usedOf(hour, setBackMs)).used, 0);
      assert.equal((await store.usedOf(hour, Date.now())).used, 1);
    });

    test('when one window is full no other window is charged', async () => {
      const session = await newSession();
      const wide = { key: `wide ${session.id}`, windowMs: 86_400_000, limit: 100, rule: 'wide' };
      const narrow = { key: `narrow ${session.id}`, windowMs: 86_400_000, limit: 1, rule: 'narrow' };
      const admit = () => store.admit({ ...admissionFor(session), reservations: [wide, narrow] });
      assert.ok((await admit()).admitted);
      const refused = await admit();
      assert.ok(!refused.admitted && refused.because === 'rate' && refused.rule === 'narrow');
      assert.equal((await store.usedOf(wide, Date.now())).used, 1);
    });

    testLeases({ store: () => store, reopen, newSession });
    testApprovals({ store: () => store, reopen, newSession });
    testAnomalies({ store: () => store, reopen, newSession });
    testModes({ store: () => store, reopen });
    testOrganisation({ store: () => store, reopen });
    testJournal(() => store, reopen);
    testSnapshot({ store: () => store, reopen, newSession });

    test('a dedupe key is claimed once, keeps a success, and is freed by a failure', async () => {
      const session = await newSession();
      const dedupe = { key: 'k', argumentsSha256: 'a', expiresAtMs: Date.now() + 60_000 };
      const first = { ...admissionFor(session), dedupe };
      assert.ok((await store.admit(first)).admitted);
      assert.deepEqual(await store.admit({ ...admissionFor(session), dedupe }), { admitted: false, because: 'dedupe' });
      await store.settle({ outcome: outcomeFor(first, 'error'), dedupe: { sessionId: session.id, key: 'k' } });
      assert.equal(await store.findDedupe(session.id, 'k', Date.now()), undefined);

      const second = { ...admissionFor(session), dedupe };
      assert.ok((await store.admit(second)).admitted);
      await store.settle({
        outcome: outcomeFor(second),
        dedupe: { sessionId: session.id, key: 'k', sealedOutput: Uint8Array.of(1, 2) },
      });
      await reopen();
      assert.deepEqual((await store.findDedupe(session.id, 'k', Date.now()))?.sealedOutput, Uint8Array.of(1, 2));
      assert.equal(await store.findDedupe(session.id, 'k', Date.now() + 120_000), undefined, 'gone after its time');
      assert.equal(
        await store.findDedupe(randomUUIDv7(), 'k', Date.now()),
        undefined,
        'another session does not see it',
      );
    });

    test('a success that is kept elsewhere is remembered by its place', async () => {
      const session = await newSession();
      const dedupe = { key: 'large', argumentsSha256: 'a', expiresAtMs: Date.now() + 60_000 };
      const admission = { ...admissionFor(session), dedupe };
      await store.admit(admission);
      const kept = { hash: 'ab'.repeat(32), sizeBytes: 2 ** 33 };
      await store.settle({
        outcome: outcomeFor(admission, 'ok'),
        dedupe: { sessionId: session.id, key: 'large', kept },
      });
      const found = await store.findDedupe(session.id, 'large', Date.now());
      assert.deepEqual([found?.state, found?.kept, found?.sealedOutput], ['succeeded', kept, undefined]);
    });

    test('a pin is replaced by the next one of its name and version, and listed until it is taken back', async () => {
      const pin = {
        name: 'weather',
        version: '1.0.0',
        fileSha256: 'a'.repeat(64),
        definitionSha256: 'b'.repeat(64),
        acceptedAtMs: 1,
        acceptedBy: 'operator',
      };
      await store.pinTool(pin);
      await store.pinTool({ ...pin, version: '2.0.0' });
      const changed = { ...pin, fileSha256: 'c'.repeat(64), acceptedAtMs: 2 };
      await store.pinTool(changed);
      assert.deepEqual(store.listToolPins(), [changed, { ...pin, version: '2.0.0' }]);
      assert.equal(await store.unpinTool('weather', '2.0.0'), true);
      assert.equal(await store.unpinTool('weather', '2.0.0'), false);
      assert.deepEqual(store.listToolPins(), [changed]);
    });

    test('a root of workspaces keeps the rules that were accepted with it, until it is removed', async () => {
      requirement('PKG-3');
      const root = { path: '/projects/a', addedAtMs: 1, addedBy: 'ada' };
      await store.putWorkspaceRoot({ ...root, path: '/projects/b' });
      await store.putWorkspaceRoot(root);
      assert.deepEqual(store.listWorkspaceRoots(), [root, { ...root, path: '/projects/b' }]);
      assert.equal(store.listWorkspaceRoots(), store.listWorkspaceRoots());
      const rules = { bytes: new Uint8Array([0, 255, 10]), acceptedAtMs: 2, acceptedBy: 'ben' };
      await store.putWorkspaceRoot({ ...root, rules });
      assert.deepEqual(store.listWorkspaceRoots()[0], { ...root, rules });
      assert.equal(await store.removeWorkspaceRoot('/projects/b'), true);
      assert.equal(await store.removeWorkspaceRoot('/projects/b'), false);
      assert.deepEqual(store.listWorkspaceRoots(), [{ ...root, rules }]);
    });

    test('a session keeps its workspace, and one without a workspace has none', async () => {
      requirement('PKG-3');
      const inProject = await newSession({ workspace: '/projects/a' });
      const elsewhere = await newSession();
      assert.equal(store.findSession(inProject.id)?.workspace, '/projects/a');
      assert.equal(store.findSession(elsewhere.id)?.workspace, undefined);
    });

    test('an unknown effect keeps its dedupe key, which only a repeatable call with the same arguments takes over', async () => {
      requirement('PIPE-6');
      const session = await newSession();
      const dedupe = { key: 'begun', argumentsSha256: 'a', expiresAtMs: Date.now() + 60_000 };
      const first = { ...admissionFor(session), dedupe };
      assert.equal((await store.admit(first)).admitted, true);
      await store.settle({
        outcome: outcomeFor(first, 'error'),
        dedupe: { sessionId: session.id, key: 'begun', isUnknown: true },
      });
      assert.equal((await store.findDedupe(session.id, 'begun', Date.now()))?.state, 'unknown');
      const again = (more: object) => store.admit({ ...admissionFor(session), dedupe: { ...dedupe, ...more } });
      assert.equal((await again({})).admitted, false);
      assert.equal((await again({ isRepeatable: true, argumentsSha256: 'b' })).admitted, false);
      assert.equal((await again({ isRepeatable: true })).admitted, true);
      assert.equal((await again({ isRepeatable: true })).admitted, false, 'it runs now');
    });

    test('a call cut off with a dedupe key leaves the key unknown', async () => {
      const session = await newSession();
      const dedupe = { key: 'cut', argumentsSha256: 'a', expiresAtMs: Date.now() + 60_000 };
      const admission = { ...admissionFor(session), dedupe };
      await store.admit(admission);
      await store.settle({ outcome: outcomeFor(admission, 'unknown') });
      assert.equal((await store.findDedupe(session.id, 'cut', Date.now()))?.state, 'unknown');
    });

    test('records keep the order in which they were accepted, without holes', async () => {
      const sizeBefore = await store.logSize();
      const written = await Promise.all(Array.from({ length: 300 }, (_, n) => store.append(eventNamed(`event ${n}`))));
      assert.deepEqual(
        written.map(({ index }) => index),
        Array.from({ length: 300 }, (_, n) => sizeBefore + n),
      );
      const read = await store.readRecords(sizeBefore, 300);
      assert.deepEqual(
        read.map(({ payload }) => payload),
        Array.from({ length: 300 }, (_, n) => eventNamed(`event ${n}`).payload),
      );
      assert.equal(decodeLeaf(read[0]?.leaf ?? new Uint8Array()).kind, 'event');
      assert.equal(await store.logSize(), sizeBefore + 300);
    });

    test('records of calls that are alike are told alike, whatever is their own', async () => {
      const [ada, bea] = [await newSession(), await newSession()];
      const from = await store.logSize();
      const write = (sessionId: string, requestId: string, rest: object, kind: 'refusal' | 'event' = 'refusal') => {
        const payload = ownText(JSON.stringify({ request_id: requestId, task_id: `${requestId}"agent":"x`, ...rest }));
        return store.append({ kind, result: 'denied', timeMs: 1000, sessionId, payload });
      };
      const call = { agent: 'ada', tool: 'files.read', arguments: { path: 'é "agent":"x"' }, mode: 'NORMAL' };
      await write(ada.id, 'one', call);
      await write(ada.id, 'two', call);
      await write(bea.id, 'three', call);
      await write(ada.id, 'four', { ...call, mode: 'ALERT' });
      await write(ada.id, 'five', call, 'event');
      await store.append({
        kind: 'refusal',
        result: 'denied',
        timeMs: 1000,
        payload: ownText('{"tool":"t","agent":"a"}'),
      });
      const found = await store.readDecided(from, from + 6);
      assert.deepEqual(
        found.map(({ index }) => index - from),
        [0, 1, 2, 3, 5],
      );
      const [one, two, three, four, strange] = found.map(({ likeness }) => likeness) as [
        string,
        string,
        string,
        string,
        string,
      ];
      assert.equal(one, two);
      assert.equal(new Set([one, three, four, strange]).size, 4);
      assert.equal(one.slice(0, 32).toLowerCase(), ada.id.replaceAll('-', ''));
      assert.deepEqual(JSON.parse(one.slice(32)), call);
      assert.equal(strange, `${'0'.repeat(32)}{"tool":"t","agent":"a"}`);
      assert.equal((await store.readDecided(from + 1, from + 3)).length, 2);
    });

    test('content belongs to the sessions that put or received it, until it is forgotten', async () => {
      const [owner, stranger] = [await newSession(), await newSession()];
      const content = { hash: 'a'.repeat(64), sizeBytes: 5, nowMs: 1000 };
      await store.recordContent({ ...content, sessionId: owner.id });
      await store.recordContent({ ...content, sessionId: owner.id, nowMs: 2000 });
      assert.equal(await store.mayUseContent(owner.id, content.hash), true);
      assert.equal(await store.mayUseContent(stranger.id, content.hash), false);
      const known = { hash: content.hash, sizeBytes: 5, lastUsedMs: 2000, referenced: false };
      assert.deepEqual(await store.listContent(), [known]);
      await reopen();
      assert.equal(await store.mayUseContent(owner.id, content.hash), true);
      assert.equal(await store.forgetContent(content.hash), true);
      assert.equal(await store.mayUseContent(owner.id, content.hash), false);
      assert.equal(await store.forgetContent(content.hash), true, 'what is not known is forgotten already');
    });

    test('an artifact is published once, and its content is not forgotten', async () => {
      const session = await newSession();
      const contentHash = 'b'.repeat(64);
      await store.recordContent({ hash: contentHash, sizeBytes: 7, sessionId: session.id, nowMs: 1 });
      const artifact: Artifact = {
        id: 'report-1',
        contentHash,
        sizeBytes: 7,
        category: 'report',
        metadata: ['format=junit'],
        sessionId: session.id,
        agent: session.agent,
        publishedAtMs: 2,
      };
      const answers = await Promise.all(Array.from({ length: 5 }, () => store.publishArtifact(artifact)));
      assert.deepEqual(answers.toSorted(), ['exists', 'exists', 'exists', 'exists', 'published']);
      assert.equal(await store.publishArtifact({ ...artifact, category: 'other' }), 'exists');
      assert.equal(await store.forgetContent(contentHash), false);
      await reopen();
      assert.deepEqual(await store.findArtifact('report-1'), artifact);
      assert.deepEqual(await store.listArtifacts({ category: 'report' }), [artifact]);
      assert.deepEqual(await store.listArtifacts({ category: 'other' }), []);
      assert.deepEqual(await store.listArtifacts({ sessionId: session.id }), [artifact]);
      const unknown = { ...artifact, id: 'report-2', contentHash: 'c'.repeat(64) };
      await assert.rejects(store.publishArtifact(unknown), 'content must be known first');
    });

    test('a secret is replaced, listed by name and removed', async () => {
      const secret = { name: 'token', ciphertext: Uint8Array.of(1, 2, 3), updatedAtMs: 1 };
      await store.setSecret(secret);
      await store.setSecret({ ...secret, name: 'another' });
      await store.setSecret({ ...secret, ciphertext: Uint8Array.of(4), updatedAtMs: 2 });
      await reopen();
      assert.deepEqual(
        (await store.listSecrets()).map((listed) => [listed.name, listed.updatedAtMs]),
        [
          ['another', 1],
          ['token', 2],
        ],
      );
      assert.deepEqual([...((await store.listSecrets())[1]?.ciphertext ?? [])], [4]);
      assert.equal(await store.removeSecret('token'), true);
      assert.equal(await store.removeSecret('token'), false);
    });

    test('closing signs everything, and what was written is there after opening again', async () => {
      requirement('AUD-3');
      const { index } = await store.append(eventNamed('before the restart'));
      await reopen();
      assert.ok(((await store.lastCheckpoint())?.size ?? 0) > index);
      assert.match((await store.readRecords(index, 1))[0]?.payload ?? '', /before the restart/);
    });

    test('a payload beyond the size of a record is refused without harm', async () => {
      await assert.rejects(store.append({ ...eventNamed('large'), payload: ownText('x'.repeat(70_000)) }), /64 KB/);
      assert.equal(store.sealed(), undefined);
      await store.append(eventNamed('after'));
    });

    testErasures(() => store, reopen, newSession);
  });
}
