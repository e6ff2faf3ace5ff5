import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { modes } from '../../call/session.ts';
import type { Question } from '../../call/verdict.ts';
import { effects } from '../language/rule.ts';
import { ask, fakeTool, rulesOf } from '../test-world.ts';
import { howMuch } from '../../../../../test/harness/how-much.ts';

const rules = rulesOf(`
  - { id: read, effect: allow, tools: [files.read], paths: ["$WORKSPACE/**"], access: [read] }
  - { id: write, effect: allow, tools: [files.write] }
  - { id: people, effect: allow, tools: ["files.*"], who: [operator] }
  - { id: alert, effect: deny, tools: ["files.*"], modes: [ALERT] }
  - { id: reviewers, effect: deny, tools: [files.read], agents: [review-*] }
  - { id: evening, effect: deny, tools: [files.read], hours: ["18:00-20:00"] }
  - { id: git, effect: allow, tools: ["*"], commands: [git *] }
  - { id: secret, effect: deny, tools: ["*"], paths: ["/**/.env"], shadow: true }
`);

test('every rule says why it does not match, and the one that decides is marked', () => {
  const question = ask('files.read', ['/home/ada/work/a'], { nowMs: new Date(2023, 0, 2, 12).getTime() });
  const { verdict, considered } = rules.explain(question);
  assert.deepEqual(verdict, rules.judge(question));
  assert.deepEqual(
    considered.map(({ rule, mismatch, decides }) => [rule.id, mismatch ?? (decides ? 'decides' : 'matches')]),
    [
      ['read', 'decides'],
      ['write', 'the rule does not name the tool files.read'],
      ['people', 'the rule is not for agent'],
      ['alert', 'the rule is not for mode NORMAL'],
      ['reviewers', 'the rule is not for coder'],
      ['evening', 'the rule is for other hours'],
      ['git', 'the rule looks at commands and the call names none'],
      ['secret', 'the rule does not cover read access to /home/ada/work/a'],
    ],
  );
  assert.deepEqual(
    considered.filter(({ shadow }) => shadow).map(({ rule }) => rule.id),
    ['secret'],
  );
  const odd = rules.explain(ask('files.read', ['/a/../b'])).considered;
  assert.ok(odd.every(({ mismatch }) => mismatch?.includes('no rule can be compared with')));
});

const someRules = fc.array(
  fc.record({
    effect: fc.constantFrom(...effects),
    tools: fc.constantFrom('files.read', 'files.*', 'other'),
    conditions: fc.subarray([
      'paths: ["/a/**"]',
      'access: [read]',
      'commands: ["git *"]',
      'hosts: [a.c]',
      'modes: [NORMAL]',
      'agents: [c*]',
      'roles: [r]',
      'arguments: [{ pointer: /x, equals: 1 }]',
    ]),
  }),
  { minLength: 1, maxLength: 8 },
);
const someQuestion: fc.Arbitrary<Question> = fc
  .record({
    scopes: fc.subarray(['paths', 'commands', 'network'] as const),
    mode: fc.constantFrom(...modes),
    agent: fc.constantFrom('coder', 'eve'),
    paths: fc.constantFrom([], ['/a/b'], ['/c'], ['write /a/b']),
    commands: fc.constantFrom(undefined, ['git log'], ['rm x']),
    hosts: fc.constantFrom(undefined, ['a.c']),
    args: fc.constantFrom(undefined, { x: 1 }, { x: 2 }),
  })
  .map(({ scopes, mode, agent, paths, commands, hosts, args }) => {
    const question = ask(fakeTool('files.read', { scopes }), paths, { mode, agent });
    const things = { ...(commands === undefined ? {} : { commands }), ...(hosts === undefined ? {} : { hosts }) };
    return {
      ...question,
      ...(args === undefined ? {} : { arguments: args }),
      resources: { ...question.resources, ...things },
    };
  });

test('for a call that names one thing of each kind, the rules that match are those that decide', () => {
  fc.assert(
    fc.property(someRules, someQuestion, (written, question) => {
      const lines = written.map(
        ({ effect, tools, conditions }, at) =>
          `  - { ${[`id: r${at}`, `effect: ${effect}`, `tools: ["${tools}"]`, ...conditions].join(', ')} }\n`,
      );
      const loaded = rulesOf(lines.join(''));
      const { verdict, considered } = loaded.explain(question);
      assert.deepEqual(verdict, loaded.judge(question));
      const matching = considered.filter(({ mismatch }) => mismatch === undefined);
      const first = (['deny', 'require_approval', 'allow'] as const)
        .map((effect) => matching.find((each) => each.effect === effect))
        .find((each) => each !== undefined);
      assert.deepEqual(
        [verdict.effect, verdict.rule.id],
        first === undefined ? ['deny', 'default-deny'] : [first.effect, first.rule.id],
      );
      assert.deepEqual(
        considered.filter(({ decides }) => decides),
        first === undefined ? [] : [first],
      );
    }),
    { numRuns: howMuch({ usually: 75, long: 300 }) },
  );
});
