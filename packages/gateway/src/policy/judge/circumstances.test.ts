import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Question } from '../../call/verdict.ts';
import { loadRules } from '../language/load-rules.ts';
import { ask, fakeTool, rulesOf, world, writeRules } from '../test-world.ts';

const tool = fakeTool('x.y', { scopes: [] });
const asking = (more: Partial<Question> = {}): Question => ask(tool, [], more);

/** How a rule with this condition decides, as an allowance and as a denial of what is otherwise allowed. */
function decide(condition: string, more: Partial<Question>): { readonly allows: boolean; readonly denies: boolean } {
  const allowing = rulesOf(`  - { id: a, effect: allow, tools: [x.y], ${condition} }\n`);
  const denying = rulesOf(
    `  - { id: all, effect: allow, tools: [x.y] }\n  - { id: a, effect: deny, tools: [x.y], ${condition} }\n`,
  );
  return {
    allows: allowing.judge(asking(more)).effect === 'allow',
    denies: denying.judge(asking(more)).effect === 'deny',
  };
}

const fits = { allows: true, denies: true };
const fitsNot = { allows: false, denies: false };
const unknown = { allows: false, denies: true };

// 2 January 2023 was a Monday.
const at = (day: number, hour: number, minute = 0): number => new Date(2023, 0, day, hour, minute).getTime();
const past = (name: string, startedAtMs: number) => ({ tool: name, startedAtMs });

const table: readonly (readonly [condition: string, more: Partial<Question>, expected: typeof fits])[] = [
  // Roles and teams
  ['roles: [work*]', { roles: ['boss', 'worker'] }, fits],
  ['roles: [work*]', { roles: ['boss'] }, fitsNot],
  ['roles: [work*]', { roles: [] }, fitsNot],
  ['teams: [web]', { teams: ['web'] }, fits],
  ['teams: [web]', { teams: ['Web'] }, fitsNot],
  ['roles: [a], teams: [b]', { roles: ['a'], teams: ['c'] }, fitsNot],

  // Arguments
  ['arguments: [{ pointer: /force, equals: true }]', { arguments: { force: true } }, fits],
  ['arguments: [{ pointer: /force, equals: true }]', { arguments: { force: 'true' } }, fitsNot],
  ['arguments: [{ pointer: /force, equals: true }]', { arguments: {} }, fitsNot],
  ['arguments: [{ pointer: /force, equals: true }]', {}, unknown],
  ['arguments: [{ pointer: /args, equals: [-m, x, [1]] }]', { arguments: { args: ['-m', 'x', [1]] } }, fits],
  ['arguments: [{ pointer: /args, equals: [-m, x] }]', { arguments: { args: ['-m', 'x', '--amend'] } }, fitsNot],
  ['arguments: [{ pointer: /args, equals: [-m, x] }]', { arguments: { args: ['x', '-m'] } }, fitsNot],
  ['arguments: [{ pointer: /args, equals: [] }]', { arguments: { args: {} } }, fitsNot],
  ['arguments: [{ pointer: /a/b/1, equals: x }]', { arguments: { a: { b: ['w', 'x'] } } }, fits],
  ['arguments: [{ pointer: /a/b/01, equals: x }]', { arguments: { a: { b: ['w', 'x'] } } }, fitsNot],
  ['arguments: [{ pointer: /a/length, equals: 1 }]', { arguments: { a: ['w'] } }, fitsNot],
  ['arguments: [{ pointer: /toString, matches: "*" }]', { arguments: {} }, fitsNot],
  ['arguments: [{ pointer: /__proto__/x, equals: 1 }]', { arguments: {} }, fitsNot],
  ['arguments: [{ pointer: "/a~1b/c~0d", equals: null }]', { arguments: { 'a/b': { 'c~d': null } } }, fits],
  ['arguments: [{ pointer: /, equals: 1 }]', { arguments: { '': 1 } }, fits],
  ['arguments: [{ pointer: /n, in: [1, 2] }]', { arguments: { n: 2 } }, fits],
  ['arguments: [{ pointer: /n, in: [1, 2] }]', { arguments: { n: '2' } }, fitsNot],
  ['arguments: [{ pointer: /m, matches: "fix: *" }]', { arguments: { m: 'fix: it' } }, fits],
  ['arguments: [{ pointer: /m, matches: "fix: *" }]', { arguments: { m: 'FIX: it' } }, unknown],
  ['arguments: [{ pointer: /m, matches: "*" }]', { arguments: { m: 7 } }, fitsNot],
  ['arguments: [{ pointer: /a, equals: 1 }, { pointer: /b, equals: 2 }]', { arguments: { a: 1, b: 2 } }, fits],
  ['arguments: [{ pointer: /a, equals: 1 }, { pointer: /b, equals: 2 }]', { arguments: { a: 1, b: 3 } }, fitsNot],

  // The time
  ['hours: ["08:00-18:00"]', { nowMs: at(2, 8) }, fits],
  ['hours: ["08:00-18:00"]', { nowMs: at(2, 17, 59) }, fits],
  ['hours: ["08:00-18:00"]', { nowMs: at(2, 18) }, fitsNot],
  ['hours: ["08:00-18:00"]', { nowMs: at(2, 7, 59) }, fitsNot],
  ['hours: ["22:00-06:00"]', { nowMs: at(2, 23) }, fits],
  ['hours: ["22:00-06:00"]', { nowMs: at(2, 5, 59) }, fits],
  ['hours: ["22:00-06:00"]', { nowMs: at(2, 12) }, fitsNot],
  ['hours: ["01:00-02:00", "03:00-04:00"]', { nowMs: at(2, 3, 30) }, fits],
  ['hours: ["08:00-18:00"]', {}, unknown],
  ['days: [mon, tue]', { nowMs: at(2, 12) }, fits],
  ['days: [mon, tue]', { nowMs: at(4, 12) }, fitsNot],
  ['days: [sun]', { nowMs: at(1, 0) }, fits],
  ['days: [mon], hours: ["08:00-18:00"]', { nowMs: at(2, 20) }, fitsNot],

  // What came before
  ['after: ["web.*"]', { history: [past('web.get', 0)] }, fits],
  ['after: ["web.*"]', { history: [past('files.read', 0)] }, fitsNot],
  ['after: ["web.*"]', { history: [] }, fitsNot],
  ['after: ["web.*"]', {}, unknown],
  ['after: ["web.*"], within: 10m', { history: [past('web.get', at(2, 12))], nowMs: at(2, 12, 10) }, fits],
  ['after: ["web.*"], within: 10m', { history: [past('web.get', at(2, 12))], nowMs: at(2, 12, 11) }, fitsNot],
  ['after: ["web.*"], within: 10m', { history: [past('web.get', at(2, 12))] }, unknown],
  ['after: ["web.*"], within: 30s', { history: [past('web.get', 0)], nowMs: 30_001 }, fitsNot],
  ['after: ["web.*"], within: 2h', { history: [past('a', 9), past('web.get', 0)], nowMs: 7_200_000 }, fits],
];

test('circumstances fit or not; what is not known closes and does not open', () => {
  for (const [condition, more, expected] of table) {
    assert.deepEqual(decide(condition, more), expected, `${condition} with ${JSON.stringify(more)}`);
  }
});

test('an agent with roles uses the tools of its roles only, and then the rules decide', () => {
  const folder = writeRules({
    tools: 'version: 1\nrules: [{ id: all, effect: allow, tools: ["*"] }]\n',
    roles: `version: 1
roles:
  worker: { tools: [read_file] }
  manager: { tools: ["files.w*"], extends: [worker] }
  director: { tools: ["*"] }
members:
  - { agents: ["w-*"], roles: [worker], teams: [web] }
  - { agents: [w-2, boss], roles: [manager] }
  - { agents: [ceo], roles: [director] }
  - { agents: [guest], teams: [web, ops] }
default: [worker]
`,
  });
  const rules = loadRules({ ...world, folder });
  const read = fakeTool('files.read', { scopes: [], aliases: ['read_file'] });
  const write = fakeTool('files.write', { scopes: [] });
  const other = fakeTool('other', { scopes: [] });
  const usable = (agent: string, principal: Question['principal'] = 'agent'): readonly string[] =>
    [read, write, other]
      .filter((each) => rules.judge(ask(each, [], { agent, principal })).effect === 'allow')
      .map(({ name }) => name);
  assert.deepEqual(usable('w-1'), ['files.read']);
  assert.deepEqual(usable('w-2'), ['files.read', 'files.write']);
  assert.deepEqual(usable('boss'), ['files.read', 'files.write']);
  assert.deepEqual(usable('ceo'), ['files.read', 'files.write', 'other']);
  assert.deepEqual(usable('nobody'), ['files.read']);
  assert.deepEqual(usable('guest'), ['files.read', 'files.write', 'other']);
  assert.deepEqual(usable('w-1', 'operator'), ['files.read', 'files.write', 'other']);
  assert.deepEqual(rules.membershipOf('w-2'), { roles: ['worker', 'manager'], teams: ['web'] });

  const denial = rules.judge(ask(write, [], { agent: 'w-1' }));
  assert.deepEqual(
    [denial.code, denial.rule],
    ['RULE_DENIES', { id: 'outside-role', file: `${folder}/roles.yaml`, line: 1 }],
  );
  assert.equal(rules.judge(ask(write, [], { agent: 'w-1', roles: ['director'] })).effect, 'allow');
  assert.ok(rules.judgePaths({ ...ask(write, [], { agent: 'w-1' }), consented: true }).judge('/a', 'read'));
});
