import assert from 'node:assert/strict';
import { test } from 'node:test';
import { requirement } from '../../../../../test/requirement.ts';
import type { Resources } from '../../call/tool.ts';
import type { Question, Verdict } from '../../call/verdict.ts';
import { ask, fakeTool, rulesOf } from '../test-world.ts';

type Row = readonly [Question, Verdict['effect'], rule: string];
const work = '/home/ada/work';
const things = rulesOf(`
  - { id: git, effect: allow, tools: [shell.run], commands: ['git status *', 'git diff *'], paths: ["$WORKSPACE/**"] }
  - { id: grep, effect: allow, tools: [shell.run], commands: ['grep *'], paths: ["$WORKSPACE/**", "/srv/docs/**"] }
  - { id: no-rm, effect: deny, tools: ["shell.*"], commands: ['rm *'] }
  - { id: no-force, effect: deny, tools: ["shell.*"], commands: ['git * --force'], paths: ["$WORKSPACE/main/**"] }
  - { id: fetch, effect: allow, tools: [http.get], hosts: ["*.example.com", example.org:8443] }
  - { id: no-internal, effect: deny, tools: ["*"], hosts: ["*.Internal.example.com"] }
  - { id: ask-org, effect: require_approval, tools: [http.get], hosts: [example.org] }
  - { id: git-read, effect: allow, tools: ["git.*"], git_operations: [diff, LOG], paths: ["$WORKSPACE/**"] }
  - { id: infer, effect: allow, tools: [llm.complete], providers: [local, open-*], models: [small-*] }
  - { id: no-big, effect: deny, tools: ["*"], models: ["*-XL"] }
  - { id: mail, effect: allow, tools: [app.open], apps: [Mail] }
  - { id: upstreams, effect: allow, tools: ["*"], origins: [upstream], agents: [coder] }
`);
const asking = (name: string, resources: Partial<Resources>, scopes: Question['tool']['scopes'] = []): Question => ({
  ...ask(fakeTool(name, { scopes }), []),
  resources: { paths: [], ...resources },
});
const inWork: Resources['paths'] = [{ path: `${work}/a`, access: 'read' }];
const inDocs: Resources['paths'] = [{ path: '/srv/docs/a', access: 'read' }];
const inMain: Resources['paths'] = [{ path: `${work}/main/a`, access: 'read' }];
const thingsTable: readonly Row[] = [
  // Commands, with paths: a rule is about their combination
  [asking('shell.run', { commands: ['git status --short'], paths: inWork }), 'allow', 'git'],
  [asking('shell.run', { commands: ['git status', 'git diff x'], paths: inWork }), 'allow', 'git'],
  [asking('shell.run', { commands: ['git status', 'grep x'], paths: inWork }), 'allow', 'git'],
  [asking('shell.run', { commands: ['git status', 'git push'], paths: inWork }), 'deny', 'default-deny'],
  [asking('shell.run', { commands: ['grep x'], paths: [...inWork, ...inDocs] }), 'allow', 'grep'],
  [asking('shell.run', { commands: ['git status'], paths: inDocs }), 'deny', 'default-deny'],
  [asking('shell.run', { commands: ['git status', 'grep x'], paths: [...inWork, ...inDocs] }), 'deny', 'default-deny'],
  [asking('shell.run', { commands: ['git status'] }), 'deny', 'default-deny'],
  [asking('shell.run', { paths: inWork }), 'deny', 'default-deny'],
  [asking('shell.run', { commands: [], paths: inWork }), 'deny', 'default-deny'],
  [asking('shell.run', { commands: ['/tmp/git status'], paths: inWork }), 'deny', 'default-deny'],
  [asking('shell.run', { commands: ['git status', 'rm -r x'], paths: inWork }), 'deny', 'no-rm'],
  [asking('shell.run', { commands: ['git diff --force'], paths: [...inWork, ...inMain] }), 'deny', 'no-force'],
  [asking('shell.run', { commands: ['git diff --force'], paths: inWork }), 'allow', 'git'],
  [asking('shell.run', { paths: inWork }, ['commands']), 'deny', 'no-rm'],

  // What is no command or host in its one spelling
  [asking('shell.run', { commands: ['git status; rm x'], paths: inWork }), 'deny', 'canonical-claim'],
  [asking('shell.run', { commands: ['git status$IFS--short'], paths: inWork }), 'deny', 'canonical-claim'],
  [asking('shell.run', { commands: [''], paths: inWork }), 'deny', 'canonical-claim'],
  [asking('http.get', { hosts: ['*.example.com'] }), 'deny', 'canonical-claim'],
  [asking('http.get', { hosts: ['::1'] }), 'deny', 'canonical-claim'],
  [asking('http.get', { hosts: ['\u212aexample.com'] }), 'deny', 'canonical-claim'],
  [asking('llm.complete', { provider: '', model: 'small-1' }), 'deny', 'canonical-claim'],
  [asking('app.open', { apps: ['Ma\nil'] }), 'deny', 'canonical-claim'],

  // Hosts
  [asking('http.get', { hosts: ['api.example.com'] }), 'allow', 'fetch'],
  [asking('http.get', { hosts: ['API.Example.Com'] }), 'allow', 'fetch'],
  [asking('http.get', { hosts: ['api.example.com.'] }), 'deny', 'canonical-claim'],
  [asking('http.get', { hosts: ['api.example.com:8080'] }), 'deny', 'default-deny'],
  [asking('http.get', { hosts: ['example.com'] }), 'deny', 'default-deny'],
  [asking('http.get', { hosts: ['api.example.com', 'evil.org'] }), 'deny', 'default-deny'],
  [asking('http.get', { hosts: ['db.INTERNAL.example.com'] }), 'deny', 'no-internal'],
  [asking('http.get', { hosts: ['api.example.com', 'db.internal.example.com:1'] }), 'deny', 'no-internal'],
  [asking('http.get', { hosts: ['api.example.com', 'example.org:8443'] }), 'require_approval', 'ask-org'],
  [asking('http.get', {}), 'deny', 'default-deny'],
  [asking('http.get', {}, ['network']), 'deny', 'no-internal'],

  // Git operations, providers, models, applications, origins
  [asking('git.diff', { gitOperation: 'DIFF', paths: inWork }), 'allow', 'git-read'],
  [asking('git.diff', { gitOperation: 'PUSH', paths: inWork }), 'deny', 'default-deny'],
  [asking('git.diff', { paths: inWork }), 'deny', 'default-deny'],
  [asking('llm.complete', { provider: 'open-x', model: 'small-1' }), 'allow', 'infer'],
  [asking('llm.complete', { provider: 'OPEN-x', model: 'small-1' }), 'deny', 'default-deny'],
  [asking('llm.complete', { provider: 'local', model: 'big' }), 'deny', 'default-deny'],
  [asking('llm.complete', { provider: 'local', model: 'small-xl' }), 'deny', 'no-big'],
  [asking('llm.complete', { model: 'small-1' }), 'deny', 'default-deny'],
  [asking('app.open', { apps: ['Mail'] }), 'allow', 'mail'],
  [asking('app.open', { apps: ['Mail', 'Photos'] }), 'deny', 'default-deny'],
  [ask(fakeTool('odd.tool', { origin: 'upstream', scopes: [] }), []), 'allow', 'upstreams'],
  [ask(fakeTool('odd.tool', { origin: 'upstream', scopes: [] }), [], { agent: 'eve' }), 'deny', 'default-deny'],
  [ask(fakeTool('odd.tool', { origin: 'executable', scopes: [] }), []), 'deny', 'default-deny'],
];

test('commands, hosts and other things are decided as the table says', () => {
  requirement('PIPE-2');
  for (const [question, effect, rule] of thingsTable) {
    const verdict = things.judge(question);
    const asked = JSON.stringify({ ...question.resources, tool: question.tool.name });
    assert.deepEqual({ effect: verdict.effect, rule: verdict.rule.id }, { effect, rule }, asked);
  }
});

test('a denial names the thing it is about, and its suggestion allows just this call', () => {
  requirement('PIPE-4');
  const rm = things.judge(asking('shell.run', { commands: ['git status', "rm -r 'a b'"], paths: inWork }));
  assert.equal(rm.reason, `Rule no-rm denies shell.run to run "rm -r 'a b'".`);
  const internal = things.judge(asking('http.get', { hosts: ['DB.internal.example.com'] }));
  assert.equal(internal.reason, 'Rule no-internal denies http.get to reach db.internal.example.com.');
  for (const question of [
    asking('shell.run', { commands: ["git commit -m 'a *'"], paths: inWork }),
    asking('http.get', { hosts: ['evil.org:8080'] }),
    asking('git.push', { gitOperation: 'PUSH', paths: inWork }),
    asking('llm.complete', { provider: 'other', model: 'small-1' }),
    asking('app.open', { apps: ['Photos'] }),
  ]) {
    const { reason, forOperators: remedy = '' } = things.judge(question);
    assert.match(reason, new RegExp(`^No rule allows ${question.tool.name} (to|for|with) `));
    const extended = rulesOf(`  ${remedy.slice(remedy.indexOf('- {'))}\n`);
    assert.equal(extended.judge(question).effect, 'allow', remedy);
    assert.equal(extended.judge({ ...question, resources: { paths: [] } }).effect, 'deny', remedy);
  }
  assert.match(
    things.judge(asking('http.get', { hosts: ['evil.org'] })).forOperators ?? '',
    /^Rule fetch covers \*\.example\.com, /,
  );
});

test('a rule names a built-in tool by its alias; other tools choose their aliases themselves', () => {
  const effectOf = (properties: Partial<Question['tool']>): string =>
    rulesOf('  - { id: a, effect: allow, tools: [read_file, "old_*"] }\n').judge(
      ask(fakeTool('files.read', { scopes: [], ...properties }), []),
    ).effect;
  assert.equal(effectOf({ aliases: ['read_file'] }), 'allow');
  assert.equal(effectOf({ aliases: ['old_read'] }), 'deny');
  assert.equal(effectOf({ aliases: ['read_file'], origin: 'upstream' }), 'deny');
});

test('a tool that does not say its arguments asks under a pattern, and runs at once only where a rule names it', () => {
  const unknown = fakeTool('odd', { origin: 'executable', category: 'schema_unknown', scopes: [] });
  const effectOf = (rules: string): string => rulesOf(rules).judge(ask(unknown, [])).effect;
  assert.equal(effectOf('  - { id: a, effect: allow, tools: ["*"] }\n'), 'require_approval');
  assert.equal(effectOf('  - { id: a, effect: allow, tools: ["od*"], approval: waived }\n'), 'require_approval');
  assert.equal(effectOf('  - { id: a, effect: require_approval, tools: ["od*"] }\n'), 'require_approval');
  assert.equal(effectOf('  - { id: a, effect: allow, tools: [other] }\n'), 'deny');
  assert.equal(effectOf('  - { id: a, effect: allow, tools: [odd] }\n'), 'allow');
  assert.equal(
    effectOf('  - { id: a, effect: allow, tools: [odd] }\n  - { id: b, effect: deny, tools: ["*"] }\n'),
    'deny',
  );
});

test('a waiver below high risk lets low and medium tools run at once and asks about the others', () => {
  const effectOf = (risk: Question['tool']['risk'], approval: string): string =>
    rulesOf(`  - { id: a, effect: allow, tools: [t], approval: ${approval} }\n`).judge(
      ask(fakeTool('t', { risk, mutates: true, scopes: [] }), []),
    ).effect;
  const decide = (approval: string) =>
    (['low', 'medium', 'high', 'critical'] as const).map((risk) => effectOf(risk, approval));
  assert.deepEqual(decide('waived_below_high'), ['allow', 'allow', 'require_approval', 'require_approval']);
  assert.deepEqual(decide('waived'), ['allow', 'allow', 'allow', 'require_approval']);
});

test('a rule about some paths or hosts closes a tool that names none, unless a sandbox shows it only what is granted', () => {
  const rules = rulesOf(`
  - { id: run, effect: allow, tools: [run, walk] }
  - { id: free, effect: allow, tools: [free], grants: { isolation: none } }
  - { id: no-paths, effect: deny, tools: ['*'], paths: [/srv/**] }
  - { id: no-hosts, effect: deny, tools: ['*'], hosts: [evil.org] }
`);
  const decide = (name: string, properties: Partial<Question['tool']>): string =>
    rules.judge(ask(fakeTool(name, properties), [])).rule.id;
  assert.equal(decide('run', { scopes: ['paths', 'network'], requiresSandbox: true }), 'run');
  assert.equal(decide('free', { scopes: ['network'], requiresSandbox: true }), 'no-hosts');
  assert.equal(decide('walk', { scopes: ['paths'] }), 'no-paths');
});

test('a call that names more combinations than can be judged is denied, and names as many as it likes of one kind', () => {
  const lines = Array.from({ length: 60 }, (_, i) => [
    `  - { id: p${i}, effect: allow, tools: [shell.run], paths: [/p${i}] }`,
    `  - { id: c${i}, effect: allow, tools: [shell.run], commands: [c${i}] }`,
  ]);
  const rules = rulesOf(`${lines.flat().join('\n')}\n  - { id: all, effect: allow, tools: [shell.run] }\n`);
  const paths = Array.from({ length: 60 }, (_, i) => ({ path: `/p${i}`, access: 'read' as const }));
  const commands = Array.from({ length: 60 }, (_, i) => `c${i}`);
  assert.equal(rules.judge(asking('shell.run', { paths })).effect, 'allow');
  const verdict = rules.judge(asking('shell.run', { paths, commands }));
  assert.deepEqual([verdict.effect, verdict.rule.id], ['deny', 'too-much-at-once']);
  assert.equal(rules.judge(asking('shell.run', { paths: paths.slice(0, 30), commands })).effect, 'allow');
});
