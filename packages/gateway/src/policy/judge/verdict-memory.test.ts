import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { ToolDefinition } from '../../call/tool.ts';
import type { Question, Verdict } from '../../call/verdict.ts';
import { ask, fakeTool, rulesOf } from '../test-world.ts';

const work = '/home/ada/work';
const text = `
  - { id: read-work, effect: allow, tools: [files.read], paths: ["$WORKSPACE/**"], access: [read] }
  - { id: write-work, effect: allow, tools: [files.read], paths: ["$WORKSPACE/out/**"], access: [write], modes: [NORMAL] }
  - { id: no-env, effect: deny, tools: ["files.*"], paths: ["$WORKSPACE/**/.env"] }
  - { id: no-guests, effect: deny, tools: ["files.*"], roles: [guest] }
  - { id: no-team, effect: deny, tools: ["files.*"], teams: [red] }
  - { id: not-mallory, effect: deny, tools: ["files.*"], agents: [mallory] }
  - { id: late, effect: deny, tools: [clock.read], hours: ["22:00-06:00"] }
  - { id: clock, effect: allow, tools: [clock.read], paths: ["$WORKSPACE/**"] }
  - { id: big, effect: deny, tools: [limits.read], arguments: [{ pointer: /limit, in: [0] }] }
  - { id: limits, effect: allow, tools: [limits.read], paths: ["$WORKSPACE/**"] }
`;

const read = fakeTool('files.read');
/** Two tools of one name: a built-in one, and one of a server that changes things and asks first. */
const same = fakeTool('files.read', { origin: 'upstream', risk: 'high', mutates: true });

test('a question that was asked before is answered alike, and every other question anew', () => {
  const rules = rulesOf(text);
  const first = rules.judge(ask(read, [`${work}/a`]));
  assert.equal(rules.judge(ask(read, [`${work}/a`])), first, 'it is remembered');
  const others: readonly (readonly [Question, Verdict['effect']])[] = [
    [ask(read, [`${work}/.env`]), 'deny'],
    [ask(read, [`write ${work}/a`]), 'deny'],
    [ask(read, [`${work}/a`], { roles: ['guest'] }), 'deny'],
    [ask(read, [`${work}/a`], { teams: ['red'] }), 'deny'],
    [ask(read, [`${work}/a`], { agent: 'mallory' }), 'deny'],
    [ask(read, [`${work}/a`, `${work}/.env`]), 'deny'],
    [ask(same, [`${work}/a`]), 'require_approval'],
  ];
  for (const [question, effect] of others) assert.equal(rules.judge(question).effect, effect, JSON.stringify(question));
  assert.equal(rules.judge(ask(read, [`${work}/a`], { roles: [] })).effect, 'allow');
});

test('what rules say about time or arguments is never remembered', () => {
  const rules = rulesOf(text);
  const at = (hour: number) =>
    ask(fakeTool('clock.read'), [`${work}/a`], { nowMs: new Date(2030, 0, 1, hour).getTime() });
  const clock = at(12).tool;
  assert.equal(rules.judge({ ...at(12), tool: clock }).effect, 'allow');
  assert.equal(rules.judge({ ...at(23), tool: clock }).effect, 'deny');
  const limits = fakeTool('limits.read');
  assert.equal(rules.judge(ask(limits, [`${work}/a`], { arguments: { limit: 9 } })).effect, 'allow');
  assert.equal(rules.judge(ask(limits, [`${work}/a`], { arguments: { limit: 0 } })).effect, 'deny');
});

test('the same holds for each path that a tool opens', () => {
  const rules = rulesOf(text);
  const judge = (more: Partial<Question> = {}, tool: ToolDefinition = read) =>
    rules.judgePaths({ ...ask(tool, [`${work}/a`], more), consented: false }).judge;
  assert.equal(judge()(`${work}/a`, 'read'), undefined);
  assert.equal(judge()(`${work}/.env`, 'read')?.rule.id, 'no-env');
  assert.equal(judge()(`${work}/out/x`, 'write'), undefined);
  assert.equal(judge({ mode: 'ALERT' })(`${work}/out/x`, 'write')?.code, 'NO_RULE_ALLOWS');
  assert.equal(judge({ agent: 'mallory' })(`${work}/a`, 'read')?.rule.id, 'not-mallory');
  assert.equal(judge({}, same)(`${work}/a`, 'read')?.code, 'APPROVAL_REQUIRED');
});

test('rules with a memory decide like rules without one, whatever was asked before', () => {
  const tools = [read, same, fakeTool('files.read', { aliases: ['x'] }), fakeTool('limits.read')];
  const names = ['a', '.env', 'out/x', 'out/.env', 'a\u0000read', '../b', 'A'];
  const questions = fc.record({
    tool: fc.constantFrom(...tools),
    paths: fc.array(fc.constantFrom(...names.flatMap((name) => [`${work}/${name}`, `write ${work}/${name}`])), {
      maxLength: 2,
    }),
    more: fc.record({
      agent: fc.constantFrom('coder', 'mallory', 'coder","agent'),
      mode: fc.constantFrom('NORMAL', 'ALERT', 'LOCKDOWN'),
      principal: fc.constantFrom('agent', 'operator'),
      roles: fc.constantFrom(undefined, [], ['guest'], ['worker'], ['guest","worker']),
      teams: fc.constantFrom(undefined, [], ['red']),
      profile: fc.constantFrom(undefined, 'team', 'personal'),
      arguments: fc.constantFrom(undefined, {}, { limit: 0 }, { limit: 9 }),
    }),
  });
  const used = rulesOf(text);
  fc.assert(
    fc.property(fc.array(questions, { minLength: 1, maxLength: 12 }), (asked) => {
      for (const { tool, paths, more } of asked) {
        const question = ask(tool, paths, more);
        // Another definition is never remembered.
        const fresh = used.judge({ ...question, tool: { ...tool } });
        assert.deepEqual(used.judge(question), fresh);
      }
    }),
    { numRuns: 300 },
  );
});

test('the caller who asked last is told apart from every other', () => {
  const rules = rulesOf(text);
  const [roles, teams]: [string[], string[]] = [[], []];
  const plain = ask(read, [`${work}/a`], { roles, teams });
  for (const other of [
    { roles: ['guest'], teams },
    { roles, teams: ['red'] },
    { roles, teams, agent: 'mallory' },
  ]) {
    assert.equal(rules.judge(plain).effect, 'allow');
    assert.equal(rules.judge(ask(read, [`${work}/a`], other)).effect, 'deny', JSON.stringify(other));
  }
  assert.equal(rules.judge({ ...plain, tool: same }).effect, 'require_approval');
});
