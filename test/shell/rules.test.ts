import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import type { JsonObject } from '@sallyport/contract';
import { loadRules } from '../../packages/gateway/src/policy/language/load-rules.ts';
import { writeRules } from '../../packages/gateway/src/policy/test-world.ts';
import type { Rules, Verdict } from '../../packages/gateway/src/call/verdict.ts';
import { noGrants } from '../../packages/gateway/src/call/verdict.ts';
import { SpawnerClient } from '../../packages/sandbox/src/spawner/spawner-client.ts';
import { gitTools } from '../../packages/gateway/src/catalogue/git/index.ts';
import { shellRun } from '../../packages/gateway/src/catalogue/shell/shell-run.ts';
import { requirement } from '../requirement.ts';
import { SandboxedWorkspace } from './sandboxed-workspace.ts';

const programs = new SpawnerClient();
after(() => programs.close());

/** A rule that lets agents run some programs without asking. */
const example = `version: 1
rules:
  - id: project-commands
    effect: allow
    tools: [shell.run]
    commands: ['ls *', 'grep *', 'cp *', 'echo *']
    paths: ['$WORKSPACE/**']
    approval: waived
    grants:
      write: [$WORKSPACE]
  - id: credentials
    effect: deny
    tools: [shell.run]
    paths: ['$WORKSPACE/**/.env']
`;

function load(workspace: SandboxedWorkspace, folder: string): Rules {
  return loadRules({
    folder,
    workspace: workspace.path,
    home: join(workspace.base, 'home'),
    userHome: join(workspace.base, 'person'),
    programFolder: join(workspace.base, 'program'),
    environment: {},
  });
}

const asked = { principal: 'agent', agent: 'coder', mode: 'NORMAL' } as const;

function judge(rules: Rules, workspace: SandboxedWorkspace, args: JsonObject, tool = shellRun): Verdict {
  return rules.judge({ tool: tool.definition, ...asked, resources: workspace.claim(tool, args) });
}

test('the shipped rules allow no command, and only what the operator opens of git', () => {
  requirement('CAT-2');
  using workspace = new SandboxedWorkspace(programs);
  const rules = load(workspace, join(import.meta.dirname, '../../config/governance'));
  assert.equal(judge(rules, workspace, { argv: ['ls'] }).code, 'NO_RULE_ALLOWS');
  const push = gitTools().find(({ definition }) => definition.name === 'git.push') ?? assert.fail();
  assert.notEqual(judge(rules, workspace, { args: [] }, push).effect, 'allow');
});

test('each of the 18 operations of git is governed by itself', () => {
  requirement('CAT-2');
  using workspace = new SandboxedWorkspace(programs);
  const operations = gitTools();
  assert.equal(operations.length, 18);
  const rulesFor = (name: string) => {
    const only = `version: 1\nrules:\n  - { id: only, effect: allow, tools: [${name}], approval: waived }\n`;
    return load(workspace, writeRules({ tools: only }));
  };
  const clone = { args: ['https://git.example.com/a/b.git'] };
  const verdictOn = (rules: Rules, tool: (typeof operations)[number]): Verdict =>
    judge(rules, workspace, tool.definition.name === 'git.clone' ? clone : { args: [] }, tool);
  for (const { definition } of operations) {
    const rules = rulesFor(definition.name);
    const open = operations.filter((tool) => verdictOn(rules, tool).code !== 'NO_RULE_ALLOWS');
    assert.ok(
      open.every((tool) => tool.definition.name === definition.name),
      definition.name,
    );
  }
});

test('a command line runs only when every one of its programs is allowed', () => {
  requirement('CAT-2');
  using workspace = new SandboxedWorkspace(programs);
  const rules = load(workspace, writeRules({ tools: example }));
  for (const command of [
    'ls',
    'ls -la | grep x',
    '/bin/ls && echo done >out.txt',
    'ls; ls\nls',
    'grep "a b" <in.txt',
  ]) {
    assert.equal(judge(rules, workspace, { command }).effect, 'allow', command);
  }
  for (const command of [
    ...['rm x', 'ls | sh', 'ls && rm x', 'ls || curl x', 'ls; env ls', 'echo x >/etc/passwd', 'ls <.env', './ls'],
    ...['ls > /dev/sda', '/usr/sbin/ls'],
  ]) {
    assert.equal(judge(rules, workspace, { command }).effect, 'deny', command);
  }
});

test('the rules in the docs do what the docs say', () => {
  using workspace = new SandboxedWorkspace(programs);
  const docs = readFileSync(join(import.meta.dirname, '../../docs/shell-and-git.md'), 'utf8');
  const [commands = '', git = ''] = [...docs.matchAll(/^```yaml\n([^]*?)^```/gm)].map((match) => match[1] ?? '');
  const shell = load(workspace, writeRules({ tools: commands }));
  assert.equal(judge(shell, workspace, { argv: ['ls', '-l'] }).effect, 'require_approval');
  assert.equal(judge(shell, workspace, { argv: ['cat', 'x'] }).effect, 'deny');
  assert.equal(judge(shell, workspace, { command: 'grep TOKEN <.env' }).effect, 'deny');
  const rules = load(workspace, writeRules({ tools: git }));
  const effectOf = (name: string): string => {
    const tool = gitTools().find(({ definition }) => definition.name === name) ?? assert.fail(name);
    return judge(rules, workspace, { args: [] }, tool).effect;
  };
  assert.deepEqual(['git.fetch', 'git.push', 'git.reset'].map(effectOf), [
    ...['require_approval', 'require_approval', 'deny'],
  ]);
});

test('what the rules forbid by path is hidden from a program, and configuration of agent clients is out of its reach', async () => {
  using workspace = new SandboxedWorkspace(programs);
  workspace.put('.env', 'TOKEN=1');
  workspace.put('plain.txt', 'TOKEN=2');
  workspace.put('.claude/settings.json', 'TOKEN=3');
  const rules = load(workspace, writeRules({ tools: example }));
  const run = (args: JsonObject): Promise<JsonObject> => {
    const { effect, grants = noGrants } = judge(rules, workspace, args);
    assert.equal(effect, 'allow');
    const resources = workspace.claim(shellRun, args);
    const paths = rules.judgePaths({ tool: shellRun.definition, ...asked, resources, consented: false });
    return workspace.call(shellRun, args, { grants, paths });
  };
  assert.equal((await run({ argv: ['grep', '-rhs', 'TOKEN', '.'] }))['stdout'], 'TOKEN=2\n');
  const made = await run({ argv: ['cp', 'plain.txt', '.mcp.json'] });
  assert.equal(made['exit_code'], 0);
  assert.match(String(made['withheld']), /\.mcp\.json\.withheld-/);
  assert.ok(!existsSync(workspace.at('.mcp.json')));
  assert.notEqual((await run({ argv: ['cp', 'plain.txt', '.claude/settings.json'] }))['exit_code'], 0);
  assert.equal(workspace.text('.claude/settings.json'), 'TOKEN=3');
});
