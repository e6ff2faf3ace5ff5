import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Leased } from '../model/call.ts';
import type { Refusal } from '../model/refusal.ts';
import { checkLease } from './check-lease.ts';
import { assertPassed, assertRefused, clock, operator, sessionOf, toolOf } from './facts.test-kit.ts';

function check(tools: readonly string[], name: string): Leased | Refusal {
  const facts = { session: sessionOf({ lease: { tools } }), tool: toolOf({ name, aliases: ['read_file'] }) };
  return checkLease.run(facts, clock) as Leased | Refusal;
}

test('a lease names tools, or patterns of their names', () => {
  for (const pattern of ['files.read', 'files.*', '*.read', 'f*s.r*d', '*']) {
    assert.deepEqual(assertPassed(check([pattern], 'files.read')), { leaseChecked: true }, pattern);
  }
  assertPassed(check(['git.*', 'files.read'], 'files.read'));
});

test('what no pattern names is outside the lease', () => {
  for (const tools of [
    [],
    ['files.write'],
    ['files'],
    ['files.read.*'],
    ['iles.read'],
    ['FILES.READ'],
    ['read_file'],
    [''],
  ]) {
    assertRefused(check(tools, 'files.read'), {
      code: 'OUTSIDE_LEASE',
      rule: 'lease',
      remedy: 'Ask the operator for a session whose lease includes files.read.',
    });
  }
});

test('the lease of an operator is held as well', () => {
  const session = { ...operator, lease: { tools: ['sessions.*'] } };
  const facts = { session, tool: toolOf({ name: 'files.read' }) };
  assert.ok('code' in checkLease.run(facts, clock));
});
