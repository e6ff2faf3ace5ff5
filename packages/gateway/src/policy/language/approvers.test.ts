import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { ask, fakeTool, rulesOf } from '../test-world.ts';
import { howMuch } from '../../../../../test/harness/how-much.ts';

const work = '/home/ada/work';
const deploy = fakeTool('deploy', { risk: 'high', mutates: true });
const askingFor = (...paths: string[]) => ask(deploy, paths);

test('agents are named by the rule that asks, or that opens what the tool itself asks about', () => {
  const rules = rulesOf(`
  - { id: asks, effect: require_approval, tools: [deploy], paths: ["$WORKSPACE/a/**"], approvers: [rev] }
  - { id: opens, effect: allow, tools: [deploy], paths: ["$WORKSPACE/b/**"], approvers: [rev, lea] }
  - { id: silent, effect: allow, tools: [deploy], paths: ["$WORKSPACE/c/**"] }
`);
  assert.deepEqual(rules.judge(askingFor(`${work}/a/x`)).approvers, ['rev']);
  assert.deepEqual(rules.judge(askingFor(`${work}/b/x`)).approvers, ['rev', 'lea']);
  assert.equal(rules.judge(askingFor(`${work}/c/x`)).approvers, undefined);
  assert.deepEqual(
    rules.judge(askingFor(`${work}/a/x`, `${work}/b/x`)).approvers,
    ['rev'],
    'of every part of the call',
  );
  assert.equal(rules.judge(askingFor(`${work}/a/x`, `${work}/c/x`)).approvers, undefined);
  assert.equal(rules.judge(askingFor('/etc/x')).approvers, undefined);
  assert.equal(rules.judge(ask(fakeTool('deploy'), [`${work}/b/x`])).approvers, undefined, 'nobody is asked');
});

test('no agent is named for a call of critical risk', () => {
  const rules = rulesOf(`
  - { id: asks, effect: require_approval, tools: [drop], approvers: [rev] }
`);
  const drop = (risk: 'high' | 'critical') => ask(fakeTool('drop', { risk, scopes: [] }), []);
  assert.deepEqual(rules.judge(drop('high')).approvers, ['rev']);
  assert.equal(rules.judge(drop('critical')).approvers, undefined);
});

test('a rule that asks about what is granted has its say as well', () => {
  const rules = rulesOf(`
  - { id: opens, effect: allow, tools: [deploy], approvers: [rev], grants: { write: ["$WORKSPACE/infra"] } }
  - { id: asks, effect: require_approval, tools: [deploy], paths: ["$WORKSPACE/infra/**"], access: [write] }
`);
  const sandboxed = { ...deploy, requiresSandbox: true };
  const { effect, rule, approvers } = rules.judge(ask(sandboxed, []));
  assert.deepEqual([effect, rule.id, approvers], ['require_approval', 'opens', undefined]);
});

test('the word of an agent opens no path at run time for which no rule names it', () => {
  const rules = rulesOf(`
  - { id: asks, effect: require_approval, tools: [deploy], paths: ["$WORKSPACE/**"], approvers: [rev] }
  - { id: people, effect: require_approval, tools: [deploy], paths: ["$WORKSPACE/infra/**"] }
`);
  const { resources: _, ...asked } = askingFor();
  const codeFor = (path: string, agreedAgent?: string) =>
    rules
      .judgePaths({ ...asked, consented: true, ...(agreedAgent === undefined ? {} : { agreedAgent }) })
      .judge(path, 'read')?.code;
  assert.equal(codeFor(`${work}/a`, 'rev'), undefined);
  assert.equal(codeFor(`${work}/infra/a`, 'rev'), 'APPROVAL_REQUIRED');
  assert.equal(codeFor(`${work}/a`, 'ada'), 'APPROVAL_REQUIRED');
  assert.equal(codeFor(`${work}/infra/a`), undefined, 'a person agreed');
});

test('a further rule that asks takes off the list whom it does not name, and the order of rules changes nothing', () => {
  const folders = ['a', 'b', '*'] as const;
  const arbitraryRule = fc.record({
    effect: fc.constantFrom('allow', 'require_approval'),
    folder: fc.constantFrom(...folders),
    approvers: fc.subarray(['rev', 'lea']),
  });
  type Drawn = typeof arbitraryRule extends fc.Arbitrary<infer T> ? T : never;
  const write = (drawn: readonly Drawn[]) =>
    drawn
      .map(({ effect, folder, approvers }, at) => {
        const naming = approvers.length === 0 ? '' : `, approvers: [${approvers.join(', ')}]`;
        return `  - { id: r${at}, effect: ${effect}, tools: [deploy], paths: ["$WORKSPACE/${folder}/**"]${naming} }\n`;
      })
      .join('');
  const question = askingFor(`${work}/a/x`, `${work}/b/x`);
  const judge = (drawn: readonly Drawn[]) => rulesOf(write(drawn)).judge(question);
  const base: Drawn = { effect: 'allow', folder: '*', approvers: [] };
  fc.assert(
    fc.property(fc.array(arbitraryRule, { maxLength: 4 }), arbitraryRule, (drawn, further) => {
      const rules = [base, ...drawn];
      const before = new Set(judge(rules).approvers);
      const after = judge([...rules, { ...further, effect: 'require_approval' }]).approvers ?? [];
      const named = new Set(further.approvers);
      for (const agent of after) assert.ok(before.has(agent) || named.has(agent), agent);
      for (const agent of after) assert.ok(further.folder === '*' ? named.has(agent) : true);
      assert.deepEqual(new Set(judge(rules.toReversed()).approvers), before);
    }),
    { numRuns: howMuch({ usually: 20, long: 60 }) },
  );
});
