import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { after, before, test } from 'node:test';
import { ApprovalDesk } from '../approvals/approval-desk.ts';
import { newPlace, TestDaemon } from '../harness/daemon.ts';
import type { Answer } from '../harness/daemon.ts';
import { requirement } from '../requirement.ts';
import { runHook } from './hook-program.ts';
import type { HookEnd } from './hook-program.ts';

let daemon: TestDaemon;
let uses = 0;

before(async () => {
  daemon = await TestDaemon.start(newPlace());
  await connect('claude-code');
  await connect('codex');
  writeFileSync(join(daemon.place.workspace, 'notes.md'), 'one\n');
  writeFileSync(join(daemon.place.workspace, '.env'), 'KEY=1\n');
});
after(() => daemon.remove());

async function connect(client: string): Promise<void> {
  const token = await daemon.newAgent(client);
  const folder = join(daemon.place.home, 'clients');
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const sessions = [{ root: daemon.place.workspace, token }];
  writeFileSync(join(folder, `${client}.json`), JSON.stringify({ sessions }), { mode: 0o600 });
}

const environment = () => ({ SALLYPORT_HOME: daemon.place.home });

function payloadOf(event: string, tool: string, input: object, more: object = {}) {
  return {
    session_id: 'chat-1',
    transcript_path: '/dev/null',
    cwd: daemon.place.workspace,
    permission_mode: 'default',
    hook_event_name: event,
    tool_name: tool,
    tool_input: input,
    tool_use_id: `use-${++uses}`,
    ...more,
  };
}

const ask = (tool: string, input: object, more: object = {}, client = 'claude-code'): Promise<HookEnd> =>
  runHook(client, payloadOf('PreToolUse', tool, input, more), environment());

function decisionOf({ exitCode, stdout, stderr }: HookEnd) {
  assert.equal(exitCode, 0, stderr);
  const { hookSpecificOutput } = JSON.parse(stdout) as {
    hookSpecificOutput: { hookEventName: string; permissionDecision: string; permissionDecisionReason: string };
  };
  assert.equal(hookSpecificOutput.hookEventName, 'PreToolUse');
  return hookSpecificOutput;
}

async function lastRecordOf(useId: string) {
  const records = (await daemon.records()).filter(({ payload }) => payload['request_id'] === useId);
  const callIds = new Set(records.map(({ callId }) => callId));
  return (await daemon.records()).filter(({ callId }) => callIds.has(callId));
}

test('a command that only looks around runs, and its end is recorded from the hook after it', async () => {
  requirement('HOOK-2');
  const payload = payloadOf('PreToolUse', 'Bash', { command: 'ls -la && git status --short', description: 'look' });
  const { permissionDecision } = decisionOf(await runHook('claude-code', payload, environment()));
  assert.equal(permissionDecision, 'allow');
  const done = { ...payload, hook_event_name: 'PostToolUse', tool_response: { stdout: 'a', stderr: '' } };
  assert.equal((await runHook('claude-code', done, environment())).exitCode, 0);
  const [intent, outcome] = await lastRecordOf(payload.tool_use_id);
  assert.deepEqual(
    [intent?.kind, intent?.payload['tool'], intent?.payload['ran_by']],
    ['intent', 'shell.run', 'claude-code'],
  );
  assert.deepEqual([outcome?.kind, outcome?.result], ['outcome', 'ok']);
});

test('a file that the rules close stays closed, however the command spells it', async () => {
  requirement('HOOK-6');
  for (const command of ['cat .env', 'cat .e""nv', "bash -c 'cat .env'", 'X=.env; cat $X', '< .env sort']) {
    const { permissionDecision, permissionDecisionReason } = decisionOf(await ask('Bash', { command }));
    assert.equal(permissionDecision, 'deny', command);
    assert.doesNotMatch(permissionDecisionReason, /sallyport [a-z]|rules\.yaml|tools\.yaml/);
  }
  const { permissionDecision } = decisionOf(await ask('Read', { file_path: join(daemon.place.workspace, '.env') }));
  assert.equal(permissionDecision, 'deny');
});

test('a search through a folder is refused while a closed file is among what it would read', async () => {
  for (const command of ['grep -r KEY .', 'rg --hidden KEY', 'rg -g .env KEY', 'diff -r . .', 'diff -N . src']) {
    const { permissionDecision, permissionDecisionReason } = decisionOf(await ask('Bash', { command }));
    assert.equal(permissionDecision, 'deny', command);
    assert.match(permissionDecisionReason, /would also read \.env/);
  }
  assert.equal(decisionOf(await ask('Grep', { pattern: 'KEY' })).permissionDecision, 'deny');
  for (const command of ['grep -r --exclude=.env KEY .', 'rg KEY']) {
    assert.equal(decisionOf(await ask('Bash', { command })).permissionDecision, 'allow', command);
  }
  assert.equal(decisionOf(await ask('Grep', { pattern: 'KEY', glob: '*.md' })).permissionDecision, 'allow');
});

test('a pattern for files is judged by the folder in which it begins', async () => {
  for (const pattern of ['src/**/*.ts', '**/*', `${daemon.place.workspace}/*`]) {
    assert.equal(decisionOf(await ask('Glob', { pattern })).permissionDecision, 'allow', pattern);
  }
  for (const pattern of ['/etc/*', '/etc/passwd', `${daemon.place.home}/*`]) {
    assert.equal(decisionOf(await ask('Glob', { pattern })).permissionDecision, 'deny', pattern);
  }
});

test('programs that only look do nothing else, whatever their options and variables make of them', async () => {
  const desk = new ApprovalDesk(daemon);
  for (const command of [
    'GIT_EXTERNAL_DIFF=./x git diff',
    'sort -opackage.json notes.md',
    'sort --comp=./x notes.md',
    'uniq notes.md package.json',
    'git diff --outp=package.json',
    'x=$(cat notes.md); echo $((x))',
    'git branch --list --no-list -D main',
    'touch .git/hooks/pre-commit',
  ]) {
    const asking = ask('Bash', { command });
    let task: string | undefined;
    while (task === undefined) task = (await desk.pending())[0]?.id;
    await desk.decide(task, false);
    assert.equal(decisionOf(await asking).permissionDecision, 'deny', command);
  }
});

test('a link does not lead around the rules', async () => {
  const { workspace } = daemon.place;
  symlinkSync('.env', join(workspace, 'harmless.txt'));
  symlinkSync('/etc', join(workspace, 'docs'));
  assert.equal(decisionOf(await ask('Bash', { command: 'cat harmless.txt' })).permissionDecision, 'deny');
  assert.equal(
    decisionOf(await ask('Read', { file_path: join(workspace, 'harmless.txt') })).permissionDecision,
    'deny',
  );
  assert.equal(decisionOf(await ask('Read', { file_path: join(workspace, 'docs/passwd') })).permissionDecision, 'deny');
});

test('what changes something outside is asked about, with every part of the command, and goes on when a person agrees', async () => {
  requirement('HOOK-6');
  const desk = new ApprovalDesk(daemon);
  const asking = ask('Bash', { command: 'cd src && npm install "$PKG" > log.txt' });
  let task: string | undefined;
  while (task === undefined) task = (await desk.pending())[0]?.id;
  const { effect } = await desk.show(task);
  for (const part of ['runs: npm install', 'changes: ', 'not known: '])
    assert.ok(effect?.includes(part), effect ?? part);
  await desk.approve(task);
  assert.equal(decisionOf(await asking).permissionDecision, 'allow');
});

test('edits and writes are judged as ours are', async () => {
  const path = join(daemon.place.workspace, 'notes.md');
  const edit = { file_path: path, old_string: 'one', new_string: 'two' };
  assert.equal(decisionOf(await ask('Edit', edit)).permissionDecision, 'allow');
  const elsewhere = { file_path: join(daemon.place.home, 'x'), content: 'x' };
  assert.equal(decisionOf(await ask('Write', elsewhere)).permissionDecision, 'deny');
  const all = { ...edit, replace_all: true };
  assert.equal(decisionOf(await ask('Edit', all)).permissionDecision, 'allow');
});

test('an edit of the client is in the journal, and can be undone', async () => {
  const file = join(daemon.place.workspace, 'kept.md');
  for (const [content, edited] of [
    ['first\n', 'second\n'],
    [undefined, 'new\n'],
  ] as const) {
    if (content === undefined) rmSync(file);
    else writeFileSync(file, content);
    const payload = payloadOf('PreToolUse', 'Write', { file_path: file, content: edited });
    assert.equal(decisionOf(await runHook('claude-code', payload, environment())).permissionDecision, 'allow');
    writeFileSync(file, edited);
    const done = { ...payload, hook_event_name: 'PostToolUse', tool_response: { filePath: file, success: true } };
    await runHook('claude-code', done, environment());
    const [intent] = await lastRecordOf(payload.tool_use_id);
    const undone = await daemon.call('undo.run', { call_id: intent?.callId });
    assert.ok(
      undone.success ?? (await confirm('undo.run', { call_id: intent?.callId }, undone)),
      JSON.stringify(undone),
    );
    assert.equal(existsSync(file) ? readFileSync(file, 'utf8') : undefined, content);
  }
});

/** As a person at the terminal does, who was shown the effect. */
async function confirm(tool: string, input: object, answer: Answer): Promise<unknown> {
  const confirmBinding = (answer.denied?.approval as { binding?: string } | undefined)?.binding ?? '';
  return (await daemon.call(tool, input, { confirmBinding })).success;
}

test('tools of the client that touch nothing go on', async () => {
  assert.equal(decisionOf(await ask('TodoWrite', { todos: [] })).permissionDecision, 'allow');
});

test('a command is judged with the home of the gate and with that of the hook', async () => {
  const ours = join(daemon.place.home, 'keys', 'audit.key');
  for (const [home, command] of [
    ['/nowhere', `cat ~/${relative(daemon.place.folder, ours)}`],
    [daemon.place.home, 'cat ~/keys/audit.key'],
  ] as const) {
    const payload = payloadOf('PreToolUse', 'Bash', { command });
    const end = await runHook('claude-code', payload, { ...environment(), HOME: home });
    assert.equal(decisionOf(end).permissionDecision, 'deny', command);
  }
});

test('Codex is told of denials only, and its patches are judged file by file', async () => {
  const allowed = await ask('Bash', { command: 'ls' }, {}, 'codex');
  assert.deepEqual([allowed.exitCode, allowed.stdout], [0, '']);
  const patch = '*** Begin Patch\n*** Update File: notes.md\n@@\n-one\n+two\n*** Add File: .env\n+KEY=2\n*** End Patch';
  assert.equal(decisionOf(await ask('apply_patch', { command: patch }, {}, 'codex')).permissionDecision, 'deny');
});

test('a call of which the client says nothing more is recorded as unknown when its turn ends', async () => {
  requirement('HOOK-2');
  const payload = payloadOf('PreToolUse', 'Bash', { command: 'ls' }, { session_id: 'chat-2' });
  decisionOf(await runHook('claude-code', payload, environment()));
  const over = { session_id: 'chat-2', cwd: daemon.place.workspace, hook_event_name: 'Stop' };
  assert.equal((await runHook('claude-code', over, environment())).exitCode, 0);
  const records = await lastRecordOf(payload.tool_use_id);
  assert.equal(records.at(-1)?.result, 'unknown');
});

test('whatever is wrong with the hook, it blocks', async () => {
  const good = payloadOf('PreToolUse', 'Bash', { command: 'ls' });
  const home = environment();
  for (const [client, payload, env] of [
    ['claude-code', '', home],
    ['claude-code', 'not json', home],
    ['claude-code', '[]', home],
    ['claude-code', { ...good, tool_input: 'ls' }, home],
    ['claude-code', { ...good, tool_use_id: '' }, home],
    ['claude-code', { ...good, cwd: '/' }, home],
    ['nobody', good, home],
    ['../x', good, home],
    ['claude-code', good, { ...home, SALLYPORT_TOKEN: 'sp_wrong' }],
    ['claude-code', good, { SALLYPORT_HOME: '/nowhere' }],
  ] as const) {
    const { exitCode, stdout, stderr } = await runHook(client, payload, env);
    const isDenied = exitCode === 0 && stdout.includes('"permissionDecision":"deny"');
    assert.ok(
      isDenied || (exitCode === 2 && stderr.length > 10),
      `${client} ${JSON.stringify(payload)}: ${exitCode} ${stdout}`,
    );
  }
});

test('a gate that does not run blocks, and the hook says how to start it', async () => {
  const stopped = await TestDaemon.start(newPlace());
  const token = await stopped.newAgent('claude-code');
  await stopped.kill('SIGKILL');
  const payload = { ...payloadOf('PreToolUse', 'Bash', { command: 'ls' }), cwd: stopped.place.workspace };
  const { exitCode, stderr } = await runHook('claude-code', payload, {
    SALLYPORT_HOME: stopped.place.home,
    SALLYPORT_TOKEN: token,
  });
  assert.equal(exitCode, 2);
  assert.match(stderr, /sallyport up/);
  // Code 2 would keep the client from ending its turn.
  const stop = { ...payload, hook_event_name: 'Stop' };
  const told = await runHook('claude-code', stop, { SALLYPORT_HOME: stopped.place.home, SALLYPORT_TOKEN: token });
  assert.equal(told.exitCode, 1);
  await stopped.remove();
});
