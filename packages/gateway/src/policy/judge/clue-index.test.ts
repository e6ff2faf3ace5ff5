import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { modes } from '../../call/session.ts';
import { noGrants } from '../../call/verdict.ts';
import type { Question } from '../../call/verdict.ts';
import { createPathClaimer, readClaims } from './claims.ts';
import { indexByClue } from './clue-index.ts';
import { compileRule, fitsCircumstances } from '../language/compile-rules.ts';
import type { CompiledRule } from '../language/compile-rules.ts';
import { coversSomeOfEach } from './cover-claims.ts';
import { indexRules } from './rule-index.ts';
import { builtInRules, createRuleJudge } from './rule-judge.ts';
import { accesses, effects, principals } from '../language/rule.ts';
import type { Rule } from '../language/rule.ts';
import { ask, fakeTool } from '../test-world.ts';
import { howMuch } from '../../../../../test/harness/how-much.ts';

const variables = { HOME: ['/h'], WORKSPACE: ['/w'] };
const parts = {
  protectedPaths: { explain: () => undefined },
  variables,
  place: { howToAdd: 'add', workspace: '/w', ruleIds: new Set<string>() },
};
const subset = <T>(values: readonly T[]) => fc.subarray([...values], { minLength: 1 });

// Few letters, so that patterns and paths meet; some of them are one letter to a lax file system.
const name = fc.constantFrom('a', 'b', 'A', 'ab', 'a.k', 'b.K', '\u00e9', 'e\u0301', 'E\u0301', 'a\u200b', 'x');
const glob = fc.constantFrom('*', '**', '*.k', 'a*', '?', '*\u00e9', 'a*k', '*.*', 'a?k');
const pattern = fc
  .tuple(
    fc.constantFrom('/', '$WORKSPACE/', '$HOME/', '/w/'),
    fc.array(fc.oneof(name, glob), { minLength: 1, maxLength: 4 }),
  )
  .map(([start, components]) => start + components.join('/'));
const path = fc
  .tuple(fc.constantFrom('/', '/w/', '/h/', '/W/'), fc.array(name, { minLength: 1, maxLength: 4 }))
  .map(([start, components]) => start + components.join('/'));

const ruleArbitrary: fc.Arbitrary<Rule> = fc.record(
  {
    id: fc.uuid(),
    effect: fc.constantFrom(...effects),
    tools: subset(['files.read', 'files.*', '*']),
    approvalWaived: fc.boolean(),
    acceptsNew: fc.constant(false),
    shadow: fc.constant(false),
    examples: fc.constant([]),
    file: fc.constant('tools.yaml'),
    line: fc.constant(1),
    agents: subset(['coder', 'xena', 'x*', 'CODER']),
    arguments: subset([
      { pointer: '/n', test: { kind: 'equals', value: 1 } },
      { pointer: '/n', test: { kind: 'in', values: [2, '1', true] } },
      { pointer: '/n', test: { kind: 'equals', value: { deep: 1 } } },
      { pointer: '/s/0', test: { kind: 'matches', pattern: 'a*' } },
    ] as const),
    paths: fc.array(pattern, { minLength: 1, maxLength: 3 }),
    exceptPaths: fc.array(pattern, { minLength: 1, maxLength: 2 }),
    access: subset(accesses),
    commands: subset(['git *', 'git status', 'git "status" *', 'rm *', '*', 'g* status', "'git'"]),
    hosts: subset(['a.c', '*.a.c', 'A.C:8443', '*']),
    exceptHosts: subset(['a.c', '*.a.c']),
    gitOperations: subset(['DIFF', 'diff', 'PU*']),
    providers: subset(['Open*', 'Local', 'local']),
    models: subset(['m1', 'M1', 'm*']),
    apps: subset(['Mail', 'mail*', 'photos']),
  },
  { requiredKeys: ['id', 'effect', 'tools', 'approvalWaived', 'acceptsNew', 'shadow', 'examples', 'file', 'line'] },
);
const many = fc.array(ruleArbitrary, { minLength: 13, maxLength: 50 });

const questionArbitrary: fc.Arbitrary<Question> = fc.record(
  {
    tool: fc
      .record({
        scopes: fc.constantFrom([], ['paths'], ['commands', 'network'], ['apps', 'paths']),
        requiresSandbox: fc.boolean(),
        mutates: fc.boolean(),
      })
      .map((properties) => fakeTool('files.read', properties as Partial<Question['tool']>)),
    principal: fc.constantFrom(...principals),
    agent: fc.constantFrom('coder', 'xena', 'Coder'),
    mode: fc.constantFrom(...modes),
    arguments: fc.constantFrom({}, { n: 1 }, { n: '1' }, { n: 2, s: ['ab'] }, { n: { deep: 1 } }),
    resources: fc.record(
      {
        paths: fc.array(fc.record({ path, access: fc.constantFrom(...accesses) }), { maxLength: 2 }),
        commands: fc.array(fc.constantFrom('git status', 'git status -s', 'git', 'rm x'), { maxLength: 2 }),
        hosts: fc.array(fc.constantFrom('a.c', 'A.C.', 'b.a.c', 'a.c:8443', 'e.org'), { maxLength: 2 }),
        gitOperation: fc.constantFrom('DIFF', 'push'),
        provider: fc.constantFrom('OpenX', 'local', 'LOCAL'),
        model: fc.constantFrom('m1', 'M1'),
        apps: fc.array(fc.constantFrom('Mail', 'mail', 'Photos'), { maxLength: 2 }),
      },
      { requiredKeys: ['paths'] },
    ),
  },
  { requiredKeys: ['tool', 'principal', 'agent', 'mode', 'resources'] },
);

const compileAll = (rules: readonly Rule[]): CompiledRule[] => rules.map((rule) => compileRule(rule));

test('no rule that covers a call is missed, and those found stand in the order of the file', () => {
  fc.assert(
    fc.property(many, questionArbitrary, (rules, question) => {
      const compiled = compileAll(rules);
      const claims = readClaims(question.resources, createPathClaimer(variables));
      if ('text' in claims) return;
      const found = indexByClue(compiled)(question, claims);
      const covers = (rule: CompiledRule) =>
        coversSomeOfEach(rule, question, claims) && fitsCircumstances(rule, question);
      assert.deepEqual(found.filter(covers), compiled.filter(covers));
      const places = found.map((rule) => compiled.indexOf(rule));
      assert.deepEqual(
        places,
        [...new Set(places)].sort((a, b) => a - b),
      );
    }),
    { numRuns: howMuch({ usually: 60, long: 200 }) },
  );
});

test('the answer is the one that looking at every rule gives, with the same rule and the same words', () => {
  fc.assert(
    fc.property(many, questionArbitrary, (rules, question) => {
      const compiled = compileAll(rules);
      const indexed = createRuleJudge({ ...parts, rules: compiled });
      const naive = createRuleJudge(
        { ...parts, rules: compiled },
        indexRules(compiled, (listed) => () => listed),
      );
      const [found, expected] = [indexed.judge(question), naive.judge(question)];
      // Which rule came near when none matched is advice, and may be another one of them.
      const isAdvised = expected.rule.id === builtInRules.nothingMatches;
      assert.deepEqual(found, isAdvised ? { ...expected, reason: found.reason } : expected);
    }),
    { numRuns: howMuch({ usually: 60, long: 200 }) },
  );
});

test('what is granted with a star is closed by a rule about any host that the star stands for', () => {
  const written = {
    approvalWaived: false,
    acceptsNew: false,
    shadow: false,
    examples: [],
    file: 'tools.yaml',
    line: 1,
  };
  const hosts = Array.from({ length: 20 }, (_, at) => `h${at}.example.com`);
  const rules = [
    ...hosts.map((host): Rule => ({ ...written, id: host, effect: 'deny', tools: ['*'], hosts: [host] })),
    {
      ...written,
      id: 'open',
      effect: 'allow',
      tools: ['*'],
      grants: { ...noGrants, read: [], write: [], secrets: [], hosts: ['*.example.com'] },
    } satisfies Rule,
  ];
  const { judge } = createRuleJudge({ ...parts, rules: compileAll(rules) });
  assert.equal(judge(ask(fakeTool('x.y', { scopes: ['network'], requiresSandbox: true }), [])).rule.id, hosts[0]);
});

test('of a thousand rules a call meets the few that it has something in common with', () => {
  const base = {
    id: 'x',
    effect: 'allow',
    tools: ['*'],
    approvalWaived: false,
    acceptsNew: false,
    shadow: false,
  } as const;
  const written = { examples: [], file: 'tools.yaml', line: 1 };
  const condition: Record<string, (at: number) => Partial<Rule>> = {
    suffix: (at) => ({ paths: [`$WORKSPACE/**/*.k${at}`] }),
    inside: (at) => ({ paths: [`/**/d${at}/**`], effect: 'deny' }),
    shared: (at) => ({ paths: ['$WORKSPACE/**'], commands: [`git sub${at} *`] }),
    agents: (at) => ({ agents: [`agent${at}`] }),
    hosts: (at) => ({ hosts: [`h${at}.example.com`], effect: 'deny' }),
    arguments: (at) => ({ arguments: [{ pointer: '/n', test: { kind: 'equals', value: at } }] }),
  };
  const question = {
    ...ask('files.read', ['/w/src/d7/file.k7'], { agent: 'agent7', arguments: { n: 7 } }),
    resources: {
      paths: [{ path: '/w/src/d7/file.k7', access: 'read' }],
      commands: ['git sub7 -v'],
      hosts: ['h7.example.com'],
    },
  } as const;
  const claims = readClaims(question.resources, createPathClaimer(variables));
  assert.ok(!('text' in claims));
  for (const [kind, conditionOf] of Object.entries(condition)) {
    const rules = Array.from({ length: 1000 }, (_, at): Rule => ({ ...base, ...written, ...conditionOf(at) }));
    const found = indexByClue(compileAll(rules))(question, claims);
    assert.equal(found.length, 1, kind);
  }
});
