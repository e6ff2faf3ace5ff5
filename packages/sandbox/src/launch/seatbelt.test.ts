import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { defaultProgramLimits } from '../program.ts';
import type { Mount, Program } from '../program.ts';
import { planLaunch } from './plan-launch.ts';
import { describeProfile } from './seatbelt.ts';

const machine = { mechanism: 'seatbelt', node: '/usr/local/bin/node' } as const;

function makeTree(...files: readonly string[]): Disposable & { readonly path: string } {
  const path = realpathSync(mkdtempSync(join(tmpdir(), 'seatbelt-')));
  for (const file of files) {
    mkdirSync(dirname(join(path, file)), { recursive: true });
    writeFileSync(join(path, file), '');
  }
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true }) };
}

function programWith(mounts: readonly Mount[], more: Partial<Program> = {}): Program {
  return {
    argv: ['/opt/sallyport/bin/node', 'tool.js'],
    environment: { TOKEN: 'x' },
    workingDirectory: '/tmp',
    stdin: new Uint8Array(),
    mounts,
    hosts: [],
    limits: defaultProgramLimits,
    isolation: 'sandbox',
    ...more,
  };
}

/** The rules about mounts, with the paths put in where they are named. */
function readRules(mounts: readonly Mount[], root: string): readonly string[] {
  const { profile, parameters } = describeProfile({ mounts }, machine);
  return profile
    .split('\n')
    .map((line) => line.replaceAll(/\(param "PATH_(\d+)"\)/g, (_, index: string) => parameters[Number(index)] ?? '?'))
    .filter((line) => line.includes(root))
    .filter((line) => !line.includes('file-read-metadata'))
    .map((line) => line.replaceAll(`${root}/`, ''));
}

test('everything is denied that is not allowed, the network included', () => {
  const { profile } = describeProfile({ mounts: [] }, machine);
  assert.match(profile, /^\(version 1\)\n\(deny default\)\n/);
  assert.doesNotMatch(profile, /network|mach-lookup|\(allow default\)|\(allow file-(?:read|write)\*\)/);
});

test('mounts are allowed, then what is frozen and hidden in them is denied again', () => {
  using tree = makeTree('w/a/.env', 'w/.git/config', 'r/file', 'single');
  const at = (path: string): string => join(tree.path, path);
  const rules = readRules(
    [
      { source: at('r'), target: at('r'), access: 'read' },
      { source: at('single'), target: at('single'), access: 'read' },
      { source: at('w'), target: at('w'), access: 'write', hidden: [at('w/a/.env')], frozen: [at('w/.git')] },
    ],
    tree.path,
  );
  assert.deepEqual(rules, [
    '(allow file-read* (subpath r))',
    '(allow file-read* (literal single))',
    '(allow file-read* file-write* (subpath w))',
    '(deny file-write* (subpath w/.git))',
    '(deny file-read* file-write* (subpath w/a/.env))',
    '(deny file-write-unlink (literal w))',
    '(deny file-write-unlink (literal w/a))',
  ]);
});

test('no name of a file becomes part of the profile', () => {
  const name = String.raw`a") (allow default) ; "\ (param "PATH_0`;
  using tree = makeTree(`${name}/file`);
  const source = join(tree.path, name);
  const mounts = [{ source, target: source, access: 'read' as const }];
  const { profile, parameters } = describeProfile({ mounts }, machine);
  assert.doesNotMatch(profile, /allow default/);
  assert.ok(parameters.includes(source));
  const { args } = planLaunch(programWith(mounts), machine);
  assert.ok(args.includes(`-DPATH_${parameters.indexOf(source)}=${source}`));
});

test('the program is started in its folder, by the Node of this machine, with its own environment only', () => {
  const launch = planLaunch(programWith([]), machine);
  assert.equal(launch.file, '/usr/bin/sandbox-exec');
  assert.deepEqual(launch.args.slice(-4), ['sh', '/tmp', '/usr/local/bin/node', 'tool.js']);
  assert.deepEqual(launch.environment, {
    PATH: '/usr/local/bin:/usr/bin:/bin',
    HOME: '/tmp',
    LANG: 'C.UTF-8',
    TOKEN: 'x',
  });
  assert.deepEqual(launch.descriptors, []);
});

test('what seatbelt cannot do is refused', () => {
  using tree = makeTree('w/file');
  const moved = { source: join(tree.path, 'w'), target: '/tmp/elsewhere', access: 'read' as const };
  assert.throws(() => planLaunch(programWith([moved]), machine), { code: 'SANDBOX_UNAVAILABLE' });
  assert.throws(() => planLaunch(programWith([], { hosts: ['example.com'] }), machine), {
    code: 'SANDBOX_UNAVAILABLE',
  });
});
