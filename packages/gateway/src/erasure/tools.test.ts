import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ToolRefused } from '../call/tool.ts';
import { sessionOf } from '../stages/facts.test-kit.ts';
import { openSharedStore } from '../stages/store.test-kit.ts';
import { erasureTools } from './tools.ts';

const open = async (isDirector: boolean) =>
  erasureTools({
    store: await openSharedStore(),
    isAdministration: () => false,
    isDirector: () => isDirector,
    archive: { write: () => '', findMissing: () => [] },
    archiveFolder: '/archive',
    keepDays: () => undefined,
    onRequested: () => undefined,
    nowMs: () => 1,
  });

test('only a director erases, cancels and archives, no agent sees any of it, and erasing is critical', async () => {
  const person = sessionOf({ principal: 'operator' });
  for (const { definition } of await open(true)) assert.equal(definition.audience, 'operator');
  for (const tool of await open(false)) {
    const isFree = !tool.definition.mutates;
    const claim = () => tool.claim({}, person);
    if (isFree) assert.deepEqual(claim(), { paths: [] });
    else assert.throws(claim, (error) => error instanceof ToolRefused && /Only a director/.test(error.message));
  }
  const [erase] = await open(true);
  assert.deepEqual(erase?.claim({}, person), { paths: [] });
  assert.deepEqual(
    [erase?.definition.risk, erase?.definition.confirmation, erase?.definition.requiresApproval],
    ['critical', 'always', true],
  );
});
