import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import type { JsonObject } from '@sallyport/contract';
import { loadRules } from '../../packages/gateway/src/policy/language/load-rules.ts';
import type { Session } from '../../packages/gateway/src/call/session.ts';
import { ToolRefused } from '../../packages/gateway/src/call/tool.ts';
import type { AnyTool, Resources } from '../../packages/gateway/src/call/tool.ts';
import { fileTools } from '../../packages/gateway/src/catalogue/files/index.ts';
import { shellRun } from '../../packages/gateway/src/catalogue/shell/shell-run.ts';

// Other spellings of what the rules forbid, through the tools that turn arguments into what the rules see.

const folder = realpathSync(mkdtempSync(join(tmpdir(), 'sallyport-tricks-')));
after(() => rmSync(folder, { recursive: true }));
const workspace = join(folder, 'work');
mkdirSync(join(folder, 'rules'));
mkdirSync(workspace);
writeFileSync(
  join(folder, 'rules', 'tools.yaml'),
  `version: 1
rules:
  - { id: work, effect: allow, tools: ['files.*'], paths: ['$WORKSPACE/**'], approval: waived }
  - { id: commands, effect: allow, tools: [shell.run], commands: ['cat *', 'ls *'], approval: waived }
  - { id: no-secrets, effect: deny, tools: ['*'], paths: ['$WORKSPACE/**/.env', '$WORKSPACE/**/.env.*', '$WORKSPACE/Café/**'] }
  - { id: no-rm, effect: deny, tools: [shell.run], commands: ['rm *'] }
  - { id: web, effect: allow, tools: [http.get], hosts: ['*'] }
  - { id: no-metadata, effect: deny, tools: ['*'], hosts: [metadata.internal, 169.254.169.254] }
`,
);
const rules = loadRules({
  folder: join(folder, 'rules'),
  home: join(folder, 'home'),
  workspace,
  userHome: folder,
  programFolder: '/opt/sallyport',
  environment: {},
});

const nothingSpent = { calls: 0, activeMs: 0, tokens: 0, costMicros: 0 };
const session: Session = {
  id: 's',
  principal: 'agent',
  agent: 'coder',
  status: 'active',
  createdAtMs: 0,
  workingDirectory: workspace,
  lease: { id: 'l', tools: ['*'], grantedAtMs: 0, budget: {}, spent: nothingSpent },
  budget: {},
  spent: nothingSpent,
};
const [read] = fileTools().filter(({ definition }) => definition.name === 'files.read');
assert.ok(read !== undefined);

/** The effect of the rules on a call, or the code with which the tool refuses its arguments. */
function decide(tool: AnyTool, args: JsonObject): string {
  let resources: Resources;
  try {
    resources = tool.claim(args, session);
  } catch (error) {
    if (error instanceof ToolRefused) return error.refusal.code;
    throw error;
  }
  return judge(tool, resources);
}

function judge({ definition }: Pick<AnyTool, 'definition'>, resources: Resources): string {
  const { effect, rule } = rules.judge({
    tool: definition,
    principal: 'agent',
    agent: 'coder',
    mode: 'NORMAL',
    resources,
  });
  return effect === 'deny' ? rule.id : effect;
}

const denied = 'no-secrets';
const paths: readonly (readonly [path: string, expected: string | RegExp])[] = [
  ['.env', denied],
  ['./.env', denied],
  ['.//.env', denied],
  ['a/./.env', denied],
  ['a/../.env', /no-secrets|UNSAFE_PATH|default-deny/],
  ['../work/.env', /no-secrets|UNSAFE_PATH|default-deny/],
  [`${workspace}//.env`, denied],
  [`/${workspace}/.env`, denied],
  ['.ENV', denied],
  ['.Env.Local', denied],
  ['.env.', denied],
  ['.env/', denied],
  ['.env/.', denied],
  ['\u200b.env', denied],
  ['.e\u200dnv', denied],
  ['.\u0435nv', 'allow'],
  ['caf\u00e9/x', denied],
  ['cafe\u0301/x', denied],
  ['CAF\u00c9/x', denied],
  ['.env\0', /UNSAFE_PATH|INVALID_ARGUMENTS|canonical-path/],
  ['.env\0.txt', /UNSAFE_PATH|INVALID_ARGUMENTS|canonical-path/],
  ['\ud800.env', /UNSAFE_PATH|INVALID_ARGUMENTS|canonical-path/],
  ['/proc/self/cwd/.env', 'default-deny'],
  ['/etc/passwd', 'default-deny'],
  ['../../etc/passwd', /default-deny|UNSAFE_PATH/],
  ['~/.ssh/id_rsa', 'allow'],
  [`${'a/'.repeat(3000)}b`, /UNSAFE_PATH|INVALID_ARGUMENTS|canonical-path|PATH/],
  ['a'.repeat(200_000), /UNSAFE_PATH|INVALID_ARGUMENTS|canonical-path|PATH/],
  ['plain.txt', 'allow'],
  ['environment.ts', 'allow'],
];

test('a forbidden file stays forbidden in every spelling', () => {
  for (const [path, expected] of paths) {
    const decision = decide(read, { path, offset: 0 });
    const what = `${JSON.stringify(path.slice(0, 60))} gave ${decision}`;
    if (typeof expected === 'string') assert.equal(decision, expected, what);
    else assert.match(decision, expected, what);
  }
});

const commands: readonly (readonly [command: string, expected: string | RegExp])[] = [
  ['cat plain.txt', 'allow'],
  ['rm x', 'no-rm'],
  ["'rm' x", 'no-rm'],
  ['"rm" x', 'no-rm'],
  ["r'm' x", 'no-rm'],
  ['r\\m x', 'no-rm'],
  ['/bin/rm x', 'no-rm'],
  ['/usr/bin/../bin/rm x', 'UNSAFE_PATH'],
  ['ls; rm x', 'no-rm'],
  ['ls | rm x', 'no-rm'],
  ['ls && rm x', 'no-rm'],
  ['ls || rm x', 'no-rm'],
  ['ls\nrm x', /no-rm|COMMAND_UNCLEAR/],
  ['rm$IFS-x', 'COMMAND_UNCLEAR'],
  ['ls$IFS;rm$IFS-x', 'COMMAND_UNCLEAR'],
  ['$(echo rm) x', 'COMMAND_UNCLEAR'],
  ['`echo rm` x', 'COMMAND_UNCLEAR'],
  ['X=rm; $X y', 'COMMAND_UNCLEAR'],
  ['eval rm x', /COMMAND_UNCLEAR|default-deny|TOOL_MISSING|NOT_FOUND|INVALID/],
  ['ls & rm x', /no-rm|COMMAND_UNCLEAR/],
  ['ls <(rm x)', 'COMMAND_UNCLEAR'],
  ['{rm,x}', 'COMMAND_UNCLEAR'],
  ['cat < .env', 'no-secrets'],
  ['ls > .env', 'no-secrets'],
  ['ls > .ENV', 'no-secrets'],
  ['env rm x', 'default-deny'],
  ['git status', 'default-deny'],
];

test('a forbidden command stays forbidden however it is quoted, and what cannot be told does not run', () => {
  for (const [command, expected] of commands) {
    const decision = decide(shellRun, { command, env: {}, stdin: '', network_access: false, timeout_ms: 1000 });
    if (typeof expected === 'string') assert.equal(decision, expected, command);
    else assert.match(decision, expected, command);
  }
});

const http = { definition: { ...read.definition, name: 'http.get', scopes: ['network'] as const } };
const hosts: readonly (readonly [host: string, expected: string])[] = [
  ['example.com', 'allow'],
  ['metadata.internal', 'no-metadata'],
  ['METADATA.Internal', 'no-metadata'],
  ['metadata.internal.', 'canonical-claim'],
  ['metadata.internal:8080', 'no-metadata'],
  ['169.254.169.254', 'no-metadata'],
  ['metadata.internal..', 'canonical-claim'],
  ['metadata\u3002internal', 'canonical-claim'],
  ['met\u00adadata.internal', 'canonical-claim'],
  ['\u212a.internal', 'canonical-claim'],
  ['user@metadata.internal', 'canonical-claim'],
  ['metadata.internal/x', 'canonical-claim'],
  ['metadata.internal%00', 'canonical-claim'],
  ['[::ffff:169.254.169.254]', 'canonical-claim'],
  ['[::ffff:a9fe:a9fe]', 'canonical-claim'],
  ['[::a9fe:a9fe]', 'canonical-claim'],
  ['[64:ff9b::a9fe:a9fe]', 'canonical-claim'],
  ['[2002:a9fe:a9fe::]', 'canonical-claim'],
  [' metadata.internal', 'canonical-claim'],
  ['', 'canonical-claim'],
  ['a.'.repeat(100_000), 'canonical-claim'],
];

test('a forbidden host stays forbidden in every spelling, and what is not a host is refused', () => {
  for (const [host, expected] of hosts) {
    assert.equal(judge(http, { paths: [], hosts: [host] }), expected, host.slice(0, 60));
  }
});

test('very much at once is decided, not endured', () => {
  const many = Array.from({ length: 20_000 }, (_, at) => ({ path: `${workspace}/f${at}`, access: 'read' as const }));
  assert.equal(judge(read, { paths: many }), 'allow');
  assert.equal(judge(read, { paths: [...many, { path: `${workspace}/.env`, access: 'read' }] }), 'no-secrets');
  const commandsOf = (count: number): string[] => Array.from({ length: count }, (_, at) => `cat f${at}`);
  assert.equal(judge(shellRun, { paths: many.slice(0, 1000), commands: commandsOf(1000) }), 'allow');
  assert.equal(judge(shellRun, { paths: [], commands: [...commandsOf(5000), 'rm x'] }), 'no-rm');
  assert.equal(judge(shellRun, { paths: [], commands: [`cat ${'a '.repeat(200_000)}b`] }), 'allow');
});
