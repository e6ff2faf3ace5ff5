import assert from 'node:assert/strict';
import { test } from 'node:test';
import { requirement } from '../../../../test/requirement.ts';
import { modes } from '../call/session.ts';
import { checkMode } from './check-mode.ts';
import { assertRefused, clock, toolOf, sessionOf, runStage } from './facts.test-kit.ts';

const session = sessionOf();
const operator = sessionOf({ principal: 'operator' });
import { changeTestMode, openTestStore } from './store.test-kit.ts';

test('a tool runs in the modes it names and in no other', () => {
  const tool = toolOf({ name: 'files.write', allowedModes: ['NORMAL', 'ALERT'] });
  for (const mode of modes) {
    const result = runStage(checkMode({ readMode: () => mode }), { tool, session }, clock);
    if (mode === 'NORMAL' || mode === 'ALERT') {
      assert.partialDeepStrictEqual(result, { mode });
    } else {
      const refusal = assertRefused(result, {
        code: 'MODE_FORBIDS',
        rule: `mode-${mode.toLowerCase()}`,
        remedy: 'It is available in NORMAL, ALERT.',
      });
      assert.equal(refusal.message, `files.write may not be used in mode ${mode}.`);
    }
  }
});

test('a change of mode holds for the very next call', async (t) => {
  requirement('MODE-1');
  const store = await openTestStore(t);
  const stage = checkMode(store);
  const tool = toolOf({ allowedModes: ['NORMAL'] });
  assert.partialDeepStrictEqual(runStage(stage, { tool, session }, clock), { mode: 'NORMAL' });
  await changeTestMode(store, 'LOCKDOWN');
  assert.ok('code' in runStage(stage, { tool, session }, clock));
  await changeTestMode(store, 'NORMAL');
  assert.partialDeepStrictEqual(runStage(stage, { tool, session }, clock), { mode: 'NORMAL' });
});

test('a mode that cannot be read lets nothing through', () => {
  requirement('PIPE-2');
  const stage = checkMode({ readMode: () => assert.fail('no mode') });
  assert.throws(() => runStage(stage, { tool: toolOf(), session }, clock), /no mode/);
});

test('where a mode is closed, only what a rule names for it gets through, and administration', () => {
  const asked: string[] = [];
  const stage = checkMode(
    { readMode: () => 'LOCKDOWN' },
    {
      isClosed: (mode) => mode === 'LOCKDOWN',
      isOpenedByName: ({ name }, mode) => asked.push(`${name} ${mode}`) > 0 && name === 'files.read',
    },
  );
  assert.partialDeepStrictEqual(runStage(stage, { tool: toolOf({ name: 'files.read' }), session }, clock), {
    mode: 'LOCKDOWN',
  });
  assertRefused(runStage(stage, { tool: toolOf({ name: 'files.list' }), session }, clock), {
    code: 'MODE_FORBIDS',
    rule: 'mode-lockdown',
    remedy: 'Wait until the mode changes.',
    forOperators: 'Change the mode, or name LOCKDOWN under modes of a rule for files.list.',
  });
  assert.partialDeepStrictEqual(
    runStage(stage, { tool: toolOf({ name: 'mode.set', audience: 'operator' }), session: operator }, clock),
    {
      mode: 'LOCKDOWN',
    },
  );
  assert.deepEqual(asked, ['files.read LOCKDOWN', 'files.list LOCKDOWN']);
});
