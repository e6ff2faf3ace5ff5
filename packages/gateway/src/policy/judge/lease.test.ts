import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { requirement } from '../../../../../test/requirement.ts';
import type { Lease } from '../../call/session.ts';
import type { Resources } from '../../call/tool.ts';
import { leaseOf, nowMs } from '../../stages/facts.test-kit.ts';
import { coversPath, findOutside, leaseRefusal } from './lease.ts';

const claimOf = (...paths: readonly string[]): Resources => ({
  paths: paths.map((path) => ({ path, access: 'read' })),
});

/** What each list of a lease lets through, and what it does not. */
const kinds: {
  readonly [Kind in 'paths' | 'hosts' | 'commands' | 'gitOperations' | 'providers' | 'models']: {
    readonly names: readonly string[];
    readonly inside: readonly string[];
    readonly outside: readonly string[];
    readonly claim: (name: string) => Resources;
  };
} = {
  paths: {
    names: ['/work', '/srv/one.txt'],
    inside: ['/work', '/work/a', '/work/a/b', '/srv/one.txt'],
    outside: ['/', '/workshop', '/workshop/a', '/work.txt', '/wor', '/srv', '/srv/one.txt.bak', '/x/work/a', '/WORK/a'],
    claim: claimOf,
  },
  hosts: {
    names: ['api.example.com', '*.example.org'],
    inside: ['api.example.com', 'a.example.org', 'a.b.example.org'],
    outside: [
      'example.com',
      'example.org',
      'api.example.com.evil.net',
      'evil-api.example.com',
      '',
      '*',
      'a.example.orgx',
    ],
    claim: (host) => ({ ...claimOf(), hosts: [host] }),
  },
  commands: {
    names: ['git', 'npm'],
    inside: ['git', 'npm'],
    outside: ['npx', 'gi', 'git ', '/usr/bin/git', 'git-upload-pack', 'GIT'],
    claim: (command) => ({ ...claimOf(), commands: [command] }),
  },
  gitOperations: {
    names: ['DIFF'],
    inside: ['DIFF'],
    outside: ['PUSH', 'diff', 'DIFF_PUSH'],
    claim: (gitOperation) => ({ ...claimOf(), gitOperation }),
  },
  providers: {
    names: ['local'],
    inside: ['local'],
    outside: ['remote', 'local2'],
    claim: (provider) => ({ ...claimOf(), provider }),
  },
  models: {
    names: ['small-*'],
    inside: ['small-1', 'small-'],
    outside: ['large-1', 'small', 'xsmall-1'],
    claim: (model) => ({ ...claimOf(), model }),
  },
};

test('a lease names tools by their canonical names or by patterns of them', () => {
  requirement('PERM-2');
  for (const pattern of ['files.read', 'files.*', '*.read', 'f*s.r*d', '*']) {
    assert.equal(findOutside(leaseOf({ tools: ['git.*', pattern] }), 'files.read', claimOf()), undefined, pattern);
  }
  for (const pattern of ['files.write', 'files', 'files.read.*', 'iles.read', 'FILES.READ', '', 'f?les.read']) {
    assert.equal(findOutside(leaseOf({ tools: [pattern] }), 'files.read', claimOf()), 'files.read', pattern);
  }
  assert.equal(findOutside(leaseOf({ tools: [] }), 'files.read', claimOf()), 'files.read');
});

for (const [kind, { names, inside, outside, claim }] of Object.entries(kinds)) {
  const check = (more: Partial<Lease>, name: string) => findOutside(leaseOf(more), 'notes.read', claim(name));

  test(`a lease that lists ${kind} lets through what it lists, and says what it does not`, () => {
    requirement('PERM-2');
    for (const name of inside) assert.equal(check({ [kind]: names }, name), undefined, name);
    for (const name of outside) assert.equal(check({ [kind]: names }, name), name, name);
  });

  test(`a lease without a list of ${kind} does not narrow them; an empty list allows none`, () => {
    requirement('PERM-2');
    for (const name of inside) {
      assert.equal(check({}, name), undefined, name);
      assert.equal(check({ [kind]: [] }, name), name);
    }
  });

  test(`a call that reaches no ${kind} is not stopped by an empty list of them`, () => {
    assert.equal(findOutside(leaseOf({ [kind]: [] }), 'notes.read', claimOf()), undefined);
  });
}

test('one thing outside is enough, wherever it stands', () => {
  requirement('PERM-2');
  const lease = leaseOf({ paths: ['/work'], hosts: ['a'], commands: ['git'] });
  assert.equal(findOutside(lease, 'notes.read', claimOf('/work/a', '/work/b', '/etc/passwd')), '/etc/passwd');
  assert.equal(findOutside(lease, 'notes.read', { ...claimOf('/work/a'), hosts: ['a', 'b'] }), 'b');
  const commands = ['git status --short', "sh -c 'git status'"];
  assert.equal(findOutside(lease, 'notes.read', { ...claimOf('/work/a'), hosts: ['A:8443'], commands }), commands[1]);
});

test('a root covers exactly itself and what has it as its first components', () => {
  requirement('PERM-2');
  // Few letters, so that one name is often the beginning of another.
  const component = fc.string({ unit: fc.constantFrom('a', 'b', '.'), minLength: 1, maxLength: 3 });
  const components = fc.array(component, { minLength: 1, maxLength: 4 });
  fc.assert(
    fc.property(components, components, (root, path) => {
      const expected = root.every((name, at) => path[at] === name);
      assert.equal(coversPath(leaseOf({ paths: [`/${root.join('/')}`] }), `/${path.join('/')}`), expected);
    }),
  );
});

test('the root of the file system covers everything', () => {
  assert.ok(coversPath(leaseOf({ paths: ['/'] }), '/etc/passwd'));
});

test('a lease can be used until it ends or expires', () => {
  requirement('PERM-2');
  assert.equal(leaseRefusal(leaseOf(), nowMs), undefined);
  assert.equal(leaseRefusal(leaseOf({ expiresAtMs: nowMs + 1 }), nowMs), undefined);
  const expired = leaseRefusal(leaseOf({ expiresAtMs: nowMs }), nowMs);
  assert.equal(expired?.code, 'OUTSIDE_LEASE');
  assert.equal(expired.message, 'The lease of this session has expired.');
  for (const endedAtMs of [0, nowMs - 1, nowMs + 1]) {
    const ended = leaseRefusal(leaseOf({ endedAtMs, expiresAtMs: nowMs + 1 }), nowMs);
    assert.equal(ended?.message, 'The lease of this session has ended.', 'ending is final, whatever the clock says');
    assert.equal(ended.remedy, 'Ask the operator for a new lease.');
  }
});
