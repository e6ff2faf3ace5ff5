import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decodeLeaf } from '../../packages/log/src/leaf.ts';
import type { ModeChange, Store } from '../../packages/gateway/src/storage/stores.ts';
import { ownText } from '../../packages/gateway/src/call/redacted.ts';

export interface ReopenedStore {
  readonly store: () => Store;
  readonly reopen: () => Promise<void>;
}

/** What every store must do about the mode. */
export function testModes({ store, reopen }: ReopenedStore): void {
  const change = (more: Partial<ModeChange> = {}): ModeChange => ({
    from: 'NORMAL',
    to: 'ALERT',
    cause: ownText('too many denials'),
    atMs: Date.now(),
    ...more,
  });

  test('a mode is kept with its history, and stands in the log with its cause', async () => {
    assert.equal(store().readMode(), 'NORMAL');
    const size = await store().logSize();
    const [first, second] = [change(), change({ from: 'ALERT', to: 'LOCKDOWN', by: 'olga', cause: ownText('a leak') })];
    assert.equal(await store().changeMode(first), true);
    assert.equal(store().readMode(), 'ALERT');
    assert.equal(await store().changeMode(second), true);
    await reopen();
    assert.equal(store().readMode(), 'LOCKDOWN');
    assert.deepEqual(await store().listModeChanges(10), [second, first]);
    assert.deepEqual(await store().listModeChanges(1), [second]);
    const records = await store().readRecords(size, 2);
    assert.deepEqual(
      records.map(({ leaf, payload = '' }) => [decodeLeaf(leaf).kind, JSON.parse(payload) as unknown]),
      [
        ['event', { event: 'mode_changed', from: 'NORMAL', to: 'ALERT', cause: ownText('too many denials') }],
        ['event', { event: 'mode_changed', from: 'ALERT', to: 'LOCKDOWN', by: 'olga', cause: ownText('a leak') }],
      ],
    );
  });

  test('of two who change the same mode, one comes too late and changes nothing', async () => {
    const [from, before] = [store().readMode(), (await store().listModeChanges(100)).length];
    const wishes = [change({ from, to: 'RECOVERY' }), change({ from, to: 'NORMAL' })];
    const made = await Promise.all(wishes.map((wish) => store().changeMode(wish)));
    assert.deepEqual(made, [true, false]);
    assert.equal(store().readMode(), 'RECOVERY');
    assert.equal((await store().listModeChanges(100)).length, before + 1);
    assert.equal(await store().changeMode(change({ from: 'RECOVERY', to: 'NORMAL' })), true);
  });
}
