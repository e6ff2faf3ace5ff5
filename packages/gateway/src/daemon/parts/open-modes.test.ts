import assert from 'node:assert/strict';
import { tmpdir } from 'node:os';
import { test } from 'node:test';
import type { LoadedRules } from '../../policy/language/load-rules.ts';
import { defaultModePolicy } from '../../policy/judge/mode-policy.ts';
import { rulesOf } from '../../stages/facts.test-kit.ts';
import { changeTestMode, openTestStore } from '../../stages/store.test-kit.ts';
import type { EventLog } from '../../telemetry/event-log.ts';
import type { Home } from '../home/home.ts';
import { openModes } from './open-modes.ts';

test('each mode has its own number of places, the lower of it and of the limits, from the next call on', async (t) => {
  const store = await openTestStore(t);
  const rules = { ...rulesOf(), modes: defaultModePolicy, opensByName: () => false } as unknown as LoadedRules;
  const modes = openModes({
    home: { folder: tmpdir() } as Home,
    store,
    currentRules: () => rules,
    log: {} as EventLog,
  });
  const found: Record<string, unknown> = {};
  for (const mode of ['NORMAL', 'ALERT', 'DEGRADED', 'LOCKDOWN', 'RECOVERY'] as const) {
    await changeTestMode(store, mode);
    found[mode] = [modes.turnLimits().maxRunning, modes.forGateway.modes.isClosed(store.readMode())];
  }
  assert.deepEqual(found, {
    NORMAL: [64, false],
    ALERT: [32, false],
    DEGRADED: [8, false],
    // What a rule names for it still needs a place.
    LOCKDOWN: [8, true],
    RECOVERY: [8, false],
  });
  const { limits } = rules;
  Object.assign(rules, { limits: { ...limits, maxRunning: 5 } });
  assert.equal(modes.turnLimits().maxRunning, 5);
});
