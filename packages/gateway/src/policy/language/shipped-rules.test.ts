import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { test } from 'node:test';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { load } from 'js-yaml';
import { requirement } from '../../../../../test/requirement.ts';
import { modes } from '../../call/session.ts';
import { noGrants } from '../../call/verdict.ts';
import type { Question, Verdict } from '../../call/verdict.ts';
import { loadRules } from './load-rules.ts';
import { anomalyKeys, combinationKeys, escalationKeys, failureKeys, spikeKeys } from './read-anomalies.ts';
import { approvalKeys, defaultLimits, limitsKeys, quarantineKeys, rateKeys, repeatsKeys } from './read-limits.ts';
import { measures } from '../judge/mode-policy.ts';
import { argumentKeys } from './read-circumstances.ts';
import { grantKeys, programLimits, secretKeys } from './read-grants.ts';
import { modeKeys, modesKeys, transitionKeys } from './read-modes.ts';
import { exampleKeys, fileKeys, ruleKeys } from './read-rules.ts';
import { entryLimitKeys, toolEntryKeys } from './read-tool-entries.ts';
import { memberKeys, roleKeys, rolesKeys } from '../judge/role-book.ts';
import { builtInRules } from '../judge/rule-judge.ts';
import { effects, origins } from './rule.ts';
import { ask, fakeTool, rulesOf, world, writeRules } from '../test-world.ts';

const folder = resolve(import.meta.dirname, '../../../../../config/governance');
const rules = loadRules({ ...world, folder });

// The properties that matter here, as the catalogue defines these tools.
const write = fakeTool('files.write', { risk: 'medium', mutates: true });
const edit = fakeTool('files.edit', { risk: 'medium', mutates: true });
const ensureDir = fakeTool('files.ensure_dir', { mutates: true });
const moveGlob = fakeTool('files.move_glob', { risk: 'medium', mutates: true, confirmation: 'if_destructive' });
const remove = fakeTool('files.delete', { risk: 'critical', mutates: true });
const readData = fakeTool('database.read', { scopes: ['paths', 'network'], requiresSandbox: true });
const changeData = fakeTool('database.write', { risk: 'high', mutates: true });
const createSession = fakeTool('sessions.create', { risk: 'medium', mutates: true, scopes: [] });

const w = world.workspace;
function askGit(
  name: Parameters<typeof ask>[0],
  operation: string,
  paths: readonly string[],
  more: Partial<Question> = {},
): Question {
  const question = ask(name, paths, more);
  return { ...question, resources: { ...question.resources, gitOperation: operation } };
}

function askHost(name: string, host: string, more: Partial<Question> = {}): Question {
  return { ...ask(fakeTool(name, { scopes: ['network'] }), [], more), resources: { paths: [], hosts: [host] } };
}

const promises: readonly (readonly [Question, Verdict['effect'], rule: string])[] = [
  // Reading in the workspace
  [ask('files.read', [`${w}/src/a.ts`]), 'allow', 'workspace-read'],
  [ask('files.list', [w]), 'allow', 'workspace-read'],
  [ask('files.search', [`${w}/docs`]), 'allow', 'workspace-read'],
  [ask('files.read', [`${w}/a`], { principal: 'operator', mode: 'LOCKDOWN' }), 'allow', 'workspace-read'],
  [ask('files.read', ['/home/ada/.ssh/id_rsa']), 'deny', 'default-deny'],
  [ask('files.read', ['/etc/passwd'], { principal: 'operator' }), 'deny', 'default-deny'],

  // Writing in the workspace, without a question in the personal profile
  [ask(write, [`write ${w}/notes.md`]), 'allow', 'workspace-write'],
  [ask(edit, [`${w}/a.ts`, `write ${w}/a.ts`]), 'allow', 'workspace-write'],
  [ask(ensureDir, [`write ${w}/new/folder`]), 'allow', 'workspace-write'],
  [ask(write, [`write ${w}/notes.md`], { mode: 'ALERT' }), 'allow', 'workspace-write'],
  [ask(write, [`write ${w}/notes.md`], { mode: 'DEGRADED' }), 'deny', 'default-deny'],
  [ask(write, [`write ${w}/notes.md`], { mode: 'LOCKDOWN' }), 'deny', 'default-deny'],
  [ask(write, ['write /tmp/notes.md']), 'deny', 'default-deny'],

  // Moving and deleting ask
  [ask(moveGlob, [`write ${w}/inbox`, `write ${w}/archive`]), 'require_approval', 'workspace-move'],
  [ask(moveGlob, [`write ${w}/inbox`, 'write /tmp/out']), 'deny', 'default-deny'],
  [ask(remove, [`write ${w}/old.txt`]), 'require_approval', 'workspace-delete'],
  [ask(remove, [`write ${w}/old.txt`], { principal: 'operator' }), 'require_approval', 'workspace-delete'],

  // Secrets
  [ask('files.read', [`${w}/.env`]), 'deny', 'secrets'],
  [ask('files.read', [`${w}/.env.local`]), 'deny', 'secrets'],
  [ask(write, [`write ${w}/app/.env`]), 'deny', 'secrets'],
  [ask('files.read', [`${w}/.env.example`]), 'allow', 'workspace-read'],
  [ask('files.read', [`${w}/certs/ca.pem`]), 'deny', 'secrets'],
  [ask('files.read', [`${w}/id_rsa`]), 'deny', 'secrets'],
  [ask('files.read', [`${w}/id_rsa.pub`]), 'allow', 'workspace-read'],
  [ask('files.read', [`${w}/.ssh/config`]), 'deny', 'secrets'],
  [ask('files.read', [`${w}/.git/config`]), 'deny', 'secrets'],
  [ask('files.read', [`${w}/src/environment.ts`]), 'allow', 'workspace-read'],
  [ask('files.read', [`${w}/keyboard.ts`]), 'allow', 'workspace-read'],

  // What git, editors and shells run by themselves
  [ask(write, [`write ${w}/.git/hooks/pre-commit`]), 'deny', 'git-internals'],
  [ask(remove, [`write ${w}/.git`]), 'deny', 'git-internals'],
  [ask('files.read', [`${w}/.git/HEAD`]), 'allow', 'workspace-read'],
  [ask(write, [`write ${w}/.gitignore`]), 'allow', 'workspace-write'],
  [ask(write, [`write ${w}/.vscode/tasks.json`]), 'require_approval', 'runs-by-itself'],
  [ask('files.read', [`${w}/.vscode/settings.json`]), 'allow', 'workspace-read'],

  // The gate and the clients
  [ask('files.read', [`${w}/.mcp.json`]), 'deny', 'protected-path'],
  [ask(write, [`write ${w}/.claude/settings.json`]), 'deny', 'protected-path'],

  // Git
  [askGit('git.status', 'STATUS', [w]), 'allow', 'git-read'],
  [askGit('git.diff', 'DIFF', [`${w}/app`], { mode: 'LOCKDOWN' }), 'allow', 'git-read'],
  [askGit('git.log', 'LOG', ['/srv/other']), 'deny', 'default-deny'],
  [
    askGit(fakeTool('git.commit', { risk: 'medium', mutates: true }), 'COMMIT', [`write ${w}`]),
    'require_approval',
    'git-change',
  ],
  [askGit('git.add', 'ADD', [`write ${w}`]), 'allow', 'git-change'],
  [askGit('git.commit', 'COMMIT', [`write ${w}`], { mode: 'DEGRADED' }), 'deny', 'default-deny'],
  [askGit('git.push', 'PUSH', [`write ${w}`]), 'deny', 'default-deny'],

  // The web
  [askHost('web.fetch', 'example.com:443'), 'require_approval', 'web-read'],
  [askHost('http.get', 'example.com:443', { mode: 'DEGRADED' }), 'deny', 'default-deny'],
  [askHost('http.post', 'example.com:443'), 'require_approval', 'web-send'],
  [askHost('http.delete', 'example.com:443', { principal: 'operator' }), 'require_approval', 'web-send'],

  [askHost('web.search', '127.0.0.1:8888'), 'allow', 'web-search'],
  [askHost('web.search', '127.0.0.1:8888', { mode: 'LOCKDOWN' }), 'deny', 'default-deny'],
  [askHost('inference.call', 'api.example.com:443'), 'require_approval', 'inference'],
  [askHost('inference.call', 'api.example.com:443', { mode: 'DEGRADED' }), 'deny', 'default-deny'],

  // Programs of one's own, and other people's
  [ask(fakeTool('word-count', { origin: 'executable', scopes: [] }), []), 'allow', 'own-tools'],
  [ask(fakeTool('x', { origin: 'executable', risk: 'high', scopes: [] }), []), 'require_approval', 'own-tools'],
  [ask(fakeTool('x', { origin: 'executable', scopes: [] }), [], { mode: 'LOCKDOWN' }), 'deny', 'default-deny'],
  [ask(fakeTool('x', { origin: 'upstream', scopes: [] }), []), 'deny', 'default-deny'],

  [ask(fakeTool('x', { origin: 'executable', scopes: [] }), [`${w}/.env`]), 'deny', 'secrets'],
  [askGit('git.show', 'SHOW', [w, `${w}/.env`]), 'deny', 'secrets'],

  // The machine, and databases
  [ask(fakeTool('system.metrics', { scopes: [] }), [], { mode: 'LOCKDOWN' }), 'allow', 'machine-state'],
  [ask('system.logs', ['/var/log/journal']), 'require_approval', 'system-logs'],
  [ask('system.logs', ['/var/log/auth.log']), 'deny', 'default-deny'],
  [ask('code.search', [`${w}/src`]), 'allow', 'code-read'],
  [ask('code.search', [`${w}/.ssh`]), 'deny', 'secrets'],
  [ask(fakeTool('code.test', { risk: 'medium', requiresSandbox: true }), [w]), 'allow', 'code-run'],
  [ask('database.read', [`${w}/shop.db`]), 'allow', 'database-read'],
  [ask('database.read', ['/srv/shop.db']), 'deny', 'default-deny'],
  [ask('database.read', [`${w}/.ssh/shop.db`]), 'deny', 'secrets'],
  [{ ...ask(readData, []), resources: { paths: [], hosts: ['db.example.com:5432'] } }, 'deny', 'default-deny'],
  [ask(changeData, [`write ${w}/shop.db`]), 'require_approval', 'database-write'],
  [ask(changeData, [`write ${w}/shop.db`], { mode: 'DEGRADED' }), 'deny', 'default-deny'],

  // Administration
  [ask(createSession, [], { principal: 'operator' }), 'allow', 'operator-sessions'],
  [ask(createSession, []), 'deny', 'default-deny'],
  [ask(fakeTool('shell.run', { scopes: ['commands'] }), [], { principal: 'operator' }), 'deny', 'default-deny'],
];

test('the shipped rules decide as their comments promise', () => {
  for (const [question, effect, rule] of promises) {
    const verdict = rules.judge(question);
    const asked = JSON.stringify({ ...question, tool: question.tool.name });
    assert.deepEqual({ effect: verdict.effect, rule: verdict.rule.id }, { effect, rule }, asked);
  }
});

test('git gets the workspace and nothing else, and programs of the operator get nothing', () => {
  const grantsOf = (question: Question) => rules.judge(question).grants;
  assert.deepEqual(grantsOf(askGit('git.status', 'STATUS', [w])), { ...noGrants, read: [w] });
  assert.deepEqual(grantsOf(askGit('git.commit', 'COMMIT', [`write ${w}`])), { ...noGrants, write: [w] });
  assert.equal(grantsOf(ask(fakeTool('x', { origin: 'executable', scopes: [] }), [])), undefined);
});

test("new tools are taken in from the operator's own folder only", () => {
  assert.equal(rules.acceptsNew('word-count', 'executable'), true);
  for (const origin of ['configured', 'pipeline', 'upstream', undefined] as const) {
    assert.equal(rules.acceptsNew('word-count', origin), false, String(origin));
  }
});

test('the rules that stand in comments load when the comment signs are taken away', () => {
  const blocks = readText('tools.yaml').matchAll(/(?:^ *# {1,3}(?:- id|  ).*\n)+/gm);
  const commented = [...blocks]
    .map(([block]) => block.replaceAll(/^ *# /gm, '  '))
    .filter((block) => block.includes('- id:'));
  assert.equal(commented.length, 8);
  for (const text of commented) assert.equal(rulesOf(text).count, text.split('- id:').length - 1, text);
  const shell = rulesOf(commented.find((text) => text.includes('shell.run')) ?? '');
  const runs = (command: string): Question => ({
    ...ask('shell.run', []),
    resources: { paths: [], commands: [command] },
  });
  assert.equal(shell.judge(runs('git status --short')).effect, 'allow');
  assert.equal(shell.judge(runs('git push')).effect, 'deny');
});

test('in every mode people and agents can read the workspace, and operators can end sessions', () => {
  for (const mode of modes) {
    assert.equal(rules.judge(ask('files.read', [`${w}/a`], { mode })).effect, 'allow');
    const end = ask(fakeTool('sessions.end', { scopes: [] }), [], { mode, principal: 'operator' });
    assert.equal(rules.judge(end).effect, 'allow');
  }
});

test('a workspace whose own path looks like a secret can still be worked in', () => {
  const odd = loadRules({ ...world, folder, workspace: '/srv/.ssh/.git/.env/project.pem' });
  assert.equal(odd.judge(ask('files.read', ['/srv/.ssh/.git/.env/project.pem/a.ts'])).effect, 'allow');
  assert.equal(odd.judge(ask('files.read', ['/srv/.ssh/.git/.env/project.pem/.env'])).effect, 'deny');
});

test('the shipped modes get narrower, and nobody has a role that nobody gave them', () => {
  const { limits, transitions } = rules.modes;
  assert.deepEqual(
    modes.map((mode) => limits[mode].maxRunning),
    [64, 32, 8, 0, 8],
  );
  assert.equal(transitions.length, 4);
  assert.deepEqual(rules.membershipOf('anyone'), { roles: [], teams: [] });
});

test('the shipped limits leave a coding agent room', () => {
  const { limits } = rules;
  assert.equal(limits.rates.find(({ tools }) => tools.includes('files.*'))?.limits[0]?.calls, 600);
  assert.deepEqual(limits.repeats, {
    ...{ warnAt: 10, delayAt: 30, delayMs: 1000, refuseAt: 200, refuseChangesAt: 5, windowMs: 600_000 },
  });
  assert.deepEqual(limits.quarantine, { at: 100, windowMs: 600_000, weights: { denied: 1, error: 0, timeout: 2 } });
  assert.deepEqual([limits.maxRunning, limits.maxRunningPerSession, limits.maxArgumentBytes], [64, 32, 16 * 1024 ** 2]);
});

interface ShippedRule {
  readonly id: string;
  readonly match?: readonly unknown[];
  readonly not_match?: readonly unknown[];
}

const readText = (name: string): string => readFileSync(join(folder, name), 'utf8');

test('every shipped rule carries examples of both kinds', () => {
  requirement('MODE-6');
  const shipped = (load(readText('tools.yaml')) as { rules: readonly ShippedRule[] }).rules;
  assert.equal(shipped.length, rules.count);
  for (const { id, match, not_match: notMatch } of shipped) assert.ok(match?.length && notMatch?.length, id);
});

interface Schema {
  readonly properties: Readonly<Record<string, Schema>>;
  readonly items: Schema;
  readonly $defs: Readonly<Record<string, Schema>>;
  readonly enum?: readonly string[];
  readonly maximum?: number;
  readonly additionalProperties?: Schema;
  readonly not?: Schema;
}

test('the schemas for editors accept the shipped files and know the same keys as the loader', () => {
  const ajv = new Ajv2020({ strict: true, strictRequired: false, allErrors: true });
  const schemas = new Map<string, Schema>();
  for (const name of ['tools', 'limits', 'modes', 'roles']) {
    const text = readText(`${name}.yaml`);
    assert.ok(text.startsWith(`# yaml-language-server: $schema=./schemas/${name}.schema.json\n`));
    const schema = JSON.parse(readText(`schemas/${name}.schema.json`)) as Schema;
    const validate = ajv.compile(schema);
    assert.ok(validate(load(text)), JSON.stringify(validate.errors));
    schemas.set(name, schema);
  }
  const keysOf = (schema: Schema | undefined): readonly string[] => Object.keys(schema?.properties ?? {});
  const tools = schemas.get('tools');
  const limits = schemas.get('limits');
  assert.deepEqual(keysOf(tools), fileKeys);
  assert.deepEqual(keysOf(tools?.$defs['rule']), ruleKeys);
  assert.deepEqual(keysOf(tools?.$defs['toolEntry']), toolEntryKeys);
  assert.deepEqual(keysOf(tools?.$defs['toolEntry']?.properties['limits']), entryLimitKeys);
  assert.deepEqual(keysOf(tools?.$defs['argument']), argumentKeys);
  assert.deepEqual(keysOf(tools?.$defs['example']), exampleKeys);
  const grants = tools?.$defs['grants'];
  assert.deepEqual(keysOf(grants), grantKeys);
  assert.deepEqual(keysOf(grants?.properties['secrets']?.items), secretKeys);
  const limited = tools?.$defs['programLimits']?.properties ?? {};
  assert.deepEqual(
    Object.entries(limited).map(([name, { maximum }]) => [name, maximum]),
    Object.entries(programLimits).map(([name, { max }]) => [name, max]),
  );
  assert.deepEqual(tools?.$defs['origin']?.enum, origins);
  assert.deepEqual(tools?.$defs['rule']?.properties['effect']?.enum, effects);
  assert.deepEqual(keysOf(limits), limitsKeys);
  assert.deepEqual(keysOf(limits?.$defs['rates']?.items), rateKeys);
  assert.deepEqual(keysOf(limits?.properties['repeats']), repeatsKeys);
  assert.deepEqual(keysOf(limits?.properties['quarantine']), quarantineKeys);
  assert.deepEqual(keysOf(limits?.properties['approvals']), approvalKeys);
  for (const [name, keys] of Object.entries({
    anomalies: anomalyKeys,
    spike: spikeKeys,
    failures: failureKeys,
    combination: combinationKeys,
    escalation: escalationKeys,
  }))
    assert.deepEqual(keysOf(limits?.$defs[name]), keys, name);
  assert.deepEqual(tools?.$defs['rule']?.properties['id']?.not?.enum, Object.values(builtInRules));
  assert.deepEqual(tools?.$defs['mode']?.enum, modes);
  const [ofModes, ofRoles] = [schemas.get('modes'), schemas.get('roles')];
  assert.deepEqual(keysOf(ofModes), modesKeys);
  assert.deepEqual(keysOf(ofModes?.properties['modes']), modes);
  assert.deepEqual(keysOf(ofModes?.$defs['limits']), modeKeys);
  assert.deepEqual(keysOf(ofModes?.properties['transitions']?.items), transitionKeys);
  assert.deepEqual(keysOf(ofModes?.properties['transitions']?.items.properties['when']), measures);
  assert.deepEqual(keysOf(ofRoles), rolesKeys);
  assert.deepEqual(keysOf(ofRoles?.properties['roles']?.additionalProperties), roleKeys);
  assert.deepEqual(keysOf(ofRoles?.properties['members']?.items), memberKeys);
});

test('what the shipped file says about anomalies also holds for files that say nothing about them', () => {
  const { anomalies, teamAnomalies } = rules.limits;
  assert.deepEqual(anomalies, defaultLimits.anomalies);
  assert.deepEqual(teamAnomalies, defaultLimits.teamAnomalies);
  assert.deepEqual(teamAnomalies.callSpike, { moreThan: 50, windowMs: 300_000, respond: [] });
  assert.deepEqual(teamAnomalies.repeatedFailures, { failures: 8, of: 10, respond: [] });
  assert.deepEqual(
    teamAnomalies.combinations.map(({ tools, within }) => [tools, within]),
    [
      [[['files.read'], ['files.write', 'files.edit'], ['files.delete']], 5],
      [[['permissions.grant'], ['shell.run']], 5],
    ],
  );
});

test('hosts and models are opened as the comments and the pages about them say', () => {
  const shipped = readFileSync(join(folder, 'tools.yaml'), 'utf8');
  // What the pages have people write: a rule of their own, and a line in the rule that asks.
  const own = `rules:
  - { id: documentation, effect: allow, tools: [web.fetch, http.get], hosts: [docs.example.com, '*.wiki.example.com'] }
  - { id: small-model, effect: allow, tools: [inference.call], providers: [local], models: ['small-*'] }
`;
  const addLine = (text: string, id: string, line: string): string => {
    const parts = text.split(`  - id: ${id}\n`);
    assert.equal(parts.length, 2, id);
    return parts.join(`  - id: ${id}\n    ${line}\n`);
  };
  let text = shipped.replace(/^rules:\n/m, own);
  text = addLine(text, 'web-read', "except_hosts: [docs.example.com, '*.wiki.example.com']");
  text = addLine(text, 'inference', 'providers: [anthropic]');
  text = text.replace('      - { tool: web.search }\n', '');
  const opened = loadRules({ ...world, folder: writeRules({ tools: text }) });
  const asked = (question: Question): string => opened.judge(question).effect;
  const model = (provider: string, name: string): Question => ({
    ...ask(fakeTool('inference.call', { scopes: ['network'] }), []),
    resources: { paths: [], hosts: ['models.example.com:443'], provider, model: name },
  });
  assert.equal(asked(askHost('web.fetch', 'docs.example.com:443')), 'allow');
  assert.equal(asked(askHost('http.get', 'a.wiki.example.com:443')), 'allow');
  assert.equal(asked(askHost('web.fetch', 'docs.example.com:8443')), 'require_approval');
  assert.equal(asked(askHost('web.fetch', 'example.com:443')), 'require_approval');
  assert.equal(asked(askHost('http.post', 'docs.example.com:443')), 'require_approval');
  assert.equal(asked(model('local', 'small-1')), 'allow');
  assert.equal(asked(model('local', 'large-1')), 'deny');
  assert.equal(asked(model('anthropic', 'large-1')), 'require_approval');
});
