// Tries the adapter of our SDK with the real Claude Agent SDK: npm run agent-sdk. It is installed on demand, and kept for the
// next time. It runs in a network namespace of its own, in which there is nothing but loopback and a model that does as it
// is told; the gate is reached by its socket.
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { chmodSync, cpSync, existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ApprovalDesk } from '../approvals/approval-desk.ts';
import { newPlace, TestDaemon } from '../harness/daemon.ts';

const version = '0.3.326';
const root = join(import.meta.dirname, '../..');
const cache = join(root, 'node_modules/.cache/agents', `claude-agent-sdk-${version}`);
const perRunMs = 120_000;

interface Result {
  readonly content: unknown;
}

if (!existsSync(join(cache, 'node_modules/@anthropic-ai/claude-agent-sdk/package.json'))) {
  process.stdout.write(`Installing the Claude Agent SDK ${version} (once)…\n`);
  mkdirSync(cache, { recursive: true });
  const args = ['install', '--prefix', cache, '--no-audit', '--no-fund', '--ignore-scripts', '--legacy-peer-deps'];
  execFileSync('npm', [...args, `@anthropic-ai/claude-agent-sdk@${version}`], { stdio: 'inherit' });
}

// The example as it is, where it finds both packages.
const agent = join(cache, 'agent');
rmSync(agent, { recursive: true, force: true });
mkdirSync(agent);
cpSync(join(root, 'examples/agents/claude-agent.mjs'), join(agent, 'claude-agent.mjs'));
const scope = join(cache, 'node_modules/@sallyport');
rmSync(scope, { recursive: true, force: true });
mkdirSync(scope);
symlinkSync(join(root, 'packages/sdk'), join(scope, 'sdk'));
writeFileSync(
  join(agent, 'run.mjs'),
  `import { answer } from './claude-agent.mjs';
const [socketPath, token, cwd] = process.argv.slice(2);
// The agent may do everything, as far as it is concerned: only the gate says no.
const options = { cwd, permissionMode: 'bypassPermissions', allowDangerouslySkipPermissions: true };
console.log(await answer('Do it.', options, { socketPath, token }));
`,
);
// The adapter fits the types of the SDK.
writeFileSync(
  join(agent, 'types.ts'),
  `import type { Options } from '@anthropic-ai/claude-agent-sdk';
import { gateHooks } from '@sallyport/sdk/claude-agent';
export const options: Options = { hooks: gateHooks() };
`,
);
const compiler = [
  '--ignoreConfig',
  '--noEmit',
  '--strict',
  '--skipLibCheck',
  '--module',
  'nodenext',
  '--target',
  'esnext',
  '--types',
  'node',
];
const typeRoots = ['--typeRoots', join(root, 'node_modules/@types'), '--allowImportingTsExtensions'];
execFileSync(join(root, 'node_modules/.bin/tsc'), [...compiler, ...typeRoots, join(agent, 'types.ts')], {
  stdio: 'inherit',
});
process.stdout.write('✔ the hooks fit the types of the SDK\n');

const daemon = await TestDaemon.start(newPlace());
const { workspace, home, folder } = daemon.place;
const token = await daemon.newAgent('claude-agent');
const socketPath = join(home, 'run/agent/sallyport.sock');

/** Has the agent use these tools. Resolves to what each use gave. */
async function use(...uses: readonly { name: string; input: object }[]): Promise<readonly Result[]> {
  const file = join(folder, 'uses.json');
  writeFileSync(file, JSON.stringify(uses));
  rmSync(`${file}.results`, { force: true });
  const model = join(import.meta.dirname, 'scripted-model.ts');
  const script = `ip link set lo up
    exec 3< <("${process.execPath}" "${model}" "${file}"); MODEL=$!
    read -r port <&3
    export ANTHROPIC_BASE_URL="http://127.0.0.1:$port" ANTHROPIC_AUTH_TOKEN=x
    "${process.execPath}" "${join(agent, 'run.mjs')}" "${socketPath}" "${token}" "${workspace}" < /dev/null; kill $MODEL`;
  const child = spawn('unshare', ['--net', '/bin/bash', '-c', script], {
    cwd: workspace,
    env: {
      ...{ PATH: process.env['PATH'] ?? '', HOME: join(folder, 'user'), IS_SANDBOX: '1' },
      ...{ CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1', DISABLE_AUTOUPDATER: '1' },
    },
    stdio: ['ignore', 'ignore', 'inherit'],
    timeout: perRunMs,
  });
  await new Promise((resolve) => child.once('close', resolve));
  return JSON.parse(
    existsSync(`${file}.results`) ? readFileSync(`${file}.results`, 'utf8') : '[]',
  ) as readonly Result[];
}

const bash = (command: string) => ({ name: 'Bash', input: { command, description: 'as asked' } });
const told = ([first]: readonly Result[]): string => JSON.stringify(first?.content ?? 'nothing');

async function step(what: string, run: () => Promise<void>): Promise<void> {
  await run();
  process.stdout.write(`✔ ${what}\n`);
}

try {
  mkdirSync(join(folder, 'user'), { recursive: true });
  chmodSync(workspace, 0o755);
  writeFileSync(join(workspace, 'notes.md'), 'first\n');
  writeFileSync(join(workspace, '.env'), 'KEY=1\n');
  await step('a command that only looks runs', async () => assert.match(told(await use(bash('ls'))), /notes\.md/));
  await step('a command that reads a secret is denied, and the model reads why', async () => {
    const results = told(await use(bash('cat .env')));
    assert.match(results, /credentials/);
    assert.doesNotMatch(results, /KEY=1/);
  });
  await step('a command that is asked about runs when a person has agreed', async () => {
    const desk = new ApprovalDesk(daemon);
    const running = use(bash('cp notes.md made.txt && echo made'));
    let task: string | undefined;
    while (task === undefined) {
      await new Promise((resolve) => setTimeout(resolve, 200));
      task = (await desk.pending())[0]?.id;
    }
    await desk.approve(task);
    assert.match(told(await running), /made/);
  });
  await step('with the gate killed, nothing runs', async () => {
    await daemon.kill('SIGKILL');
    assert.match(told(await use(bash('cp notes.md around.txt'))), /could not be asked/);
    assert.ok(!existsSync(join(workspace, 'around.txt')));
  });
} finally {
  await daemon.remove();
}
