import assert from 'node:assert/strict';
import { test } from 'node:test';
import { refuse } from '../call/refusal.ts';
import { clock } from '../stages/facts.test-kit.ts';
import { completed, faulted, refused } from './ending.test-kit.ts';
import { releaseHolds } from './release-holds.ts';

test('whatever the ending, what the call held is released', async () => {
  const released: string[] = [];
  const holds = { releaseKey: () => void released.push('key'), releaseTurn: () => void released.push('turn') };
  await releaseHolds.run(completed(holds), clock);
  await releaseHolds.run(refused(refuse('RULE_DENIES', 'no', 'No.'), 'judge-call', holds), clock);
  await releaseHolds.run(faulted(new Error('bug'), 'execute-tool', holds), clock);
  assert.deepEqual(released, ['key', 'turn', 'key', 'turn', 'key', 'turn']);
});

test('a call that held nothing ends quietly, and the answer waits for the release', async () => {
  await releaseHolds.run(refused(refuse('MALFORMED_CALL', 'call-shape', 'No.'), 'decode-call', {}), clock);
  assert.equal(releaseHolds.required, true);
});
