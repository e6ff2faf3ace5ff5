import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { requirement } from '../../../../../test/requirement.ts';
import { modes } from '../../call/session.ts';
import type { Question } from '../../call/verdict.ts';
import { loadRules } from './load-rules.ts';
import { readRuleSet } from './read-rule-set.ts';
import { accesses, effects, principals } from './rule.ts';
import type { Rule } from './rule.ts';
import { ask, rulesOf, world } from '../test-world.ts';

test('a rule that is tried out decides nothing, and the verdict says what it would do', () => {
  const rules = rulesOf(`
  - { id: read, effect: allow, tools: [files.read] }
  - { id: no-docs, effect: deny, tools: [files.read], paths: [/docs/**], shadow: true, reason: Under review. }
  - { id: write, effect: allow, tools: [files.write], shadow: true, accept_new: true }
`);
  const docs = rules.judge(ask('files.read', ['/docs/a']));
  assert.deepEqual(
    [docs.effect, docs.rule.id, docs.shadow?.effect, docs.shadow?.rule.id],
    ['allow', 'read', 'deny', 'no-docs'],
  );
  assert.match(docs.shadow?.reason ?? '', /Under review/);
  assert.equal('shadow' in rules.judge(ask('files.read', ['/src/a'])), false);
  const write = rules.judge(ask('files.write', ['/a']));
  assert.deepEqual([write.effect, write.rule.id, write.shadow?.effect], ['deny', 'default-deny', 'allow']);
  assert.equal(rules.judgePaths({ ...ask('files.read', []), consented: false }).judge('/docs/a', 'read'), undefined);
  assert.equal(rules.acceptsNew('files.write'), false);
});

const someRules = fc.array(
  fc.record({
    effect: fc.constantFrom(...effects),
    tools: fc.constantFrom('files.read', 'files.*', '*'),
    path: fc.constantFrom('/a/**', '/a/b', '/**', '/c/*'),
    shadow: fc.boolean(),
  }),
  { maxLength: 6 },
);
const someQuestion: fc.Arbitrary<Question> = fc
  .tuple(fc.constantFrom('files.read', 'files.write'), fc.subarray(['/a', '/a/b', '/c/d', '/e']))
  .map(([tool, paths]) => ask(tool, paths));

test('what is tried out is what would be decided if it were in force', () => {
  fc.assert(
    fc.property(someRules, someQuestion, (rules, question) => {
      const text = (enforced: (shadow: boolean) => string | undefined): string => {
        const lines = rules.map(({ effect, tools, path, shadow }, at) => {
          const more = enforced(shadow);
          return more === undefined
            ? ''
            : `  - { id: r${at}, effect: ${effect}, tools: ["${tools}"], paths: ["${path}"]${more} }\n`;
        });
        return lines.join('') || '  []\n';
      };
      const tried = rulesOf(text((shadow) => (shadow ? ', shadow: true' : ''))).judge(question);
      const without = rulesOf(text((shadow) => (shadow ? undefined : ''))).judge(question);
      const enforced = rulesOf(text(() => '')).judge(question);
      assert.deepEqual([tried.effect, tried.rule.id], [without.effect, without.rule.id]);
      const said = tried.shadow ?? tried;
      assert.deepEqual([said.effect, said.rule.id], [enforced.effect, enforced.rule.id]);
    }),
    { numRuns: 30 },
  );
});

const subset = <T>(values: readonly T[]) => fc.subarray([...values], { minLength: 1 });
const conditions = {
  who: subset(principals),
  agents: subset(['coder', 'x*']),
  roles: subset(['worker', 'lead']),
  teams: subset(['web', '*']),
  modes: subset(modes),
  arguments: subset([
    { pointer: '/n', test: { kind: 'equals', value: 1 } },
    { pointer: '/s', test: { kind: 'matches', pattern: 'a*' } },
  ] as const),
  hours: subset([{ from: 0, to: 720 }]),
  after: fc.constant({ tools: ['files.list'] }),
  paths: subset(['/a/**', '/a/b', '/**', '/c/*', '$WORKSPACE/**/*.k']),
  exceptPaths: subset(['/a/b', '/**/d']),
  access: subset(accesses),
  commands: subset(['git *', 'rm x']),
  hosts: subset(['a.c', '*']),
  exceptHosts: subset(['a.c', 'b.c']),
};
/** Rules with up to three conditions, of any kind. */
const anyRule: fc.Arbitrary<Rule> = fc
  .tuple(
    fc.record({
      id: fc.uuid(),
      effect: fc.constantFrom(...effects),
      tools: subset(['files.read', 'files.*', '*']),
      approvalWaived: fc.boolean(),
    }),
    fc.record(conditions),
    fc.subarray(Object.keys(conditions) as (keyof typeof conditions)[], { maxLength: 3 }),
  )
  .map(([rule, possible, chosen]) => ({
    ...rule,
    ...{ acceptsNew: false, shadow: false, examples: [], file: 'tools.yaml', line: 1 },
    ...Object.fromEntries(chosen.map((key) => [key, possible[key]])),
  }));
const anyQuestion: fc.Arbitrary<Question> = fc
  .record({
    principal: fc.constantFrom(...principals),
    agent: fc.constantFrom('coder', 'xena'),
    mode: fc.constantFrom(...modes),
    roles: fc.subarray(['worker', 'lead']),
    teams: fc.subarray(['web']),
    arguments: fc.constantFrom({}, { n: 1 }, { n: 1, s: 'ab' }),
    history: fc.constantFrom([], [{ tool: 'files.list', startedAtMs: 0 }]),
    nowMs: fc.constantFrom(0, 13 * 3_600_000),
    resources: fc.record({
      paths: fc.array(
        fc.record({ path: fc.constantFrom('/a', '/a/b', '/c/d', '/w/x.k'), access: fc.constantFrom(...accesses) }),
        { maxLength: 2 },
      ),
      commands: fc.subarray(['git push', 'rm x']),
      hosts: fc.subarray(['a.c', 'e.org']),
    }),
  })
  .map((more) => ask('files.read', [], more));

test('of any rule, what is said while it is tried out is what it decides once it is in force', () => {
  requirement('MODE-7');
  const nothing = readRuleSet([]);
  const judgeBy = (rules: readonly Rule[]) =>
    loadRules({ ...world, folder: '/rules' }, [], { ...nothing, set: { ...nothing.set, rules } }).judge;
  let differing = 0;
  fc.assert(
    fc.property(
      fc.array(anyRule, { maxLength: 20 }),
      anyRule,
      fc.nat(20),
      anyQuestion,
      (others, rule, at, question) => {
        const tried = judgeBy(others.toSpliced(at, 0, { ...rule, shadow: true }))(question);
        const without = judgeBy(others)(question);
        const enforced = judgeBy(others.toSpliced(at, 0, rule))(question);
        const { shadow, ...inForce } = tried;
        assert.deepEqual(inForce, without);
        if (shadow === undefined) assert.deepEqual([without.effect, without.rule], [enforced.effect, enforced.rule]);
        else assert.deepEqual(shadow, { effect: enforced.effect, rule: enforced.rule, reason: enforced.reason });
        if (shadow !== undefined) differing++;
      },
    ),
    { numRuns: 150 },
  );
  assert.ok(differing > 10, 'the rule hardly ever made a difference, so nothing was compared');
});
