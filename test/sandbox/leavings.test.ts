import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import {
  chownSync,
  existsSync,
  lchownSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { after, before, beforeEach, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { newPlace, TestDaemon } from '../harness/daemon.ts';
import type { Answer, Place } from '../harness/daemon.ts';
import { ownRules } from '../harness/own-rules.ts';

/** As when the tests do not run as root: programs of root run as the owner of what they see. */
const owner = 65_530;
const rules = `version: 1
rules:
  - { id: operator, effect: allow, tools: ['*'], who: [operator], approval: waived }
  - id: write
    effect: allow
    tools: ['files.*']
    paths: ['$WORKSPACE/**']
    approval: waived
  - id: not-the-release
    effect: deny
    tools: ['files.*']
    access: [write]
    paths: ['$WORKSPACE/release/**']
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
  if (process.getuid?.() === 0) chownSync(place.workspace, owner, owner);
  daemon = await TestDaemon.start(place);
  agent = await daemon.newAgent('coder', { expires_in_minutes: 60 });
});
after(() => daemon.remove());

/** Each test has a folder of the workspace to itself. */
beforeEach(() => {
  folder = `part-${++round}`;
  put(`${folder}/readme`, '');
});

function at(name: string): string {
  return join(place.workspace, folder, name);
}

function put(name: string, content: string): void {
  const path = join(place.workspace, name);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, content);
  giveAway();
}

function giveAway(): void {
  if (process.getuid?.() !== 0) return;
  for (const entry of readdirSync(place.workspace, { recursive: true, encoding: 'utf8' })) {
    lchownSync(join(place.workspace, entry), owner, owner);
  }
}

function run(script: string, more: Record<string, unknown> = {}): Promise<Answer> {
  return daemon.call(
    'shell.run',
    { argv: ['/bin/bash', '-c', script], cwd: join(place.workspace, folder), ...more },
    { token: agent },
  );
}

function outputOf(answer: Answer): {
  exit_code: number;
  stdout: string;
  stderr: string;
  withheld?: string[];
  withheld_more?: number;
} {
  assert.ok(answer.success, JSON.stringify(answer));
  return JSON.parse(answer.success.outputJson) as ReturnType<typeof outputOf>;
}

test('files that run by themselves do not stay, however many others there are', async () => {
  const names = ['.mcp.json', '.envrc', '.MCP.JSON', '.devcontainer.json', '.exrc'];
  const inside = ['.claude/settings.json', '.husky/pre-commit', '.idea/a.xml', '.devcontainer/devcontainer.json'];
  const deep = ['.vscode/tasks.json', '.git/config', 'a/b/c/.cursor/mcp.json', 'x y/\\n/.hg/hgrc'];
  const all = [...inside, ...deep].map((name) => `mkdir -p "$(dirname $'${name}')"; echo x >$'${name}'`);
  const decoys = 'mkdir -p z/{1..1100}; for n in {1..1100}; do echo x >z/$n/.mcp.json; done';
  const answer = outputOf(await run([decoys, ...names.map((name) => `echo x >${name}`), ...all].join('\n')));
  assert.equal(answer.withheld?.length, 100);
  assert.ok((answer.withheld_more ?? 0) >= 1000, String(answer.withheld_more));
  const left = readdirSync(at('.'), { recursive: true, encoding: 'utf8' }).filter((name) =>
    [...names, '.claude', '.husky', '.idea', '.devcontainer', '.vscode', '.git', '.cursor', '.hg'].includes(
      name.split('/').at(-1) ?? '',
    ),
  );
  assert.deepEqual(left, []);
});

test('a repository that a program made runs nothing when a person asks git for its status', async () => {
  const marker = join(place.folder, 'marker');
  const hostile = `core.fsmonitor "touch ${marker}; false"`;
  const script = `
    export HOME=/tmp; git init -q . && git config ${hostile}
    mkdir bare && cd bare && git init -q --bare . && git config ${hostile} && git config core.bare false && git config core.worktree ..
    cd .. && mkdir pointer && echo "gitdir: ../bare" >pointer/.git
    mkdir -p shared/rest/{objects,refs} && cd shared && echo "ref: refs/heads/main" >HEAD && echo rest >commondir
    git config -f rest/config core.repositoryformatversion 1 && git config -f rest/config extensions.worktreeConfig true
    git config -f config.worktree core.worktree .. && git config -f config.worktree ${hostile}`;
  assert.equal(outputOf(await run(script)).exit_code, 0);
  for (const where of ['.', 'bare', 'pointer', 'shared']) {
    spawnSync('/usr/bin/git', ['-C', at(where), '-c', 'safe.directory=*', 'status'], {
      env: { PATH: '/usr/bin:/bin' },
    });
  }
  assert.ok(!existsSync(marker), 'git ran what a program wrote');
  assert.ok(existsSync(at('readme')));
});

test('what is there already can be read and not changed; nothing of a person is lost', async () => {
  put(`${folder}/.vscode/tasks.json`, 'mine');
  put(`${folder}/docs/guide.md`, 'mine');
  put(`${folder}/fixture.git/HEAD`, 'ref: refs/heads/main');
  put(`${folder}/fixture.git/objects/a`, '');
  put(`${folder}/fixture.git/refs/a`, '');
  symlinkSync('docs', at('.idea'));
  giveAway();
  const script =
    'cat .vscode/tasks.json; echo x >.vscode/tasks.json; mv .vscode y; echo x >fixture.git/config; mv docs .husky; touch .husky/new';
  const answer = outputOf(await run(script));
  assert.equal(readFileSync(at('.vscode/tasks.json'), 'utf8'), 'mine');
  assert.ok(!existsSync(at('fixture.git/config')));
  assert.equal(readFileSync(at('docs/guide.md'), 'utf8'), 'mine');
  assert.ok(!existsSync(at('.husky')));
  assert.ok(existsSync(at('.idea')), 'a link of the person stays');
  assert.deepEqual(answer.withheld ?? [], []);
});

test('a link of a person that led nowhere leads to nothing that a program made', async () => {
  put(`${folder}/docs/guide.md`, 'mine');
  put(`${folder}/real/hooks/a`, 'mine');
  symlinkSync('later', at('.husky'));
  symlinkSync('gone/deep', at('.idea'));
  symlinkSync('via/hooks', at('.zed'));
  symlinkSync('real', at('via'));
  giveAway();
  const script = 'mkdir -p later gone via2/hooks; echo x >later/pre-commit; mv docs gone/deep; rm via; mv via2 via';
  const answer = outputOf(await run(script));
  assert.equal(answer.exit_code, 0, answer.stderr);
  for (const name of ['.husky', '.idea', '.zed']) assert.ok(!existsSync(at(name)), name);
  assert.equal(readFileSync(at('docs/guide.md'), 'utf8'), 'mine');
  assert.equal(answer.withheld?.length, 2, JSON.stringify(answer));
});

test('a folder too deep to be looked into comes up, and keeps no later program from running', async () => {
  const script =
    'mkdir deep; cd deep; n=$(printf %0200d 0); for i in {1..45}; do mkdir $n; cd $n; done; echo x >.nvim.lua';
  assert.equal(outputOf(await run(script)).exit_code, 0);
  const again = outputOf(await run('find .. -name .nvim.lua; find .. -name ".nvim.lua.withheld-*" | wc -l'));
  assert.deepEqual([again.exit_code, again.stderr], [0, '']);
  assert.match(again.stdout, /^1\s*$/);
});

test('names and folders that are hard to look at hide nothing', async () => {
  const script = `
    mkdir $'\\xff' && echo x >$'\\xff/.mcp.json'
    mkdir -p shut/in && echo x >shut/in/.mcp.json && chmod 000 shut/in shut
    ln -s /etc/passwd .mcp.json; echo x >plain; mkdir hard; ln plain hard/.mcp.json
    mkdir $'line\\nbreak'; ln -s ../plain $'line\\nbreak/.envrc'
    echo x >"$(printf %0250d 0)"; mkdir -p sparse; truncate -s 1M sparse/.envrc`;
  outputOf(await run(script));
  execFileSync('chmod', ['-R', 'u+rwX', at('.')]);
  const found = execFileSync('find', [at('.'), '-name', '.mcp.json', '-o', '-name', '.envrc'], { encoding: 'utf8' });
  assert.equal(found, '');
});

test('what a rule closes to the file tools is closed to programs as well', async () => {
  put('release/notes', 'mine');
  const answer = outputOf(await run('echo x >../release/notes; echo x >../release/new; echo x >fine'));
  assert.equal(readFileSync(join(place.workspace, 'release/notes'), 'utf8'), 'mine');
  assert.deepEqual(readdirSync(join(place.workspace, 'release')), ['notes']);
  assert.ok(existsSync(at('fine')));
  assert.deepEqual(answer.withheld ?? [], []);
});

test('a program that runs beside another cannot pass off its files as those of the other', async () => {
  for (let attempt = 0; attempt < 3; attempt++) {
    // The first makes what the second takes for old, then puts something else there while the second waits for it.
    const first = run(
      'mkdir -p d/{1..300}; echo x >.mcp.json; for n in {1..300}; do echo x >d/$n/.envrc; done; mv .mcp.json plain; echo y >.mcp.json',
    );
    const second = run(
      'for n in {1..30}; do mv plain .mcp.json; echo z >.mcp.json; echo z >d/7/.envrc; done 2>/dev/null',
    );
    await Promise.all([first, second]);
    const found = execFileSync('find', [at('.'), '-name', '.mcp.json', '-o', '-name', '.envrc'], { encoding: 'utf8' });
    assert.equal(found, '', `attempt ${attempt}`);
  }
});

test('what a program left when the daemon was killed is set aside at the next start', async () => {
  const script = `echo x >.mcp.json; mkdir -p .claude; echo x >.claude/settings.json; git init -q .; touch ready; sleep 60`;
  const cut = run(script).catch(() => undefined);
  while (!existsSync(at('ready'))) await sleep(20);
  await daemon.kill('SIGKILL');
  await cut;
  assert.ok(existsSync(at('.mcp.json')));
  daemon = await TestDaemon.start(place);
  for (const name of ['.mcp.json', '.claude', '.git']) assert.ok(!existsSync(at(name)), name);
  assert.ok(existsSync(at('ready')));
  const event = (await daemon.records()).find(({ payload }) => payload['event'] === 'set_aside_after_crash');
  assert.equal(event?.payload['count'], 3);
  assert.deepEqual(readdirSync(join(place.home, 'sweeps')), ['alive']);
});

test('notes that somebody else wrote do not stop the start and move nothing', async () => {
  await daemon.kill('SIGTERM');
  const notes = join(place.home, 'sweeps');
  mkdirSync(join(notes, 'x.json'), { recursive: true });
  mkdirSync(at('.husky'));
  const caller = { principal: 'agent', agent: 'a', mode: 'NORMAL', consented: false };
  const forged = { roots: [at('.')], known: [], links: {}, caller, isForeseen: false };
  writeFileSync(join(notes, 'forged.json'), JSON.stringify(forged));
  daemon = await TestDaemon.start(place);
  assert.ok(existsSync(at('.husky')));
  const events = (await daemon.records()).filter(({ payload }) => payload['event'] === 'sweep_note_rejected');
  assert.deepEqual(events.map(({ payload }) => String(payload['note'])).toSorted(), ['forged.json', 'x.json']);
});
