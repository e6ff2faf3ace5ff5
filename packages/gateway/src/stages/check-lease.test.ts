import assert from 'node:assert/strict';
import { test } from 'node:test';
import { requirement } from '../../../../test/requirement.ts';
import type { Leased } from '../call/call.ts';
import type { Refusal } from '../call/refusal.ts';
import type { Lease, Session } from '../call/session.ts';
import type { Resources } from '../call/tool.ts';
import { checkLease } from './check-lease.ts';
import {
  argumentsOf,
  assertPassed,
  assertRefused,
  clock,
  leaseOf,
  nowMs,
  operator,
  sessionOf,
  toolOf,
  runStage,
} from './facts.test-kit.ts';

function check(session: Session, name = 'files.read', reached: Partial<Resources> = {}): Leased | Refusal {
  const tool = toolOf({ name, aliases: ['read_file'] });
  const resources = { paths: [], ...reached };
  return runStage(checkLease, { ...argumentsOf(), resources, session, tool }, clock) as Leased | Refusal;
}

const leased = (more: Partial<Lease>): Session => sessionOf({ lease: leaseOf(more) });

function assertOutside(answer: Leased | Refusal, what: string): void {
  const { message, forOperators = '' } = assertRefused(answer, {
    code: 'OUTSIDE_LEASE',
    rule: 'lease',
    remedy: 'Ask the operator for a lease that includes it.',
  });
  assert.equal(message, `The lease of this session does not include ${what}.`);
  assert.ok(forOperators.endsWith(` a lease that includes ${what}.`), forOperators);
}

test('a lease names tools, or patterns of their names', () => {
  for (const pattern of ['files.read', 'files.*', '*.read', 'f*s.r*d', '*']) {
    const lease = leaseOf({ tools: [pattern] });
    assert.equal(assertPassed(check(sessionOf({ lease }))).lease, lease, pattern);
  }
  assertPassed(check(leased({ tools: ['git.*', 'files.read'] })));
});

test('what no pattern names is outside the lease', () => {
  requirement('PERM-2');
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
    assertOutside(check(leased({ tools })), 'files.read');
  }
});

const reaches: readonly [
  kind: string,
  lease: Partial<Lease>,
  inside: Partial<Resources>,
  beyond: Partial<Resources>,
  what: string,
][] = [
  ['path', { paths: ['/work'] }, pathOf('/work/a'), pathOf('/workshop/a'), '/workshop/a'],
  ['host', { hosts: ['*.example.com'] }, { hosts: ['a.example.com'] }, { hosts: ['a.example.net'] }, 'a.example.net'],
  ['command', { commands: ['git'] }, { commands: ['git'] }, { commands: ['git', 'sh'] }, 'sh'],
  ['git operation', { gitOperations: ['DIFF'] }, { gitOperation: 'DIFF' }, { gitOperation: 'PUSH' }, 'PUSH'],
  ['provider', { providers: ['local'] }, { provider: 'local' }, { provider: 'remote' }, 'remote'],
  ['model', { models: ['small-*'] }, { model: 'small-1' }, { model: 'large-1' }, 'large-1'],
];

function pathOf(path: string): Partial<Resources> {
  return { paths: [{ path, access: 'write' }] };
}

for (const [kind, lease, inside, beyond, what] of reaches) {
  test(`a ${kind} that the lease does not list is refused, and named`, () => {
    requirement('PERM-2');
    assertPassed(check(leased(lease), 'files.read', inside));
    assertOutside(check(leased(lease), 'files.read', beyond), what);
    const none = Object.fromEntries(Object.keys(lease).map((list) => [list, []]));
    assert.ok('code' in check(leased(none), 'files.read', inside), 'an empty list allows nothing');
    assertPassed(check(leased({}), 'files.read', beyond));
  });
}

test('a lease that ended or expired covers nothing any more', () => {
  requirement('PERM-2');
  const over = { code: 'OUTSIDE_LEASE', rule: 'lease', remedy: 'Ask the operator for a new lease.' } as const;
  assertRefused(check(leased({ endedAtMs: nowMs - 1 })), over);
  assertRefused(check(leased({ expiresAtMs: nowMs })), over);
  assertPassed(check(leased({ expiresAtMs: nowMs + 1 })));
});

test('a path cannot write into the terminal of the one who reads the refusal', () => {
  const refusal = check(leased({ paths: ['/work'] }), 'files.read', pathOf(`/a\u001b[2J\n${'x'.repeat(4000)}`));
  assert.ok('code' in refusal);
  for (const text of [refusal.message, refusal.remedy ?? '']) {
    assert.doesNotMatch(text, /\p{Cc}/u);
    assert.ok(text.length < 400, text);
  }
});

test('the lease of an operator is held as well', () => {
  assert.ok('code' in check({ ...operator, lease: leaseOf({ tools: ['sessions.*'] }) }));
});
