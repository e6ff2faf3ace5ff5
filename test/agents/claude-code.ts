// Tries the gate in front of the real Claude Code: npm run agents. It is installed on demand, and kept for the next time.
// It runs in a network namespace of its own, in which there is nothing but loopback and a model that does as it is told.
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ApprovalDesk } from '../approvals/approval-desk.ts';
import { newPlace, TestDaemon } from '../harness/daemon.ts';

const version = '2.1.197';
const root = join(import.meta.dirname, '../..');
const cache = join(root, 'node_modules/.cache/agents', `claude-code-${version}`);
const sallyport = join(root, 'packages/cli/bin/sallyport.mjs');
const perRunMs = 120_000;

interface Result {
  readonly content: unknown;
  readonly is_error?: boolean;
}

function install(): string {
  const program = join(cache, 'node_modules/.bin/claude');
  if (!existsSync(program)) {
    process.stdout.write(`Installing Claude Code ${version} (once)…\n`);
    mkdirSync(cache, { recursive: true });
    const args = ['install', '--prefix', cache, '--no-audit', '--no-fund', `@anthropic-ai/claude-code@${version}`];
    execFileSync('npm', args, { stdio: 'inherit' });
  }
  return program;
}

const claude = install();
const daemon = await TestDaemon.start(newPlace());
const { workspace, home: gate, folder } = daemon.place;
const user = join(folder, 'user');
const environment = { PATH: process.env['PATH'] ?? '', HOME: user, SALLYPORT_HOME: gate };
const cli = (...args: string[]): string =>
  execFileSync(process.execPath, [sallyport, ...args], { cwd: workspace, env: environment, encoding: 'utf8' });

/** Has Claude Code use these tools, in a project that it trusts. Resolves to what each use gave. */
async function use(...uses: readonly { name: string; input: object }[]): Promise<readonly Result[]> {
  const file = join(folder, 'uses.json');
  writeFileSync(file, JSON.stringify(uses));
  rmSync(`${file}.results`, { force: true });
  const model = join(import.meta.dirname, 'scripted-model.ts');
  const script = `ip link set lo up
    exec 3< <("${process.execPath}" "${model}" "${file}"); MODEL=$!
    read -r port <&3
    export ANTHROPIC_BASE_URL="http://127.0.0.1:$port" ANTHROPIC_AUTH_TOKEN=x
    "${claude}" -p 'Do it.' < /dev/null; kill $MODEL`;
  const child = spawn('unshare', ['--net', '/bin/bash', '-c', script], {
    cwd: workspace,
    env: { ...environment, CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1', DISABLE_AUTOUPDATER: '1' },
    stdio: ['ignore', 'ignore', 'inherit'],
    timeout: perRunMs,
  });
  await new Promise((resolve) => child.once('close', resolve));
  const results = existsSync(`${file}.results`) ? readFileSync(`${file}.results`, 'utf8') : '[]';
  return JSON.parse(results) as readonly Result[];
}

const bash = (command: string) => ({ name: 'Bash', input: { command, description: 'as asked' } });
const told = ([first]: readonly Result[]): string => JSON.stringify(first?.content ?? 'nothing');

async function step(what: string, run: () => Promise<void>): Promise<void> {
  await run();
  process.stdout.write(`✔ ${what}\n`);
}

try {
  mkdirSync(join(user, '.claude'), { recursive: true });
  const trusted = { hasCompletedOnboarding: true, projects: { [workspace]: { hasTrustDialogAccepted: true } } };
  writeFileSync(join(user, '.claude.json'), JSON.stringify(trusted));
  writeFileSync(join(workspace, 'notes.md'), 'first\n');
  writeFileSync(join(workspace, '.env'), 'KEY=1\n');

  await step('init connects it, and the probe is denied', async () => {
    assert.match(cli('init', '--client', 'claude-code', '--yes'), /claude-code +live/);
  });
  await step('a command that only looks runs', async () => {
    assert.match(told(await use(bash('ls'))), /notes\.md/);
  });
  await step('a command that reads a secret is denied, and the agent reads why', async () => {
    const results = await use(bash("cat .e''nv"));
    assert.match(told(results), /Sallyport: .*credentials/);
    assert.doesNotMatch(told(results), /KEY=1/);
  });
  await step('a command that is asked about runs when a person has agreed', async () => {
    const desk = new ApprovalDesk(daemon);
    const running = use(bash('touch made.txt && echo made'));
    let task: string | undefined;
    while (task === undefined) {
      await new Promise((resolve) => setTimeout(resolve, 200));
      task = (await desk.pending())[0]?.id;
    }
    await desk.approve(task);
    assert.match(told(await running), /made/);
    assert.ok(existsSync(join(workspace, 'made.txt')));
  });
  await step('an edit is journalled, and can be undone', async () => {
    const file = join(workspace, 'notes.md');
    const edit = { name: 'Edit', input: { file_path: file, old_string: 'first', new_string: 'second' } };
    await use({ name: 'Read', input: { file_path: file } }, edit);
    assert.equal(readFileSync(file, 'utf8'), 'second\n');
    const last = (await daemon.records()).findLast(({ payload }) => payload['tool'] === 'files.edit');
    cli('undo', last?.callId ?? '', '--yes');
    assert.equal(readFileSync(file, 'utf8'), 'first\n');
  });
  await step('with the gate killed, everything is blocked', async () => {
    await daemon.kill('SIGKILL');
    assert.match(told(await use(bash('touch around.txt'))), /Sallyport blocks this/);
    assert.ok(!existsSync(join(workspace, 'around.txt')));
  });
} finally {
  await daemon.remove();
}
