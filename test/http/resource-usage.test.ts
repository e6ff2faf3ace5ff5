import assert from 'node:assert/strict';
import { chmodSync, chownSync, cpSync, mkdirSync, writeFileSync } from 'node:fs';
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { newPlace, TestDaemon } from '../harness/daemon.ts';
import { ownRules } from '../harness/own-rules.ts';
import { runSallyport } from '../harness/run-sallyport.ts';
import { serverScript } from '../mcp/upstream/upstream-kit.ts';
import { requirement } from '../requirement.ts';

const rules = `version: 1
rules:
  - { id: reading, effect: allow, tools: ['files.*', 'git.*'], paths: ['$WORKSPACE/**', $WORKSPACE], approval: waived }
  - { id: servers, effect: allow, tools: ['demo.*'], origins: [upstream], approval: waived }
  - { id: people, effect: allow, tools: ['*'], who: [operator], approval: waived }
  - { id: commands, effect: allow, tools: [shell.run], approval: waived, grants: { write: [$WORKSPACE] } }
`;
const mebibyte = 1024 * 1024;

let daemon: TestDaemon;
let token: string;

before(async () => {
  const place = ownRules(newPlace(), { 'tools.yaml': rules });
  chmodSync(place.folder, 0o755);
  const script = join(place.folder, 'server.mjs');
  cpSync(serverScript, script);
  mkdirSync(join(place.workspace, 'project'));
  writeFileSync(join(place.workspace, 'project', 'a.txt'), 'one\n');
  execFileSync('/usr/bin/git', ['init', '-q'], { cwd: join(place.workspace, 'project') });
  if (process.getuid?.() === 0) {
    execFileSync('chown', ['-R', '65530:65530', place.workspace]);
    chownSync(script, 65_530, 65_530);
  }
  daemon = await TestDaemon.start(place);
  token = await daemon.newAgent('ada');
  for (const args of [
    ['add', 'demo', '--yes', '--read', script, '--', 'node', script, 'busy'],
    ['test', 'demo'],
    ['accept', 'demo', '--yes'],
  ]) {
    const ran = runSallyport(place, ['upstream', ...args]);
    assert.equal(ran.status, 0, ran.stdout + ran.stderr);
  }
});
after(() => daemon.remove());

interface Metadata {
  readonly executionTime: number;
  readonly resourceUsage: { readonly cpuTime?: number; readonly memoryPeak?: number; readonly networkCalls?: number };
}

async function metadataOf(toolName: string, args: object): Promise<Metadata> {
  const { json } = await daemon.post('v1/calls', { toolName, arguments: args }, token);
  const { status, metadata } = json as { readonly status: string; readonly metadata: Metadata };
  assert.equal(status, 'success', JSON.stringify(json));
  return metadata;
}

function assertAbout(actual: number | undefined, least: number, most: number): void {
  assert.ok(actual !== undefined && actual >= least && actual <= most, `${actual} is not within ${least} and ${most}`);
}

test('built-in tools that start a program tell what the program used', async () => {
  requirement('WIRE-8');
  const command = `perl -e 'my $s = ""; vec($s, ${60 * mebibyte}, 8) = 1; 1 while (times)[0] < 0.3'`;
  const { executionTime, resourceUsage } = await metadataOf('shell.run', { command });
  assertAbout(resourceUsage.cpuTime, 300, 3000);
  assertAbout(resourceUsage.memoryPeak, 60 * mebibyte, 200 * mebibyte);
  assert.equal(resourceUsage.networkCalls, 0);
  assert.ok(executionTime >= 300);
  const git = (await metadataOf('git.status', { cwd: 'project' })).resourceUsage;
  assertAbout(git.cpuTime, 0.1, 5000);
  assertAbout(git.memoryPeak, 10_000, 200 * mebibyte);
});

test('tools inside the gate tell how long they took and what they read, and not what they cannot know', async () => {
  requirement('WIRE-8');
  const { executionTime, resourceUsage } = await metadataOf('files.read', { path: 'project/a.txt' });
  assert.deepEqual(resourceUsage, { networkCalls: 0 });
  assert.ok(executionTime >= 0);
  const { usage } = (await daemon.call('files.read', { path: 'project/a.txt' }, { token })) as {
    readonly usage?: object;
  };
  assert.deepEqual(usage, { bytesRead: '4' });
});

test('a server on this machine tells what it used during a call, unless it served another at the same time', async () => {
  requirement('WIRE-8');
  await metadataOf('demo.nap', { ms: 1 });
  const alone = (await metadataOf('demo.burn', { ms: 300 })).resourceUsage;
  assertAbout(alone.cpuTime, 300, 600);
  assert.equal(alone.memoryPeak, undefined);
  const resting = (await metadataOf('demo.nap', { ms: 300 })).resourceUsage;
  assertAbout(resting.cpuTime, 0, 100);
  const [napping, burning] = await Promise.all([
    metadataOf('demo.nap', { ms: 500 }),
    metadataOf('demo.burn', { ms: 100 }),
  ]);
  assert.equal(napping.resourceUsage.cpuTime, undefined);
  assert.equal(burning.resourceUsage.cpuTime, undefined);
});
