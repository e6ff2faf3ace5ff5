import assert from 'node:assert/strict';
import { test } from 'node:test';
import { requirement } from '../../../../../test/requirement.ts';
import type { Question, Verdict } from '../../call/verdict.ts';
import { ask, fakeTool, rulesOf } from '../test-world.ts';

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
  const { forOperators: remedy = '' } = verdict;
  assert.ok(remedy.includes(`${decisions.folder}/tools.yaml`));
  const suggested = remedy.slice(remedy.indexOf('- {'));
  const extended = rulesOf(`  ${suggested}\n`);
  assert.equal(extended.judge(question).effect, 'allow');
  assert.equal(extended.judge(ask('files.search', ['/etc/passwd'])).effect, 'deny');
});

test('a suggested rule has a name that no rule has yet', () => {
  const taken = ['allow-x-y', 'allow-x-y-2'].map((id) => `  - { id: ${id}, effect: allow, tools: [a.b] }\n`);
  const { forOperators = '' } = rulesOf(taken.join('')).judge(ask('x.y', []));
  assert.match(forOperators, /- \{id: allow-x-y-3, effect: allow/);
});

test('a denial by default tells operators which rule misses by one property', () => {
  const adviceFor = (question: Question): string => {
    const { reason, forOperators = '' } = decisions.judge(question);
    assert.doesNotMatch(reason, /Rule|\$WORKSPACE/, 'which rule comes near is for operators');
    return forOperators;
  };
  const later = adviceFor(ask(writeTool, [`write ${work}/a`], { mode: 'LOCKDOWN' }));
  assert.match(later, /^Rule write-work covers it in NORMAL, ALERT only\. If it should/);
  assert.match(adviceFor(ask(noPathTool, [])), /^Rule admin covers it for operator only\. If it should/);
  assert.match(adviceFor(ask(deleteTool, ['write /tmp/a'])), /^Rule delete-work covers \$WORKSPACE\/\*\*\. If it/);
});

test('rules that ship with the program are to be copied before they are changed', () => {
  const shipped = rulesOf('  []', { programFolder: '/' });
  assert.match(
    shipped.judge(ask('x.y', [])).forOperators ?? '',
    /policy init`, add this to \/home\/ada\/\.sallyport\/governance\/tools\.yaml/,
  );
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
