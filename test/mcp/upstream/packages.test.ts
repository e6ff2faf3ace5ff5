import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import {
  appendFileSync,
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, before, test } from 'node:test';
import { findOpenFolder } from '../../../packages/gateway/src/daemon/home/open-folder.ts';
import { unprivilegedUser } from '../../../packages/sandbox/src/launch/choose-user.ts';
import { TestDaemon } from '../../harness/daemon.ts';
import { startRegistry } from '../../harness/npm-registry.ts';
import type { NpmRegistry } from '../../harness/npm-registry.ts';
import { runSallyport, runSallyportBeside } from '../../harness/run-sallyport.ts';
import { newToolPlace } from '../../cli/tool-place.ts';
import { serverScript } from './upstream-kit.ts';
import { requirement } from '../../requirement.ts';

const allow = `
  - id: servers
    effect: allow
    tools: ['everything.*', 'filesystem.*', 'tiny.*']
    origins: [upstream]
    approval: waived
`;

let daemon: TestDaemon;
let registry: NpmRegistry;
let folder: string;
before(async () => {
  registry = await startRegistry();
  daemon = await TestDaemon.start(newToolPlace(allow));
  mkdirSync(temporary());
  folder = mkdtempSync(join(tmpdir(), 'sallyport-published-'));
});
after(async () => {
  registry.close();
  rmSync(folder, { recursive: true });
  await daemon.remove();
});

const temporary = (): string => join(daemon.place.folder, 'temporary');
const npmSettings = () => ({
  ...{ npm_config_registry: registry.url, npm_config_fetch_retries: '0' },
  TMPDIR: temporary(),
});

function run(...args: string[]) {
  return runSallyportBeside(daemon.place, ['upstream', ...args], npmSettings());
}

async function add(...args: string[]) {
  const added = await run('add', ...args);
  assert.equal(added.status, 0, added.stdout + added.stderr);
  return added.stdout;
}

async function accept(name: string, pattern = name) {
  for (const words of [
    ['test', name],
    ['accept', pattern, '--yes'],
  ]) {
    const done = await run(...words);
    assert.equal(done.status, 0, done.stdout + done.stderr);
  }
}

async function call(tool: string, args: object) {
  const answer = await daemon.call(tool, args, { token: await daemon.newAgent('tester') });
  return answer.success?.outputJson ?? JSON.stringify(answer);
}

/** Publishes a package of the files that are named, and more: files to put into it by a function. */
function publish(
  name: string,
  manifest: object,
  more: (root: string) => void = () => undefined,
  tar: string[] = [],
): void {
  const root = join(folder, `${name.replace('/', '-')}-${registry.asked.length}`, 'package');
  mkdirSync(root, { recursive: true });
  const whole = { name, version: '1.0.0', bin: 'server.mjs', type: 'module', ...manifest };
  writeFileSync(join(root, 'package.json'), JSON.stringify(whole));
  writeFileSync(join(root, 'server.mjs'), readFileSync(serverScript));
  more(root);
  const packed = execFileSync('tar', ['-cz', ...tar, '-C', dirname(root), 'package']);
  registry.publish({ name, version: '1.0.0', manifest: whole, tarball: packed });
}

const packages = (): string => join(findOpenFolder(daemon.place.home), 'packages');
const pinned = (name: string): string => readFileSync(join(daemon.place.home, 'upstreams', `${name}.yaml`), 'utf8');

test('a server of the catalogue is fetched, pinned and started, without npx', async () => {
  requirement('WIRE-6');
  const shown = await add('everything', '--yes');
  assert.match(shown, /package: +@modelcontextprotocol\/server-everything [\d.]+ \(\d+ packages, /);
  assert.match(pinned('everything'), /sha256: [0-9a-f]{64}/);
  await accept('everything');
  assert.match(await call('everything.echo', { message: 'hello' }), /hello/);
  const { stdout } = await run('show', 'everything', '--json');
  const { endpointJson } = JSON.parse(stdout) as { endpointJson: string };
  const { command } = JSON.parse(endpointJson) as { command: string[] };
  assert.deepEqual(command.slice(0, 1), ['node']);
  assert.ok(!command.join(' ').includes('npx'));
});

test('the form of most READMEs is taken as the package it names, with what it is told to work on', async () => {
  const shared = join(daemon.place.folder, 'shared');
  mkdirSync(shared);
  chmodSync(shared, 0o755);
  if (process.getuid?.() === 0) chownSync(shared, unprivilegedUser.uid, unprivilegedUser.gid);
  const shown = await add('filesystem', '--yes', '--', 'npx', '-y', '@modelcontextprotocol/server-filesystem', shared);
  assert.ok(shown.includes(`write:      ${shared}`), shown);
  await accept('filesystem');
  await call('filesystem.create_directory', { path: join(shared, 'made') });
  assert.ok(existsSync(join(shared, 'made')));
  assert.match(await call('filesystem.read_text_file', { path: '/etc/passwd' }), /Access denied/);
});

test('no script of a package runs, and its program may have another name', async () => {
  const trace = join(daemon.place.folder, 'a-script-ran');
  const scripts = Object.fromEntries(['preinstall', 'install', 'postinstall'].map((each) => [each, `touch ${trace}`]));
  publish('tiny', { scripts, bin: { '--odd name;$(id)': './server.mjs' } });
  const secret = runSallyport(daemon.place, ['secret', 'set', 'SAY'], {}, 'correct-horse-battery');
  assert.equal(secret.status, 0, secret.stderr);
  await add('tiny', '--yes', '--npm', 'tiny', '--secrets', 'SAY', '--', 'good');
  assert.ok(!existsSync(trace));
  await accept('tiny', 'tiny.e*');
  assert.match(await call('tiny.echo', { text: 'hi' }), /hi/);
});

test('a pattern accepts what is there now, and nothing else', async () => {
  requirement('DEF-6');
  assert.match(await call('tiny.slow', {}), /TOOL_NOT_ACCEPTED/);
  const { stdout } = await run('show', 'tiny', '--json');
  const { toolList } = JSON.parse(stdout) as { toolList: readonly { name: string; accepted: boolean }[] };
  const accepted = toolList.filter((tool) => tool.accepted).map(({ name }) => name);
  assert.deepEqual(accepted.sort(), ['tiny.echo', 'tiny.environment', 'tiny.exit']);
  assert.match((await run('accept', 'tiny.none*', '--yes')).stderr, /tiny has no tool tiny\.none\*/);
});

test('the log of a server shows what it wrote, without secrets', async () => {
  const { stdout, status } = await run('logs', 'tiny');
  assert.equal(status, 0);
  assert.match(stdout, /\(started\)\n.* ready, with (?!correct).+\n/);
  assert.ok(!stdout.includes('correct-horse-battery'), stdout);
  const { lines } = JSON.parse((await run('logs', 'tiny', '--lines', '1', '--json')).stdout) as { lines: unknown[] };
  assert.equal(lines.length, 1);
});

test('a server whose files changed after it was added does not start, and the reason is told', async () => {
  requirement('DEF-6');
  const [sha256] = /[0-9a-f]{64}/.exec(pinned('tiny')) ?? [];
  const tree = join(packages(), sha256 ?? '', 'server');
  const file = join(tree, 'node_modules/tiny/server.mjs');
  const attempts: (() => void)[] = [
    () => writeFileSync(join(tree, 'node_modules/tiny/extra.js'), ''),
    () => {
      chmodSync(file, 0o755);
      appendFileSync(file, '// changed\n');
    },
  ];
  for (const attempt of attempts) {
    attempt();
    await daemon.kill('SIGTERM');
    daemon = await TestDaemon.start(daemon.place);
    const tested = await run('test', 'tiny');
    assert.notEqual(tested.status, 0);
    assert.match(tested.stderr, /package tiny@1\.0\.0 have changed since it was added/);
    assert.match(tested.stderr, /Remove the upstream and add it again/);
    assert.doesNotMatch(await call('tiny.echo', { text: 'hi' }), /"text":"hi"/);
  }
  assert.equal((await run('remove', 'tiny', '--yes')).status, 0);
  assert.ok(!existsSync(tree), 'nobody needs the package any more');
});

test('what cannot be pinned or leads elsewhere is not taken in', async () => {
  publish('linked', {}, (root) => symlinkSync('/etc/passwd', join(root, 'secret.json')));
  publish('climbing', { bin: '../../../../../../bin/sh' });
  publish('elsewhere', { dependencies: { tiny: 'http://127.0.0.1:9/tiny.tgz' } });
  publish('folder', { dependencies: { other: 'file:/usr/share' } });
  publish('shell', { bin: 'run.sh' }, (root) => writeFileSync(join(root, 'run.sh'), '#!/bin/sh\necho hi\n'));
  publish('escaping', {}, (root) => writeFileSync(join(root, 'out.txt'), 'x'), [
    '--transform=s,package/out,../../out,',
  ]);
  registry.publish({
    name: 'forged',
    version: '1.0.0',
    manifest: { bin: 'x.js' },
    tarball: Buffer.from('x'),
    integrity: 'sha512-AAAA',
  });
  const reasons: Readonly<Record<string, RegExp>> = {
    climbing: /program climbing of climbing is not in the package/,
    elsewhere: /npm could not fetch elsewhere/,
    folder: /npm could not fetch folder|cannot be pinned|is a link/,
    shell: /is not for Node/,
    forged: /npm could not fetch forged/,
    'no-such-package': /npm could not fetch no-such-package/,
    'http://127.0.0.1:9/x.tgz': /is not an npm package/,
    '../tiny': /is not an npm package/,
  };
  for (const [spec, reason] of Object.entries(reasons)) {
    const refused = await run('add', 'bad', '--yes', '--npm', spec);
    assert.notEqual(refused.status, 0, spec);
    assert.match(refused.stdout + refused.stderr, reason);
  }
  // npm leaves out what no package may hold; what is left is pinned.
  for (const spec of ['linked', 'escaping']) {
    await add('bad', '--yes', '--npm', spec);
    const [sha256 = ''] = /[0-9a-f]{64}/.exec(pinned('bad')) ?? [];
    const files = readdirSync(join(packages(), sha256), { recursive: true }).map(String);
    assert.ok(!files.some((file) => file.endsWith('secret.json')), spec);
    assert.ok(
      files.every((file) => !file.endsWith('out.txt') || file.startsWith('server/node_modules/')),
      spec,
    );
    assert.equal((await run('remove', 'bad', '--yes')).status, 0);
  }
  assert.deepEqual(readdirSync(temporary()), [], 'nothing of what was fetched is left lying around');
});

test('commands that fetch something else are refused with what to do instead', async () => {
  const uvx = await run('add', 'bad', '--yes', '--', 'uvx', 'mcp-server-git');
  assert.match(uvx.stderr, /uvx fetches a Python package anew at every start[^]*uv pip install --target/);
  const docker = await run('add', 'bad', '--yes', '--', 'docker', 'run', '-i', 'mcp/x');
  assert.match(docker.stderr, /outside of the sandbox[^]*--url/);
  assert.match((await run('add', 'filesystem2', '--from', 'filesystem', '--yes')).stderr, /works on folders/);
  const asked = await run(
    'add',
    'bad',
    '--',
    'npm',
    'exec',
    '--yes',
    '--package=tiny',
    '--',
    '--odd name;$(id)',
    'good',
  );
  assert.match(asked.stderr, /There is no terminal to ask at/, 'nothing is added without a word');
});

test('the catalogue lists what a server would get', async () => {
  const { stdout } = await run('catalogue', '--json');
  const { servers } = JSON.parse(stdout) as { servers: readonly { name: string; npm?: string; paths?: string }[] };
  assert.equal(servers.find(({ name }) => name === 'filesystem')?.paths, 'write');
});
