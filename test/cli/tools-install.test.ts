import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import type { TestContext } from 'node:test';
import { TestDaemon } from '../harness/daemon.ts';
import { runSallyport } from '../harness/run-sallyport.ts';
import { requirement } from '../requirement.ts';
import { TerminalSession } from './terminal-session.ts';
import { newToolPlace, shellProgram, writeProgram } from './tool-place.ts';

let daemon: TestDaemon;
let sources: string;
before(async () => {
  daemon = await TestDaemon.start(newToolPlace());
  sources = join(daemon.place.folder, 'sources');
  mkdirSync(sources);
});
after(() => daemon.remove());

function run(...args: string[]) {
  // A folder of its own: other commands on this machine leave theirs elsewhere.
  mkdirSync(temporary(), { recursive: true });
  return runSallyport(daemon.place, ['tool', ...args], { TMPDIR: temporary() });
}

const temporary = (): string => join(daemon.place.folder, 'temporary');

function install(...args: string[]) {
  const { status, stdout, stderr } = run('install', ...args, '--json');
  return { status, json: JSON.parse(stdout) as Record<string, unknown>, stderr };
}

function invoke(name: string, input = '{}'): unknown {
  const { stdout } = run('dev', name, '--input', input, '--json', '--yes');
  const { call } = JSON.parse(stdout) as { call: { output: unknown } };
  return call.output;
}

const inFolder = (file: string): boolean => existsSync(join(daemon.place.home, 'tools', 'bin', file));

function failureOf({ json }: { json: Record<string, unknown> }): string {
  return (json['error'] as { message: string }).message;
}

test('a file is shown, and lies in the tools folder, accepted, once the person has agreed', async (t: TestContext) => {
  requirement('UI-1');
  const file = writeProgram(daemon.place, 'asked.sh', shellProgram('asked', `echo '{"ran":1}'`), sources);
  const open = () => {
    const terminal = new TerminalSession(daemon.place, ['tool', 'install', file], { NO_COLOR: '1' });
    t.after(() => terminal.kill());
    return terminal;
  };
  const first = open();
  await first.waitFor('Does asked.');
  await first.waitFor('Install and accept it? [y/N]');
  assert.ok(!inFolder('asked.sh'), 'nothing is there before the answer');
  first.type('n\n');
  assert.equal(await first.exitCode(), 3, first.screen);
  assert.ok(!inFolder('asked.sh'));
  const second = open();
  await second.waitFor('Install and accept it? [y/N]');
  second.type('y\n');
  assert.equal(await second.exitCode(), 0, second.screen);
  assert.ok(inFolder('asked.sh'));
  assert.deepEqual(invoke('asked'), { ran: 1 });
});

test('what is looked at runs in the sandbox only, and leaves nothing behind', async () => {
  const trace = join(daemon.place.folder, 'trace');
  const body = `touch ${trace}; echo '{}'`;
  const program = shellProgram('nosy', body).replace('#!/bin/sh\n', `#!/bin/sh\ntouch ${trace} 2>/dev/null\n`);
  const file = writeProgram(daemon.place, 'nosy.sh', program, sources);
  assert.equal(install(file).status, 1, 'nobody was there to ask');
  assert.ok(!existsSync(trace));
  assert.ok(!inFolder('nosy.sh'));
  assert.deepEqual(readdirSync(join(daemon.place.home, 'tools', 'drafts')), []);
  const events = (await daemon.records()).map(({ payload }) => payload);
  assert.ok(events.some(({ event, file: asked }) => event === 'tool_schema_read' && asked === 'nosy.sh'));
});

test('another file of the same name takes its place, and the difference is shown', () => {
  requirement('UI-1');
  const write = (word: string) =>
    writeProgram(daemon.place, 'again.sh', shellProgram('again', `echo '{"said":"${word}"}'`), sources);
  assert.equal(install(write('one'), '--yes').json['status'], 'ready');
  const { stdout } = run('install', write('two'), '--yes');
  assert.match(stdout, /Since operator accepted it:\n[^]*-.*"sha256"[^]*\+.*"sha256"/);
  assert.deepEqual(invoke('again'), { said: 'two' });
  const copy = writeProgram(daemon.place, 'other.sh', shellProgram('again', 'echo {}'), sources);
  const clash = install(copy, '--yes');
  assert.deepEqual([clash.status, inFolder('other.sh')], [4, false]);
  assert.match(failureOf(clash), /again\.sh is again@1\.0\.0 already/);
});

test('a folder is installed with all its files', () => {
  requirement('UI-1');
  const folder = join(sources, 'many.files');
  writeProgram(daemon.place, 'start', shellProgram('many.files', 'cat "$(dirname "$0")/data/answer"'), folder);
  mkdirSync(join(folder, 'data'));
  writeFileSync(join(folder, 'data', 'answer'), '{"from":"a folder"}');
  writeFileSync(join(folder, 'tool.json'), '{"entry":"start"}');
  assert.equal(install(folder, '--yes').json['status'], 'ready');
  assert.deepEqual(invoke('many.files'), { from: 'a folder' });
  writeFileSync(join(folder, 'data', 'answer'), '{"from":"a newer one"}');
  assert.equal(install(folder, '--yes').status, 0);
  assert.deepEqual(invoke('many.files'), { from: 'a newer one' });
  symlinkSync('/etc', join(folder, 'elsewhere'));
  assert.match(failureOf(install(folder, '--yes')), /elsewhere .* is a link/);
});

/** A package as npm packs it, with scripts that would leave a trace. */
function packPackage(name: string, more: object = {}): { tarball: string; trace: string } {
  const folder = join(sources, name);
  const trace = join(daemon.place.folder, `${name}-script-ran`);
  const program = [
    '#!/usr/bin/env node',
    `if (process.argv[2] === '--schema') console.log('{"name":"${name}","version":"2.0.0","input_schema":{"type":"object"}}');`,
    `else console.log(JSON.stringify({ shared: require('./shared.js') }));`,
  ].join('\n');
  mkdirSync(folder);
  writeFileSync(join(folder, 'program.js'), program);
  writeFileSync(join(folder, 'shared.js'), 'module.exports = 42;');
  const scripts = Object.fromEntries(
    ['preinstall', 'install', 'postinstall', 'prepare'].map((each) => [each, `touch ${trace}`]),
  );
  const description = { name: `@acme/${name}`, version: '2.0.0', bin: { [name]: 'program.js' }, scripts, ...more };
  writeFileSync(join(folder, 'package.json'), JSON.stringify(description));
  spawnSync('npm', ['pack', '--ignore-scripts'], { cwd: folder });
  return { tarball: join(folder, `acme-${name}-2.0.0.tgz`), trace };
}

test('an npm package is installed in a folder of its own, and none of its scripts runs', () => {
  requirement('UI-1');
  const { tarball, trace } = packPackage('packed');
  assert.ok(existsSync(tarball), 'npm packed it');
  const { json, status } = install(tarball, '--yes');
  assert.deepEqual([status, json['name'], json['status']], [0, 'packed', 'ready']);
  assert.deepEqual(invoke('packed'), { shared: 42 });
  assert.ok(!existsSync(trace));
  assert.deepEqual(
    readdirSync(temporary()).filter((name) => name.startsWith('sallyport-npm-')),
    [],
  );
});

test('of several programs of a package one is chosen', () => {
  const { tarball } = packPackage('several', { bin: { first: 'program.js', second: 'program.js' } });
  assert.match(failureOf(install(tarball, '--yes')), /several programs: first, second/);
  assert.equal(install(tarball, '--bin', 'second', '--name', 'chosen', '--yes').status, 0);
  assert.ok(inFolder('chosen'));
});

test('what is no tool is not installed, and the reason is told', () => {
  const cases: readonly (readonly [args: string[], reason: RegExp])[] = [
    [[join(sources, 'nowhere.sh')], /no file, folder or npm package/],
    [['git+https://example.com/x.git'], /no file, folder or npm package/],
    [['https://example.com/x.tgz'], /no file, folder or npm package/],
    [[writeProgram(daemon.place, 'My Tool.sh', 'x', sources)], /--name/],
    [[writeProgram(daemon.place, 'text.txt', 'no program', sources), '--name', 'text'], /is not a tool/],
  ];
  for (const [args, reason] of cases) {
    const refused = install(...args, '--yes');
    assert.notEqual(refused.status, 0, args.join(' '));
    assert.match(failureOf(refused), reason);
  }
  assert.ok(!inFolder('text'));
});

test('a program whose --schema fails is not installed, and what it wrote is shown', () => {
  const file = writeProgram(
    daemon.place,
    'broken.py',
    '#!/usr/bin/env python3\nimport no_such_module_at_all\n',
    sources,
  );
  const refused = install(file, '--yes');
  assert.equal(refused.status, 4);
  assert.match(
    failureOf(refused),
    /broken is not installed: its --schema ended with exit code 1[^]*no_such_module_at_all/,
  );
  assert.match(run('install', file, '--yes').stderr, /Fix its --schema[^]*--without-schema/);
  assert.ok(!inFolder('broken.py'));
  const installed = install(file, '--yes', '--without-schema');
  assert.equal(installed.status, 0);
  assert.ok(inFolder('broken.py'));
});

test('a script agrees to a call beforehand with --yes; without a schema or with high risk every call asks', () => {
  writeProgram(daemon.place, 'plain.sh', '#!/bin/sh\n[ "$1" = --schema ] && exit 1\ncat\n');
  writeProgram(daemon.place, 'calm.sh', shellProgram('calm', `echo '{"ran":1}'`));
  writeFileSync(join(daemon.place.home, 'tools', 'risks.yaml'), 'assign:\n  - { tool: calm, risk: medium }\n');
  for (const name of ['plain', 'calm']) assert.equal(run('accept', name, '--yes').status, 0);
  const call = (...args: string[]) => run('invoke', ...args, '--json');
  assert.match(call('plain', 'a=1').stdout, /APPROVAL_REQUIRED/, 'nobody is there to ask');
  const agreed = call('plain', 'a=1', '--yes');
  assert.equal(agreed.status, 0);
  assert.deepEqual((JSON.parse(agreed.stdout) as { output: unknown }).output, { a: 1 });
  assert.equal(call('calm').status, 0, 'medium risk in the own tools folder runs without a question');
});
