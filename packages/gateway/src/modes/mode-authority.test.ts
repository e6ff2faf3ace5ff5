import assert from 'node:assert/strict';
import { test } from 'node:test';
import { requirement } from '../../../../test/requirement.ts';
import { isRefusal } from '../call/refusal.ts';
import { modes } from '../call/session.ts';
import type { Mode } from '../call/session.ts';
import { changeTestMode, openTestStore, readLog } from '../stages/store.test-kit.ts';
import type { ModeChange } from '../storage/stores.ts';
import { ModeAuthority } from './mode-authority.ts';
import { ownText } from '../call/redacted.ts';

/** From each mode, where anyone may lead it, and where only a person may. */
const ways: Record<Mode, { readonly anyone: readonly Mode[]; readonly people: readonly Mode[] }> = {
  NORMAL: { anyone: ['ALERT', 'DEGRADED', 'LOCKDOWN'], people: [] },
  ALERT: { anyone: ['NORMAL', 'DEGRADED', 'LOCKDOWN'], people: [] },
  DEGRADED: { anyone: ['LOCKDOWN', 'RECOVERY'], people: [] },
  LOCKDOWN: { anyone: [], people: ['RECOVERY'] },
  RECOVERY: { anyone: [], people: ['NORMAL', 'LOCKDOWN'] },
};

/** An authority over a mode that is kept in memory only. */
function authorityIn(mode: Mode): { authority: ModeAuthority; changes: ModeChange[] } {
  const changes: ModeChange[] = [];
  const authority = new ModeAuthority({
    readMode: () => changes[0]?.to ?? mode,
    changeMode: async (change) => changes.unshift(change) > 0,
    listModeChanges: async (limit) => changes.slice(0, limit),
  });
  return { authority, changes };
}

test('the mode takes these ways and no other, and only people end LOCKDOWN and RECOVERY', async () => {
  requirement('MODE-2');
  for (const from of modes) {
    for (const to of modes) {
      for (const by of [undefined, 'olga']) {
        const { authority, changes } = authorityIn(from);
        const made = await authority.change({ to, ...(by === undefined ? {} : { by }), cause: ownText('a test') });
        const { anyone, people } = ways[from];
        const isOpen = anyone.includes(to) || (by !== undefined && people.includes(to));
        assert.equal(!isRefusal(made), isOpen, `${from} to ${to} by ${by}`);
        assert.equal(changes.length, isOpen ? 1 : 0);
        assert.equal(authority.current(), isOpen ? to : from);
      }
    }
  }
});

test('a change is in the log and the history before anyone is told of it', async (t) => {
  requirement('MODE-1');
  const store = await openTestStore(t);
  const authority = new ModeAuthority(store, () => 1234);
  const hearing: Promise<string>[] = [];
  authority.onChange(({ to }) => {
    const mode = store.readMode();
    hearing.push(readLog(store).then((log) => `${to} ${mode} ${log.at(-1)?.text}`));
  });
  await authority.change({ to: 'ALERT', cause: ownText('too many denials') });
  assert.equal(authority.current(), 'ALERT');
  assert.deepEqual(await authority.history(5), [
    { from: 'NORMAL', to: 'ALERT', cause: ownText('too many denials'), atMs: 1234 },
  ]);
  assert.deepEqual(await Promise.all(hearing), [
    'ALERT ALERT {"cause":"too many denials","event":"mode_changed","from":"NORMAL","to":"ALERT"}',
  ]);
});

test('of two changes at once, the second finds another mode and is told so', async (t) => {
  const store = await openTestStore(t);
  const authority = new ModeAuthority(store);
  const [first, second] = await Promise.all([
    authority.change({ to: 'ALERT', by: 'olga', cause: ownText('one') }),
    authority.change({ to: 'LOCKDOWN', by: 'otto', cause: ownText('two') }),
  ]);
  assert.ok(!isRefusal(first));
  assert.equal(isRefusal(second) && second.code, 'STANDING_CHANGED');
  assert.equal(authority.current(), 'ALERT');
  await changeTestMode(store, 'NORMAL');
});
