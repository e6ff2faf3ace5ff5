// Tries the gate in front of real coding agents: npm run agents [NAME...]. They are installed on demand, and kept for the
// next time. Each runs in a network namespace of its own, in which there is nothing but loopback and a model that does as
// it is told.
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ApprovalDesk } from '../approvals/approval-desk.ts';
import { newPlace, TestDaemon } from '../harness/daemon.ts';
import { installAgent, realAgents } from './real-agents.ts';
import type { RealAgent, Use } from './real-agents.ts';

const sallyport = join(import.meta.dirname, '../../packages/cli/bin/sallyport.mjs');
const perRunMs = 240_000;
const wanted = process.argv.slice(2);

for (const agent of realAgents) if (wanted.length === 0 || wanted.includes(agent.name)) await tryAgent(agent);

async function tryAgent(agent: RealAgent): Promise<void> {
  const bin = installAgent(agent);
  process.stdout.write(`${agent.packages[0]}\n`);
  // Codex refuses a home below /tmp.
  const daemon = await TestDaemon.start(newPlace('/var/tmp'));
  try {
    await tryWith(agent, bin, daemon);
  } finally {
    await daemon.remove();
  }
}

async function tryWith(agent: RealAgent, bin: string, daemon: TestDaemon): Promise<void> {
  const { workspace, home: gate, folder } = daemon.place;
  const user = join(folder, 'user');
  const environment = { PATH: `${bin}:${process.env['PATH'] ?? ''}`, HOME: user, SALLYPORT_HOME: gate };
  const cli = (...args: string[]): string =>
    execFileSync(process.execPath, [sallyport, ...args], { cwd: workspace, env: environment, encoding: 'utf8' });

  /** Has the agent use these tools, in a project that it trusts. What it was told about each use. */
  const use = async (...uses: readonly Use[]): Promise<string> => {
    const file = join(folder, 'uses.json');
    writeFileSync(file, JSON.stringify(uses));
    rmSync(`${file}.results`, { force: true });
    const model = join(import.meta.dirname, 'scripted-model.ts');
    const script = `ip link set lo up
      exec 3< <("${process.execPath}" "${model}" "${file}"); MODEL=$!
      read -r port <&3
      ${agent.command(bin)} < /dev/null > "${folder}/agent.log" 2>&1; kill $MODEL`;
    const child = spawn('unshare', ['--net', '/bin/bash', '-c', script], {
      cwd: workspace,
      env: { ...environment, ...agent.environment },
      stdio: ['ignore', 'ignore', 'inherit'],
      timeout: perRunMs,
    });
    await new Promise((resolve) => child.once('close', resolve));
    if (existsSync(`${file}.results`)) return readFileSync(`${file}.results`, 'utf8');
    return `no result: ${readFileSync(join(folder, 'agent.log'), 'utf8').slice(-2000)}`;
  };

  const step = async (what: string, run: () => Promise<void> | void): Promise<void> => {
    await run();
    process.stdout.write(`✔ ${agent.name}: ${what}\n`);
  };

  agent.seed(user, workspace);
  writeFileSync(join(workspace, 'notes.md'), 'first\n');
  writeFileSync(join(workspace, '.env'), 'KEY=1\n');
  mkdirSync(join(workspace, 'src'), { recursive: true });

  await step('init connects it, and the probes are denied', () => {
    const said = cli('init', '--client', agent.name, '--yes');
    assert.match(said, new RegExp(`${agent.name} +hooks +live`));
    assert.match(said, new RegExp(`${agent.name} +mcp +live`));
  });
  await step('a command that only looks runs', async () => {
    assert.match(await use(agent.shell('ls')), /notes\.md/);
  });
  await step('a command that reads a secret is denied, and the agent reads why', async () => {
    const told = await use(agent.shell("cat .e''nv"));
    assert.match(told, /Sallyport: .*credentials/);
    assert.doesNotMatch(told, /KEY=1/);
  });
  await step('a command that is asked about runs when a person has agreed', async () => {
    const desk = new ApprovalDesk(daemon);
    const running = use(agent.shell('touch made.txt && echo made'));
    let task: string | undefined;
    const until = Date.now() + perRunMs;
    while (task === undefined && Date.now() < until) {
      await new Promise((resolve) => setTimeout(resolve, 200));
      task = (await desk.pending())[0]?.id;
    }
    if (task === undefined) assert.fail(`nobody was asked: ${await running}`);
    await desk.approve(task);
    assert.match(await running, /made/);
    assert.ok(existsSync(join(workspace, 'made.txt')));
  });
  await step('an edit is journalled, and can be undone', async () => {
    const file = join(workspace, 'notes.md');
    const told = await use(...agent.edit(file));
    assert.equal(readFileSync(file, 'utf8'), 'second\n', told);
    const last = (await daemon.records()).findLast(({ payload }) => payload['tool'] === agent.editTool);
    cli('undo', last?.callId ?? '', '--yes');
    assert.equal(readFileSync(file, 'utf8'), 'first\n');
  });
  await step('coverage says that everything passed the gate', () => {
    const said = cli('coverage', '--client', agent.name);
    assert.match(said, new RegExp(`${agent.name} +hooks +live`));
    assert.match(said, /passed the gate/);
  });
  await step('with the gate killed, everything is blocked', async () => {
    await daemon.kill('SIGKILL');
    const told = await use(agent.shell('touch around.txt'));
    assert.match(told, /Sallyport blocks this/);
    assert.ok(!existsSync(join(workspace, 'around.txt')));
  });
}
