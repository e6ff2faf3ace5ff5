import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { requirement } from '../../../../../test/requirement.ts';
import { modes } from '../../call/session.ts';
import type { Resources } from '../../call/tool.ts';
import type { Question, Verdict } from '../../call/verdict.ts';
import { createPathClaimer, reachesUnnamed, readClaims } from '../judge/claims.ts';
import { compileRule, fitsCircumstances } from './compile-rules.ts';
import type { CompiledRule } from './compile-rules.ts';
import { explainConfirmation } from '../guarantees/confirmation-baseline.ts';
import { createRuleJudge } from '../judge/rule-judge.ts';
import { accesses, effects, origins, principals } from './rule.ts';
import type { Rule } from './rule.ts';
import { ask, fakeTool } from '../test-world.ts';
import { howMuch } from '../../../../../test/harness/how-much.ts';

const unprotected = { explain: () => undefined };
const variables = { HOME: ['/h'], WORKSPACE: ['/w'] };
const place = { howToAdd: 'add', workspace: '/w', ruleIds: new Set<string>() };

const compileAll = (rules: readonly Rule[]): CompiledRule[] => rules.map((rule) => compileRule(rule));

function judgeBy(rules: readonly Rule[]): (question: Question) => Verdict {
  return createRuleJudge({ rules: compileAll(rules), protectedPaths: unprotected, variables, place }).judge;
}

const somePatterns = [
  '/w/**',
  '/w/a',
  '/w/*',
  '/w/**/b',
  '$WORKSPACE/a/**',
  '/**',
  '/x',
  '/w/\u00c9/**',
  '/**/e\u0301',
];
const subset = <T>(values: readonly T[]) => fc.subarray([...values], { minLength: 1 });
const ruleArbitrary: fc.Arbitrary<Rule> = fc.record(
  {
    id: fc.stringMatching(/^[a-z]{3}$/),
    effect: fc.constantFrom(...effects),
    tools: subset(['files.read', 'files.*', '*', 'files.write']),
    approvalWaived: fc.boolean(),
    acceptsNew: fc.constant(false),
    shadow: fc.constant(false),
    examples: fc.constant([]),
    file: fc.constant('tools.yaml'),
    line: fc.constant(1),
    who: subset(principals),
    agents: subset(['*', 'coder', 'x*']),
    modes: subset(modes),
    paths: subset(somePatterns),
    exceptPaths: subset(somePatterns),
    access: subset(accesses),
    origins: subset(origins),
    commands: subset(['git *', 'git status', 'rm *', '*']),
    hosts: subset(['a.c', '*.a.c', 'a.c:8443', '*']),
    exceptHosts: subset(['a.c', '*.a.c', 'a.c:8443']),
    gitOperations: subset(['DIFF', 'PU*']),
    providers: subset(['Open*', 'local']),
    models: subset(['m1', 'm*']),
    apps: subset(['Mail', 'mail*']),
  },
  { requiredKeys: ['id', 'effect', 'tools', 'approvalWaived', 'acceptsNew', 'shadow', 'examples', 'file', 'line'] },
);
const claimArbitrary = fc.record({
  path: fc.constantFrom('/w', '/w/a', '/w/a/b', '/W/A', '/x', '/', '/w/../x', '/w/\u00e9', '/w/e\u0301/b'),
  access: fc.constantFrom(...accesses),
});
const questionArbitrary: fc.Arbitrary<Question> = fc.record({
  tool: fc
    .record({
      name: fc.constantFrom('files.read', 'files.write', 'other.tool'),
      risk: fc.constantFrom('low', 'medium', 'high', 'critical'),
      mutates: fc.boolean(),
      scopes: fc.constantFrom([], ['paths'], ['commands', 'network'], ['apps', 'paths']),
      origin: fc.constantFrom(undefined, 'executable', 'upstream'),
    })
    .map((properties) => fakeTool(properties.name, properties as Partial<Question['tool']>)),
  principal: fc.constantFrom(...principals),
  agent: fc.constantFrom('coder', 'xena', 'zoe'),
  mode: fc.constantFrom(...modes),
  resources: fc.record(
    {
      paths: fc.array(claimArbitrary, { maxLength: 3 }),
      commands: fc.array(fc.constantFrom('git status', 'git push', 'rm x', 'ls; rm'), { maxLength: 3 }),
      hosts: fc.array(fc.constantFrom('a.c', 'A.C.', 'b.a.c', 'a.c:8443', 'e.org', '[::1]'), { maxLength: 2 }),
      gitOperation: fc.constantFrom('DIFF', 'push'),
      provider: fc.constantFrom('OpenX', 'openx', 'local'),
      model: fc.constantFrom('m1', 'M2'),
      apps: fc.array(fc.constantFrom('Mail', 'mail', 'Photos'), { maxLength: 2 }),
    },
    { requiredKeys: ['paths'] },
  ),
});
const rulesArbitrary = fc.array(ruleArbitrary, { maxLength: 6 });
const openness = { deny: 0, require_approval: 1, allow: 2 } as const;
const opennessOf = (rules: readonly Rule[], question: Question): number => openness[judgeBy(rules)(question).effect];

test('without rules everything is denied', () => {
  requirement('PIPE-2');
  fc.assert(fc.property(questionArbitrary, (question) => judgeBy([])(question).effect === 'deny'));
});

test('another denial never lets more through', () => {
  fc.assert(
    fc.property(rulesArbitrary, ruleArbitrary, fc.nat(6), questionArbitrary, (rules, extra, at, question) => {
      const more = rules.toSpliced(at, 0, { ...extra, effect: 'deny' });
      assert.ok(opennessOf(more, question) <= opennessOf(rules, question));
    }),
    { numRuns: howMuch({ usually: 100, long: 400 }) },
  );
});

test('the rules of a project never let more through, and ask about what others open', () => {
  requirement('PKG-3');
  const anyNarrowing = ruleArbitrary.map((rule): Rule => {
    return { ...rule, effect: rule.effect === 'deny' ? 'deny' : 'require_approval' };
  });
  // Few rules made at random fit a call made at random.
  const askAll: Rule = { ...allowAll, id: 'ask-all', effect: 'require_approval' };
  const narrowing = fc.oneof(anyNarrowing, fc.constant(askAll));
  const somewhatOpen = fc.tuple(rulesArbitrary, fc.boolean()).map(([rules, isOpen]) => (isOpen ? [allowAll] : rules));
  let asked = 0;
  fc.assert(
    fc.property(somewhatOpen, fc.array(narrowing, { maxLength: 4 }), questionArbitrary, (rules, project, question) => {
      const compiled = [...compileAll(rules), ...compileAll(project).map((rule) => ({ ...rule, opens: false }))];
      const parts = { rules: compiled, protectedPaths: unprotected, variables, place };
      const { effect } = createRuleJudge(parts).judge(question);
      const before = judgeBy(rules)(question).effect;
      assert.ok(openness[effect] <= openness[before], `${before} became ${effect}`);
      if (before === 'allow' && effect === 'require_approval') asked++;
    }),
    { numRuns: howMuch({ usually: 250, long: 1000 }) },
  );
  assert.ok(asked > 0);
});

test('one allowance less never lets more through', () => {
  fc.assert(
    fc.property(rulesArbitrary, ruleArbitrary, fc.nat(6), questionArbitrary, (rules, extra, at, question) => {
      const more = rules.toSpliced(at, 0, { ...extra, effect: 'allow' });
      assert.ok(opennessOf(rules, question) <= opennessOf(more, question));
    }),
    { numRuns: howMuch({ usually: 100, long: 400 }) },
  );
});

test('the order of rules does not change what is decided', () => {
  fc.assert(
    fc.property(rulesArbitrary, questionArbitrary, (rules, question) => {
      assert.equal(opennessOf(rules.toReversed(), question), opennessOf(rules, question));
    }),
    { numRuns: howMuch({ usually: 100, long: 400 }) },
  );
});

/** Every way to take one thing of each kind that the call names. */
function listCombinations({ paths, commands = [], hosts = [], apps = [], ...single }: Resources): readonly Resources[] {
  const orNone = <T>(named: readonly T[]): readonly (T | undefined)[] => (named.length === 0 ? [undefined] : named);
  return orNone(paths).flatMap((path) =>
    orNone(commands).flatMap((command) =>
      orNone(hosts).flatMap((host) =>
        orNone(apps).map((app) => ({
          ...single,
          paths: path === undefined ? [] : [path],
          ...(command === undefined ? {} : { commands: [command] }),
          ...(host === undefined ? {} : { hosts: [host] }),
          ...(app === undefined ? {} : { apps: [app] }),
        })),
      ),
    ),
  );
}

test('a call is as open as the most closed combination of the things it names', () => {
  fc.assert(
    fc.property(rulesArbitrary, questionArbitrary, (rules, question) => {
      const judge = judgeBy(rules);
      const opennessOfCall = (resources: Resources): number => openness[judge({ ...question, resources }).effect];
      const each = listCombinations(question.resources).map(opennessOfCall);
      assert.equal(opennessOfCall(question.resources), Math.min(...each));
    }),
    { numRuns: howMuch({ usually: 100, long: 400 }) },
  );
});

/** The meaning of a set of rules for a call that names at most one thing of each kind, without any thought of speed. */
function decideByDefinition(rules: readonly CompiledRule[], question: Question): number {
  const claims = readClaims(question.resources, createPathClaimer(variables));
  if ('text' in claims) return openness.deny;
  const { tool, principal, agent, mode } = question;
  const covering = rules.filter((compiled) => {
    if (!compiled.coversTool(tool) || !compiled.who.has(principal) || !compiled.modes.has(mode)) return false;
    if (!fitsCircumstances(compiled, { agent })) return false;
    return compiled.kinds.every((kind) => {
      const [claim] = claims[kind];
      if (claim === undefined) return compiled.rule.effect !== 'allow' && reachesUnnamed(tool, kind);
      return (compiled.conditions[kind] as (thing: typeof claim) => boolean)(claim);
    });
  });
  const has = (effect: Rule['effect']): boolean => covering.some(({ rule }) => rule.effect === effect);
  if (has('deny')) return openness.deny;
  if (has('require_approval')) return openness.require_approval;
  if (!has('allow')) return openness.deny;
  const asksItself = explainConfirmation(tool) !== undefined;
  const waived = tool.risk !== 'critical' && covering.some(({ rule }) => rule.approvalWaived);
  return asksItself && !waived ? openness.require_approval : openness.allow;
}

test('each combination is decided as the definition says, with few rules and with many', () => {
  const many = fc.array(ruleArbitrary, { minLength: 20, maxLength: 60 });
  fc.assert(
    fc.property(fc.oneof(rulesArbitrary, many), questionArbitrary, (rules, question) => {
      const compiled = compileAll(rules);
      const { judge } = createRuleJudge({ rules: compiled, protectedPaths: unprotected, variables, place });
      for (const resources of listCombinations(question.resources)) {
        const asked = { ...question, resources };
        assert.equal(openness[judge(asked).effect], decideByDefinition(compiled, asked));
      }
    }),
    { numRuns: howMuch({ usually: 60, long: 200 }) },
  );
});

test('a path is judged while a tool runs as it is judged beforehand', () => {
  fc.assert(
    fc.property(rulesArbitrary, questionArbitrary, (rules, question) => {
      const judge = createRuleJudge({ rules: compileAll(rules), protectedPaths: unprotected, variables, place });
      const met = judge.judgePaths({ ...question, consented: true });
      for (const claim of question.resources.paths) {
        const { effect } = judge.judge({ ...question, resources: { ...question.resources, paths: [claim] } });
        assert.equal(met.judge(claim.path, claim.access) === undefined, effect !== 'deny');
      }
    }),
    { numRuns: howMuch({ usually: 100, long: 400 }) },
  );
});

const allowAll: Rule = {
  id: 'allow-all',
  effect: 'allow',
  tools: ['*'],
  approvalWaived: true,
  acceptsNew: false,
  shadow: false,
  examples: [],
  file: 'tools.yaml',
  line: 3,
};

test('a rule that breaks while it is applied denies the call', () => {
  requirement('PIPE-2');
  const broken: CompiledRule = {
    ...compileRule({ ...allowAll, id: 'broken', paths: ['/w/**'], effect: 'deny' }),
    conditions: {
      path: () => {
        throw new TypeError('the matcher is broken');
      },
    },
  };
  const rules = [compileRule(allowAll), broken];
  const { judge, judgePaths } = createRuleJudge({ rules, protectedPaths: unprotected, variables, place });
  const verdict = judge(ask('files.read', ['/w/a']));
  assert.deepEqual([verdict.effect, verdict.code, verdict.rule.id], ['deny', 'RULE_DENIES', 'rule-failed']);
  // Only operators read why: an error may quote what the call holds.
  assert.doesNotMatch(verdict.reason, /matcher/);
  assert.match(verdict.forOperators ?? '', /TypeError: the matcher is broken/);
  assert.equal(judgePaths({ ...ask('files.read', []), consented: true }).judge('/w/a', 'read')?.rule.id, 'rule-failed');
});

test('a question that makes no sense is denied', () => {
  const judge = judgeBy([allowAll]);
  const good = ask('files.read', ['/w/a']);
  assert.equal(judge(good).effect, 'allow');
  const claims = [{ path: '/w/a' }, { path: 7, access: 'read' }, { path: '/w/a', access: 'execute' }, null];
  for (const claim of claims) {
    const odd = { ...good, resources: { paths: [claim] } } as unknown as Question;
    assert.equal(judge(odd).effect, 'deny', JSON.stringify(claim));
  }
  assert.equal(judge({ ...good, principal: 'root' } as unknown as Question).effect, 'deny');
  assert.equal(judge({ ...good, mode: 'PANIC' } as unknown as Question).effect, 'deny');
  assert.equal(judge({ ...good, tool: undefined } as unknown as Question).effect, 'deny');
});

test('among many rules a denial is found by folder, by name and by every spelling of its path', () => {
  const many = Array.from({ length: 40 }, (_, at) => ({
    ...allowAll,
    id: `r${at}`,
    effect: 'deny' as const,
    paths: [`/w/n${at}`],
  }));
  const judge = judgeBy([allowAll, ...many, { ...allowAll, id: 'cafe', effect: 'deny', paths: ['/w/Caf\u00e9/**'] }]);
  for (const path of ['/w/caf\u00e9/x', '/w/cafe\u0301', '/W/CAF\u00c9', '/w/ca\u200bf\u00e9']) {
    assert.equal(judge(ask('files.read', [path])).rule.id, 'cafe', path);
  }
  assert.equal(judge(ask('files.read', ['/w/cafe'])).rule.id, 'allow-all');
  for (const paths of [['/**/x.key'], ['$WORKSPACE/**/X.Key'], ['/w/a/**'], ['/w/a/b/x.key'], ['/w/a/*/*.key']]) {
    const other = judgeBy([allowAll, ...many, { ...allowAll, id: 'key', effect: 'deny', paths }]);
    assert.equal(other(ask('files.read', ['/w/a/b/x.key'])).rule.id, 'key', paths.join());
    assert.equal(other(ask('files.read', ['/w/c/x.kei'])).rule.id, 'allow-all', paths.join());
  }
});

test('many tools in turn do not change what the rules say about each', () => {
  const judge = judgeBy([{ ...allowAll, tools: ['odd.*'] }]);
  for (let round = 0; round < 2; round++) {
    for (let i = 0; i < 1500; i++) {
      const name = `${i % 2 === 1 ? 'odd' : 'even'}.tool${i}`;
      assert.equal(judge(ask(name, ['/w/a'])).effect, i % 2 === 1 ? 'allow' : 'deny', name);
    }
  }
});
