import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { chownSync, cpSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, beforeEach, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { ApprovalDesk } from '../approvals/approval-desk.ts';
import { newPlace, TestDaemon } from '../harness/daemon.ts';
import type { Answer, Place } from '../harness/daemon.ts';
import { ownRules } from '../harness/own-rules.ts';
import { runSallyport } from '../harness/run-sallyport.ts';
import { serverScript } from '../mcp/upstream/upstream-kit.ts';

/** As when the tests do not run as root: programs of root run as the owner of what they see. */
const owner = 65_530;
const rules = `version: 1
rules:
  - { id: operator, effect: allow, tools: ['*'], who: [operator], approval: waived }
  - { id: write, effect: allow, tools: ['files.*'], paths: ['$WORKSPACE/**'], approval: waived }
  - { id: server, effect: allow, tools: ['demo.*'], origins: [upstream], approval: waived }
  - { id: git, effect: allow, tools: [git.clone], git_operations: [CLONE], paths: ['$WORKSPACE/**'], approval: waived }
  - id: switch
    effect: require_approval
    tools: [git.checkout]
    git_operations: [CHECKOUT]
    paths: ['$WORKSPACE/**']
  - id: commands
    effect: allow
    tools: [shell.run]
    approval: waived
    grants: { write: [$WORKSPACE], limits: { processes: 200 } }
`;

let place: Place;
let daemon: TestDaemon;
let agent: string;
let round = 0;
let folder = '';

before(async () => {
  place = ownRules(newPlace(), { 'tools.yaml': rules });
  const script = join(place.folder, 'server.mjs');
  cpSync(serverScript, script);
  give(place.workspace);
  makeRepository(join(place.workspace, 'source'));
  daemon = await TestDaemon.start(place);
  agent = await daemon.newAgent('coder', { expires_in_minutes: 60 });
  const add = ['upstream', 'add', 'demo', '--yes', '--read', script, '--write', place.workspace];
  assert.equal(runSallyport(place, [...add, '--', 'node', script, 'shell']).status, 0);
  assert.equal(runSallyport(place, ['upstream', 'test', 'demo']).status, 0);
  assert.equal(runSallyport(place, ['upstream', 'accept', 'demo', '--yes']).status, 0);
});
after(() => daemon.remove());

/** Each test has a folder of the workspace to itself, and a server that was there before everything in it. */
beforeEach(async () => {
  folder = join(place.workspace, `part-${++round}`);
  mkdirSync(folder);
  give(folder);
  await askServer('true');
});

function give(path: string): void {
  if (process.getuid?.() === 0) chownSync(path, owner, owner);
}

/** With a branch called topic, where there is a hook. */
function makeRepository(path: string): void {
  const script = `git init -q -b main . && touch a && git add . && git commit -qm a && git checkout -qb topic &&
    mkdir .husky && echo true >.husky/pre-commit && git add . && git commit -qm b && git checkout -q main && git clone -q --bare . bare.git`;
  const identity = { GIT_AUTHOR_NAME: 'a', GIT_AUTHOR_EMAIL: 'a', GIT_COMMITTER_NAME: 'a', GIT_COMMITTER_EMAIL: 'a' };
  mkdirSync(path);
  execFileSync('/bin/bash', ['-c', script], { cwd: path, env: { PATH: '/usr/bin:/bin', HOME: path, ...identity } });
  for (const entry of ['.', ...readdirSync(path, { recursive: true, encoding: 'utf8' })]) give(join(path, entry));
}

function at(name: string): string {
  return join(folder, name);
}

/** What the server runs. The gate looks at what it left before it answers. */
async function askServer(script: string): Promise<void> {
  const answer = await daemon.call('demo.run', { script: `cd ${folder}; ${script}` }, { token: agent });
  assert.ok(answer.success, JSON.stringify(answer));
}

function write(path: string, content: string, more: object = {}): Promise<Answer> {
  return daemon.call('files.write', { path: at(path), content, ...more }, { token: agent });
}

function run(script: string, more: object = {}): Promise<Answer> {
  return daemon.call('shell.run', { argv: ['/bin/bash', '-c', script], cwd: folder, ...more }, { token: agent });
}

function assertOk({ success, ...answer }: Answer): void {
  assert.ok(success, JSON.stringify(answer));
}

test('what the gate wrote stays, and programs in that folder start, however long a server has run there', async () => {
  assertOk(await write('.envrc', 'export A=1'));
  assertOk(await write('.husky/pre-commit', '{}', { create_parents: true }));
  assertOk(await run('echo x >.envrc; echo x >.husky/pre-commit; touch done'));
  await askServer('echo x >.envrc; echo x >.husky/pre-commit; echo x >.husky/pre-push');
  assertOk(await write('.envrc', 'export A=2'));
  await askServer('touch done-too');
  assert.equal(readFileSync(at('.envrc'), 'utf8'), 'export A=2');
  assert.equal(readFileSync(at('.husky/pre-commit'), 'utf8'), '{}');
  assert.deepEqual(readdirSync(folder).toSorted(), ['.envrc', '.husky', 'done', 'done-too']);
});

test('what git made for a call stays, and a server that is busy keeps git waiting', async () => {
  const clone = (to: string): Promise<Answer> =>
    daemon.call('git.clone', { args: [join(place.workspace, 'source/bare.git'), at(to)] }, { token: agent });
  assertOk(await clone('copy'));
  await askServer('touch here');
  assert.ok(existsSync(at('copy/.git/HEAD')));
  const ask = { args: ['topic'], cwd: join(place.workspace, 'source') };
  const { taskId } = ApprovalDesk.ticketOf(await daemon.call('git.checkout', ask, { token: agent }));
  await new ApprovalDesk(daemon).approve(taskId);
  assertOk(await daemon.call('git.checkout', ask, { token: agent, approvalTaskId: taskId }));
  await askServer('touch there');
  assert.ok(existsSync(join(place.workspace, 'source/.husky/pre-commit')));
  const busy = await keepBusy('true');
  const cloning = clone('second');
  await busy.end();
  assertOk(await cloning);
  await askServer('touch more');
  assert.ok(existsSync(at('second/.git/HEAD')));
});

/** A call that keeps the server from making way. */
async function keepBusy(script: string): Promise<{ readonly end: () => Promise<unknown> }> {
  const call = askServer(`touch ready; while [ ! -e enough ]; do ${script}; sleep 0.01; done`);
  while (!existsSync(at('ready'))) await sleep(10);
  return { end: () => (writeFileSync(at('enough'), ''), call) };
}

const tricks = {
  'writes to it': 'echo y >>.envrc',
  'puts another file there': 'echo y >new; mv new .envrc',
  'puts one with the same content there': 'cp .envrc new; mv new .envrc',
  'keeps a second name for it': 'ln .envrc other',
  'lets everybody write to it': 'chmod 666 .envrc',
  'puts a link there': 'mv .envrc other; ln -s other .envrc',
  'puts a folder there': 'mv .envrc other; mkdir .envrc',
};
for (const [what, script] of Object.entries(tricks)) {
  test(`what the gate wrote does not stay when a server ${what}`, async () => {
    const busy = await keepBusy(`[ -e .envrc ] && { ${script}; touch did; }`);
    assertOk(await write('.envrc', 'export A=1'));
    while (!existsSync(at('did'))) await sleep(10);
    await busy.end();
    assert.ok(!existsSync(at('.envrc')));
  });
}

test('what a server puts into a folder that the gate made is taken out of it', async () => {
  const busy = await keepBusy('[ -e .husky/pre-commit ] && { echo x >.husky/pre-push; touch did; }');
  assertOk(await write('.husky/pre-commit', '{}', { create_parents: true }));
  while (!existsSync(at('did'))) await sleep(10);
  await busy.end();
  assert.deepEqual(readdirSync(at('.husky')), ['pre-commit']);
});

test('a program that is ready to write changes nothing that the gate replaces or moves beside it', async () => {
  const names = ['.envrc', '.gdbinit'];
  for (const name of names) assertOk(await write(name, 'mine'));
  const loop = `for name in ${names.join(' ')}; do echo evil >$name && touch did-$name; done 2>/dev/null`;
  const program = run(`touch ready; while [ ! -e enough ]; do ${loop}; done`, { timeout_ms: 30_000 });
  while (!existsSync(at('ready'))) await sleep(10);
  assertOk(await write('.envrc', 'export A=1'));
  mkdirSync(at('sub'));
  give(at('sub'));
  const move = { from: folder, patterns: ['.gdbinit'], to: at('sub') };
  assertOk(await daemon.call('files.move_glob', move, { token: agent }));
  // Nothing is mounted over what is new.
  while (!names.every((name) => existsSync(at(`did-${name}`)))) await sleep(10);
  writeFileSync(at('enough'), '');
  assertOk(await program);
  assert.ok(!existsSync(at('.gdbinit')));
  // What the program opened just before it was replaced is nobody's by now; then it may have ended without another try.
  if (existsSync(at('.envrc'))) assert.equal(readFileSync(at('.envrc'), 'utf8'), 'export A=1');
  assert.equal(readFileSync(at('sub/.gdbinit'), 'utf8'), 'mine');
});

test('a call that waited for a busy server in vain says so, and that nothing has run', async () => {
  const busy = await keepBusy('true');
  assertOk(await write('.envrc', 'export A=1'));
  const answer = await run('touch ran', { timeout_ms: 1500 });
  await busy.end();
  assert.equal(answer.error?.code ?? answer.denied?.rationaleCode, 'FOLDER_BUSY', JSON.stringify(answer));
  assert.match(answer.error?.message ?? answer.denied?.message ?? '', /was not started/);
  const record = (await daemon.records()).findLast(({ callId }) => callId === answer.callId);
  assert.equal(record?.payload['effect'], undefined, JSON.stringify(record));
  assertOk(await run('touch ran'));
});

test('what the gate wrote is still there after a kill, and what a server changed of it is not', async () => {
  const busy = await keepBusy('[ -e .exrc ] && { echo evil >.exrc; touch did; }');
  assertOk(await write('.envrc', 'export A=1'));
  const { ino } = statSync(at('.envrc'));
  assertOk(await write('.exrc', 'set number'));
  while (!existsSync(at('did'))) await sleep(10);
  const cut = busy.end().catch(() => undefined);
  await daemon.kill('SIGKILL');
  await cut;
  daemon = await TestDaemon.start(place);
  assert.equal(statSync(at('.envrc')).ino, ino);
  assert.ok(!existsSync(at('.exrc')));
});
