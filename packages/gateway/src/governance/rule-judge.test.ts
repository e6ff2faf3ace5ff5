import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { requirement } from '../../../../test/requirement.ts';
import { modes } from '../model/session.ts';
import type { Resources } from '../model/tool.ts';
import type { Question, Verdict } from '../model/verdict.ts';
import { createPathClaimer, reachesUnnamed, readClaims } from './claims.ts';
import { compileRule, fitsCircumstances } from './compile-rules.ts';
import type { CompiledRule } from './compile-rules.ts';
import { explainConfirmation } from './confirmation-baseline.ts';
import { createRuleJudge } from './rule-judge.ts';
import { accesses, effects, origins, principals } from './rule.ts';
import type { Rule } from './rule.ts';
import { ask, fakeTool, rulesOf } from './test-world.ts';

const decisions = rulesOf(`
  - { id: read-work, effect: allow, tools: [files.read, files.list], paths: ["$WORKSPACE/**"], access: [read] }
  - { id: write-work, effect: allow, tools: [files.write], modes: [NORMAL, ALERT], paths: ["$WORKSPACE/**"], approval: waived }
  - { id: delete-work, effect: allow, tools: [files.delete], paths: ["$WORKSPACE/**"], approval: waived }
  - { id: move-work, effect: require_approval, tools: [files.move], paths: ["$WORKSPACE/**"] }
  - { id: ask-infra, effect: require_approval, tools: ["files.*"], paths: ["$WORKSPACE/infra/**"], access: [write], reason: Infrastructure. }
  - { id: no-secrets, effect: deny, tools: ["files.*"], paths: ["$WORKSPACE/**/.env", "$WORKSPACE/**/.env.*"], except_paths: ["$WORKSPACE/**/.env.example"], reason: Credentials., remedy: Ask. }
  - { id: public, effect: allow, tools: [files.read], paths: ["/srv/public/*.txt"], except_paths: ["/srv/public/draft*"] }
  - { id: reviewer-only, effect: allow, tools: [notes.read], agents: ["review-*"] }
  - { id: admin, effect: allow, tools: ["sessions.*"], who: [operator] }
  - { id: shell, effect: allow, tools: [shell.run] }
  - { id: no-root-shell, effect: deny, tools: [shell.*], paths: ["/root/**"] }
`);

const writeTool = fakeTool('files.write', { risk: 'medium', mutates: true });
const deleteTool = fakeTool('files.delete', { risk: 'critical', mutates: true });
const shellTool = fakeTool('shell.run', { scopes: ['commands'] });
const noPathTool = fakeTool('sessions.list', { scopes: [] });

type Row = readonly [Question, Verdict['effect'], rule: string];
const work = '/home/ada/work';
const decisionTable: readonly Row[] = [
  // Allowed where a rule covers tool, path, access, mode and caller
  [ask('files.read', [`${work}/a.txt`]), 'allow', 'read-work'],
  [ask('files.read', [work]), 'allow', 'read-work'],
  [ask('files.list', [`${work}/deep/er`]), 'allow', 'read-work'],
  [ask('files.read', [`${work}/a.txt`], { mode: 'LOCKDOWN' }), 'allow', 'read-work'],
  [ask('files.read', [`${work}/a.txt`], { principal: 'operator' }), 'allow', 'read-work'],
  [ask(writeTool, [`write ${work}/a.txt`]), 'allow', 'write-work'],
  [ask(writeTool, [`write ${work}/a.txt`], { mode: 'ALERT' }), 'allow', 'write-work'],
  [ask('files.read', ['/srv/public/a.txt']), 'allow', 'public'],
  [ask(fakeTool('notes.read'), [], { agent: 'review-1' }), 'allow', 'reviewer-only'],
  [ask(noPathTool, [], { principal: 'operator' }), 'allow', 'admin'],

  // Nothing matches
  [ask('files.read', ['/etc/passwd']), 'deny', 'default-deny'],
  [ask('files.read', ['/']), 'deny', 'default-deny'],
  [ask('files.read', ['/home/ada/workshop/a']), 'deny', 'default-deny'],
  [ask('files.read', ['/home/ada/work.txt']), 'deny', 'default-deny'],
  [ask('files.read', ['/HOME/ada/work/a.txt']), 'deny', 'default-deny'],
  [ask('files.read', ['/home/ada/Work/a.txt']), 'deny', 'default-deny'],
  [ask('files.read', [`write ${work}/a.txt`]), 'deny', 'default-deny'],
  [ask('files.search', [`${work}/a.txt`]), 'deny', 'default-deny'],
  [ask('files.readx', [`${work}/a.txt`]), 'deny', 'default-deny'],
  [ask('xfiles.read', [`${work}/a.txt`]), 'deny', 'default-deny'],
  [ask(writeTool, [`write ${work}/a.txt`], { mode: 'DEGRADED' }), 'deny', 'default-deny'],
  [ask('files.read', ['/srv/public/sub/a.txt']), 'deny', 'default-deny'],
  [ask('files.read', ['/srv/public/draft-1.txt']), 'deny', 'default-deny'],
  [ask('files.read', ['/srv/public/DRAFT-1.txt']), 'deny', 'default-deny'],
  [ask(fakeTool('notes.read'), [], { agent: 'reviewer' }), 'deny', 'default-deny'],
  [ask(noPathTool, []), 'deny', 'default-deny'],
  [ask('', []), 'deny', 'default-deny'],
  [ask('*', [`${work}/a.txt`]), 'deny', 'default-deny'],

  // Deny beats the rest, whatever the case of the letters
  [ask('files.read', [`${work}/.env`]), 'deny', 'no-secrets'],
  [ask('files.read', [`${work}/app/.env.local`]), 'deny', 'no-secrets'],
  [ask('files.read', [`${work}/.ENV`]), 'deny', 'no-secrets'],
  [ask('files.read', [`${work}/.Env.Local`]), 'deny', 'no-secrets'],
  [ask(writeTool, [`write ${work}/infra/.env`]), 'deny', 'no-secrets'],
  [ask(deleteTool, [`write ${work}/.env`]), 'deny', 'no-secrets'],
  [ask('files.read', [`${work}/.env`], { principal: 'operator' }), 'deny', 'no-secrets'],
  [ask('files.read', [`${work}/.env.example`]), 'allow', 'read-work'],
  [ask('files.read', [`${work}/.ENV.EXAMPLE`]), 'deny', 'no-secrets'],
  [ask('files.read', [`${work}/environment`]), 'allow', 'read-work'],

  // Approval beats allow
  [ask('files.move', [`write ${work}/a`]), 'require_approval', 'move-work'],
  [ask(writeTool, [`write ${work}/infra/main.tf`]), 'require_approval', 'ask-infra'],
  [ask(writeTool, [`write ${work}/Infra/main.tf`]), 'require_approval', 'ask-infra'],
  [ask('files.read', [`${work}/infra/main.tf`]), 'allow', 'read-work'],

  // Every path by itself, the worst wins
  [ask('files.read', [`${work}/a`, `${work}/b`]), 'allow', 'read-work'],
  [ask('files.read', [`${work}/a`, '/etc/passwd']), 'deny', 'default-deny'],
  [ask('files.read', ['/etc/passwd', `${work}/a`]), 'deny', 'default-deny'],
  [ask(writeTool, [`write ${work}/a`, `write ${work}/infra/b`]), 'require_approval', 'ask-infra'],
  [ask(writeTool, [`write ${work}/infra/b`, `write ${work}/.env`]), 'deny', 'no-secrets'],
  [ask('files.read', [`${work}/.env`, '/home/ada/.claude.json']), 'deny', 'protected-path'],

  // The tool's own demand for confirmation
  [ask(deleteTool, [`write ${work}/a`]), 'require_approval', 'delete-work'],
  [ask(fakeTool('files.read', { risk: 'high' }), [`${work}/a`]), 'require_approval', 'read-work'],
  [ask(fakeTool('files.read', { risk: 'medium' }), [`${work}/a`]), 'allow', 'read-work'],
  [ask(fakeTool('files.read', { risk: 'medium', mutates: true }), [`${work}/a`]), 'require_approval', 'read-work'],
  [ask(fakeTool('files.read', { mutates: true }), [`${work}/a`]), 'allow', 'read-work'],
  [ask(fakeTool('files.read', { confirmation: 'always' }), [`${work}/a`]), 'require_approval', 'read-work'],
  [ask(fakeTool('files.read', { requiresApproval: true }), [`${work}/a`]), 'require_approval', 'read-work'],
  [ask(fakeTool('files.write', { risk: 'high', mutates: true }), [`write ${work}/a`]), 'allow', 'write-work'],
  [ask(fakeTool('files.write', { risk: 'critical' }), [`write ${work}/a`]), 'require_approval', 'write-work'],

  // A call that names no path
  [ask('files.read', []), 'deny', 'no-secrets'],
  [ask(shellTool, []), 'allow', 'shell'],
  [ask(fakeTool('shell.run', { scopes: ['paths', 'commands'] }), []), 'deny', 'no-root-shell'],
  [ask(fakeTool('shell.run', { scopes: ['paths'] }), [work]), 'allow', 'shell'],
  [ask(fakeTool('shell.run', { scopes: ['paths'] }), ['/root/x']), 'deny', 'no-root-shell'],

  // What no rule opens, for nobody
  [ask(shellTool, ['/home/ada/.sallyport/keys/audit.key']), 'deny', 'protected-path'],
  [ask(shellTool, ['/home/ada/.sallyport/keys/audit.key'], { principal: 'operator' }), 'deny', 'protected-path'],
  [ask(shellTool, ['/opt/sallyport/package.json']), 'deny', 'protected-path'],
  [ask('files.read', [`${work}/.mcp.json`]), 'deny', 'protected-path'],
  [ask(writeTool, [`write ${work}/.vscode/mcp.json`]), 'deny', 'protected-path'],

  // Paths that are not in their one spelling
  [ask('files.read', [`${work}/../../../etc/passwd`]), 'deny', 'canonical-path'],
  [ask('files.read', [`${work}/./a`]), 'deny', 'canonical-path'],
  [ask('files.read', [`${work}//a`]), 'deny', 'canonical-path'],
  [ask('files.read', [`/${work}/a`]), 'deny', 'canonical-path'],
  [ask('files.read', [`${work}/`]), 'deny', 'canonical-path'],
  [ask('files.read', [`${work}/a\0.txt`]), 'deny', 'canonical-path'],
  [ask('files.read', ['work/a']), 'deny', 'canonical-path'],
  [ask('files.read', ['']), 'deny', 'canonical-path'],
  [ask('files.read', [`${work}/${'a/'.repeat(4000)}b`]), 'deny', 'canonical-path'],
  [ask(shellTool, ['/srv/../home/ada/.claude.json']), 'deny', 'canonical-path'],
  [ask('files.read', [`${work}/a`, `${work}/..`]), 'deny', 'canonical-path'],
];

test('the rules decide as the table says', () => {
  requirement('PIPE-2');
  for (const [question, effect, rule] of decisionTable) {
    const verdict = decisions.judge(question);
    const asked = JSON.stringify({ ...question, tool: question.tool.name });
    assert.deepEqual({ effect: verdict.effect, rule: verdict.rule.id }, { effect, rule }, asked);
  }
});

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
  [asking('http.get', { hosts: ['[::1]'] }), 'deny', 'canonical-claim'],
  [asking('http.get', { hosts: ['\u212aexample.com'] }), 'deny', 'canonical-claim'],
  [asking('llm.complete', { provider: '', model: 'small-1' }), 'deny', 'canonical-claim'],
  [asking('app.open', { apps: ['Ma\nil'] }), 'deny', 'canonical-claim'],

  // Hosts
  [asking('http.get', { hosts: ['api.example.com'] }), 'allow', 'fetch'],
  [asking('http.get', { hosts: ['API.Example.Com.'] }), 'allow', 'fetch'],
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
    const { reason, remedy = '' } = things.judge(question);
    assert.match(reason, new RegExp(`^No rule allows ${question.tool.name} (to|for|with) `));
    const extended = rulesOf(`  ${remedy.slice(remedy.indexOf('- {'))}\n`);
    assert.equal(extended.judge(question).effect, 'allow', remedy);
    assert.equal(extended.judge({ ...question, resources: { paths: [] } }).effect, 'deny', remedy);
  }
  assert.match(
    things.judge(asking('http.get', { hosts: ['evil.org'] })).reason,
    /Rule fetch covers \*\.example\.com, /,
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

test('a tool whose arguments nobody knows is let through by its name only, and kept out by any pattern', () => {
  const unknown = fakeTool('odd', { origin: 'executable', category: 'schema_unknown', scopes: [] });
  const effectOf = (rules: string): string => rulesOf(rules).judge(ask(unknown, [])).effect;
  assert.equal(effectOf('  - { id: a, effect: allow, tools: ["*"] }\n'), 'deny');
  assert.equal(effectOf('  - { id: a, effect: require_approval, tools: ["od*"] }\n'), 'deny');
  assert.equal(effectOf('  - { id: a, effect: allow, tools: [odd] }\n'), 'allow');
  assert.equal(
    effectOf('  - { id: a, effect: allow, tools: [odd] }\n  - { id: b, effect: deny, tools: ["*"] }\n'),
    'deny',
  );
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

test('a denial holds when the path is spelt in small letters and the workspace is not', () => {
  const denial = '- { id: no-env, effect: deny, tools: [files.read], paths: ["$WORKSPACE/**/.env"] }';
  const rules = rulesOf(`  - { id: all, effect: allow, tools: [files.read] }\n  ${denial}\n`, {
    workspace: '/srv/Work',
  });
  assert.equal(rules.judge(ask('files.read', ['/srv/work/.env'])).rule.id, 'no-env');
  assert.equal(rules.judge(ask('files.read', ['/srv/work/a'])).rule.id, 'all');
});

test('a tool that opens a path is judged as the call was; a consent covers what the rules would ask about', () => {
  requirement('EXEC-7');
  for (const [question, effect] of decisionTable) {
    const [claim, ...others] = question.resources.paths;
    if (claim === undefined || others.length > 0) continue;
    const consented = decisions.judgePaths({ ...question, consented: true }).judge(claim.path, claim.access);
    assert.equal(consented !== undefined, effect === 'deny', JSON.stringify(claim));
    const unasked = decisions.judgePaths({ ...question, consented: false }).judge(claim.path, claim.access);
    assert.equal(unasked !== undefined, effect !== 'allow', JSON.stringify(claim));
    if (effect === 'require_approval') assert.equal(unasked?.code, 'APPROVAL_REQUIRED');
  }
});

test('a denial by rule names the rule, its place, the call and the remedy', () => {
  requirement('PIPE-4');
  const verdict = decisions.judge(ask('files.read', [`${work}/.env`]));
  assert.equal(verdict.code, 'RULE_DENIES');
  assert.deepEqual(verdict.rule, { id: 'no-secrets', file: `${decisions.folder}/tools.yaml`, line: 9 });
  assert.equal(verdict.reason, `Rule no-secrets denies files.read to read ${work}/.env: Credentials.`);
  assert.equal(verdict.remedy, 'Ask.');
  assert.deepEqual(decisions.judgePaths({ ...ask('files.read', []), consented: false }).judge(`${work}/.env`, 'read'), {
    kind: 'refusal',
    code: 'RULE_DENIES',
    rule: verdict.rule,
    message: verdict.reason,
    remedy: 'Ask.',
  });
});

test('a denial by default names tool and path and shows the rule that would allow the call', () => {
  requirement('PIPE-4');
  const question = ask('files.search', [`${work}/src/a b*.ts`]);
  const verdict = decisions.judge(question);
  assert.equal(verdict.code, 'NO_RULE_ALLOWS');
  assert.equal(
    verdict.reason,
    `No rule allows files.search to read "${work}/src/a b*.ts" by agent coder in mode NORMAL.`,
  );
  const { remedy = '' } = verdict;
  assert.ok(remedy.includes(`${decisions.folder}/tools.yaml`));
  const suggested = remedy.slice(remedy.indexOf('- {'));
  const extended = rulesOf(`  ${suggested}\n`);
  assert.equal(extended.judge(question).effect, 'allow');
  assert.equal(extended.judge(ask('files.search', ['/etc/passwd'])).effect, 'deny');
});

test('a denial by default names the rule that misses by one property', () => {
  const reasonOf = (question: Question): string => decisions.judge(question).reason;
  const later = reasonOf(ask(writeTool, [`write ${work}/a`], { mode: 'LOCKDOWN' }));
  assert.match(later, /Rule write-work, line 5, covers it in NORMAL, ALERT only\.$/);
  assert.match(reasonOf(ask(noPathTool, [])), /Rule admin, line 12, covers it for operator only\.$/);
  assert.match(reasonOf(ask(deleteTool, ['write /tmp/a'])), /Rule delete-work covers \$WORKSPACE\/\*\*\.$/);
});

test('rules that ship with the program are to be copied before they are changed', () => {
  const shipped = rulesOf('  []', { programFolder: '/' });
  assert.match(shipped.judge(ask('x.y', [])).remedy ?? '', /copy .* to \/home\/ada\/\.sallyport\/governance and add/);
});

test('what asks for consent says which property of the tool or which rule does', () => {
  requirement('APPR-1');
  const reasonOf = (question: Question): string => decisions.judge(question).reason;
  assert.match(reasonOf(ask(deleteTool, [`write ${work}/a`])), /critical risk/);
  assert.match(reasonOf(ask(fakeTool('files.read', { requiresApproval: true }), [`${work}/a`])), /requires approval/);
  assert.equal(reasonOf(ask(writeTool, [`write ${work}/infra/a`])), 'Infrastructure.');
});

test('hostile names come out of a denial on one line', () => {
  const verdict = decisions.judge(ask('files.read', ['/x\n\u001b[2J\u202e'], { agent: 'a\nNo rule' }));
  for (const text of [verdict.reason, verdict.remedy ?? '']) assert.match(text, /^[\u0020-\u007e]*$/);
});

const unprotected = { explain: () => undefined };
const variables = { HOME: ['/h'], WORKSPACE: ['/w'] };
const place = { howToAdd: 'add', workspace: '/w' };

const compileAll = (rules: readonly Rule[]): CompiledRule[] => rules.map((rule) => compileRule(rule, variables));

function judgeBy(rules: readonly Rule[]): (question: Question) => Verdict {
  return createRuleJudge({ rules: compileAll(rules), protectedPaths: unprotected, variables, place }).judge;
}

const somePatterns = ['/w/**', '/w/a', '/w/*', '/w/**/b', '$WORKSPACE/a/**', '/**', '/x'];
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
    gitOperations: subset(['DIFF', 'PU*']),
    providers: subset(['Open*', 'local']),
    models: subset(['m1', 'm*']),
    apps: subset(['Mail', 'mail*']),
  },
  { requiredKeys: ['id', 'effect', 'tools', 'approvalWaived', 'acceptsNew', 'shadow', 'examples', 'file', 'line'] },
);
const claimArbitrary = fc.record({
  path: fc.constantFrom('/w', '/w/a', '/w/a/b', '/W/A', '/x', '/', '/w/../x'),
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
    { numRuns: 400 },
  );
});

test('one allowance less never lets more through', () => {
  fc.assert(
    fc.property(rulesArbitrary, ruleArbitrary, fc.nat(6), questionArbitrary, (rules, extra, at, question) => {
      const more = rules.toSpliced(at, 0, { ...extra, effect: 'allow' });
      assert.ok(opennessOf(rules, question) <= opennessOf(more, question));
    }),
    { numRuns: 400 },
  );
});

test('the order of rules does not change what is decided', () => {
  fc.assert(
    fc.property(rulesArbitrary, questionArbitrary, (rules, question) => {
      assert.equal(opennessOf(rules.toReversed(), question), opennessOf(rules, question));
    }),
    { numRuns: 400 },
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
    { numRuns: 400 },
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
    { numRuns: 200 },
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
    { numRuns: 400 },
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
    ...compileRule({ ...allowAll, id: 'broken', paths: ['/w/**'], effect: 'deny' }, variables),
    conditions: {
      path: () => {
        throw new TypeError('the matcher is broken');
      },
    },
  };
  const rules = [compileRule(allowAll, variables), broken];
  const { judge, judgePaths } = createRuleJudge({ rules, protectedPaths: unprotected, variables, place });
  const verdict = judge(ask('files.read', ['/w/a']));
  assert.deepEqual([verdict.effect, verdict.code, verdict.rule.id], ['deny', 'RULE_DENIES', 'rule-failed']);
  assert.match(verdict.reason, /the matcher is broken/);
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

test('many tools in turn do not change what the rules say about each', () => {
  const judge = judgeBy([{ ...allowAll, tools: ['odd.*'] }]);
  for (let round = 0; round < 2; round++) {
    for (let i = 0; i < 1500; i++) {
      const name = `${i % 2 === 1 ? 'odd' : 'even'}.tool${i}`;
      assert.equal(judge(ask(name, ['/w/a'])).effect, i % 2 === 1 ? 'allow' : 'deny', name);
    }
  }
});
