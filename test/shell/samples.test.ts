import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { chownSync, lchownSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { newPlace, TestDaemon } from '../harness/daemon.ts';
import type { Place } from '../harness/daemon.ts';
import { ownRules } from '../harness/own-rules.ts';

const shipped = readFileSync(join(import.meta.dirname, '../../config/governance/tools.yaml'), 'utf8');
const token = 'ghp_0123456789abcdefghijABCDEFGHIJ012345';
/** As when the tests do not run as root: programs of root run as the owner of what they see. */
const owner = 65_530;

let place: Place;
let daemon: TestDaemon;
let agent: string;

/** The rules with their samples, which are in comments, turned on. */
function turnOnSamples(text: string): string {
  const sample = /^ {2}# - id: .*\n(?: {2}# .*\n)+/gm;
  return text.replaceAll(sample, (block) => block.replaceAll(/^ {2}# /gm, '  '));
}

function git(...args: readonly string[]): void {
  const env = { PATH: '/usr/bin:/bin', HOME: place.folder, GIT_CONFIG_NOSYSTEM: '1' };
  const who = ['-c', 'user.name=Person', '-c', 'user.email=person@example.com'];
  execFileSync('/usr/bin/git', ['-C', place.workspace, ...who, ...args], { env });
}

function giveAway(folder: string): void {
  if (process.getuid?.() !== 0) return;
  chownSync(folder, owner, owner);
  for (const entry of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
    lchownSync(join(folder, entry), owner, owner);
  }
}

async function run(command: string): Promise<{ exit_code: number; stdout: string; stderr: string }> {
  const answer = await daemon.call('shell.run', { command }, { token: agent });
  assert.ok(answer.success, JSON.stringify(answer));
  return JSON.parse(answer.success.outputJson) as { exit_code: number; stdout: string; stderr: string };
}

before(async () => {
  place = newPlace();
  git('init', '-q', '-b', 'main');
  git('remote', 'add', 'origin', `https://person:${token}@git.example.com/a.git`);
  git('config', 'http.extraHeader', `Authorization: Basic ${token}`);
  writeFileSync(join(place.workspace, 'a.txt'), 'one\n');
  const scripts = { test: 'echo the tests ran' };
  writeFileSync(join(place.workspace, 'package.json'), JSON.stringify({ name: 'sample', version: '1.0.0', scripts }));
  mkdirSync(join(place.workspace, 'build'));
  git('add', '--all');
  git('commit', '-q', '-m', 'first');
  git('clone', '-q', '--bare', '.', join(place.folder, 'lib.git'));
  git('-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', join(place.folder, 'lib.git'), 'vendor/lib');
  git('-C', 'vendor/lib', 'config', 'http.extraHeader', 'a plain password');
  git('commit', '-q', '-m', 'second');
  writeFileSync(join(place.workspace, 'a.txt'), 'two\n');
  giveAway(place.workspace);
  daemon = await TestDaemon.start(ownRules(place, { 'tools.yaml': turnOnSamples(shipped) }));
  agent = await daemon.newAgent('coder');
});
after(() => daemon.remove());

test('the samples of the shipped rules load when they are turned on', () => {
  const ids = [...turnOnSamples(shipped).matchAll(/^ {2}- id: (.+)$/gm)].map(([, id]) => id);
  for (const id of ['some-commands', 'thumbnails', 'git-remote']) assert.ok(ids.includes(id), id);
});

test('git status and git diff of the sample work, and show no credential of the repository', async () => {
  const status = await run('git status --short');
  assert.deepEqual([status.exit_code, status.stdout], [0, ' M a.txt\n'], status.stderr);
  assert.match((await run('git status')).stdout, /On branch main/);
  for (const command of ['git status -v -v', 'git diff .git/config', 'git diff --no-index /dev/null .git/config']) {
    assert.ok(!JSON.stringify(await run(command)).includes(token), command);
  }
  const diff = await run('git diff');
  assert.deepEqual([diff.exit_code, diff.stderr], [0, '']);
  assert.match(diff.stdout, /^-one$[\s\S]*^\+two$/m);
});

test('the configuration of a submodule is hidden as well, and git works with it', async () => {
  const shown = await run('git diff --no-index /dev/null .git/modules/vendor/lib/config');
  assert.match(shown.stdout, /repositoryformatversion/);
  assert.ok(!shown.stdout.includes('a plain password'), shown.stdout);
  const status = await run('git status --short');
  assert.deepEqual([status.exit_code, status.stderr], [0, '']);
});

test('npm test of the sample runs the tests of the project', async () => {
  const { exit_code: code, stdout, stderr } = await run('npm test');
  assert.equal(code, 0, stderr);
  assert.match(stdout, /the tests ran/);
});
