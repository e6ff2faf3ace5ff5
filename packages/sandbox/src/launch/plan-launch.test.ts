import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import fc from 'fast-check';
import { defaultProgramLimits } from '../program.ts';
import type { Program } from '../program.ts';
import type { Launch } from './launch.ts';
import { planLaunch } from './plan-launch.ts';
import type { BubblewrapMachine } from './sandbox-machine.ts';
import { packSeccompProgram } from './seccomp.ts';

const machine: BubblewrapMachine = {
  mechanism: 'bubblewrap',
  bwrap: '/usr/bin/bwrap',
  architecture: 'x64',
  self: { uid: 1000, gid: 1000 },
  node: '/usr/bin/env',
  system: { folders: ['/usr'], links: [{ path: '/bin', to: 'usr/bin' }] },
};

const program: Program = {
  argv: ['/bin/true', '--flag'],
  environment: {},
  workingDirectory: '/tmp',
  stdin: new Uint8Array(),
  mounts: [],
  hosts: [],
  limits: defaultProgramLimits,
  isolation: 'sandbox',
};

/** What bubblewrap reads from descriptor 3. */
function readArguments({ descriptors: [first] }: Launch): readonly string[] {
  assert.ok(first?.kind === 'bytes');
  const text = Buffer.from(first.bytes).toString();
  assert.ok(text.endsWith('\0'));
  return text.slice(0, -1).split('\0');
}

/** The descriptor that an option names by its number. */
function findDescriptor(launch: Launch, option: string): Launch['descriptors'][number] | undefined {
  const args = readArguments(launch);
  return launch.descriptors[Number(args[args.indexOf(option) + 1]) - 3];
}

test('what others can read in the list of processes holds the program, and nothing about the sandbox', () => {
  const launch = planLaunch({ ...program, environment: { TOKEN: 'secret' } }, machine);
  assert.equal(launch.file, '/usr/bin/bwrap');
  assert.deepEqual(launch.args, ['--args', '3', '--', '/bin/true', '--flag']);
  assert.deepEqual(launch.environment, {});
  assert.ok(readArguments(launch).join(' ').includes('--setenv TOKEN secret'));
});

test('every descriptor is named by the option that uses it', () => {
  const launch = planLaunch(program, machine);
  assert.deepEqual(findDescriptor(launch, '--seccomp'), {
    ...{ kind: 'bytes', bytes: packSeccompProgram('x64'), isConstant: true },
  });
  assert.deepEqual(findDescriptor(launch, '--json-status-fd'), { kind: 'status' });
  assert.deepEqual(findDescriptor(launch, '--block-fd'), { kind: 'release' });
  assert.deepEqual(findDescriptor(launch, '--ro-bind-fd'), { kind: 'path', path: '/usr/bin/env', access: 'read' });
  const numbers = readArguments(launch).filter((_, index, all) =>
    /fd$|^--(?:file|seccomp)$/.test(all[index - 1] ?? ''),
  );
  assert.deepEqual(
    numbers.map(Number).sort((a, b) => a - b),
    launch.descriptors.slice(1).map((_, index) => 4 + index),
  );
});

test('each launch gets descriptors of its own, because a read one is at its end', () => {
  const [a, b] = [planLaunch(program, machine), planLaunch(program, machine)];
  assert.deepEqual(a, b);
  assert.notEqual(a.descriptors, b.descriptors);
});

test('only what is the same for every program may be kept, never its arguments and variables', () => {
  const [a, b] = [planLaunch(program, machine), planLaunch({ ...program, environment: { SECRET: 'x' } }, machine)];
  for (const [at, descriptor] of a.descriptors.entries()) {
    const other = b.descriptors[at];
    if (descriptor.kind !== 'bytes' || other?.kind !== 'bytes') continue;
    assert.equal(descriptor.isConstant === true, at > 0);
    assert.equal(descriptor.bytes === other.bytes, at > 0);
  }
});

test('all namespaces are new, no capability is left, and the root is closed last', () => {
  const args = readArguments(planLaunch(program, machine));
  for (const name of ['user', 'pid', 'net', 'ipc', 'uts']) assert.ok(args.includes(`--unshare-${name}`), name);
  for (const option of ['--disable-userns', '--die-with-parent', '--new-session', '--clearenv']) {
    assert.ok(args.includes(option), option);
  }
  const text = args.join(' ');
  assert.match(text, /--cap-drop ALL /);
  assert.match(text, /--ro-bind \/proc\/sys \/proc\/sys /);
  assert.match(text, /--remount-ro \/ --chdir \/tmp --seccomp \d+ --json-status-fd \d+ --block-fd \d+$/);
  assert.doesNotMatch(text, /--(?:dev-)?bind (?!-fd)|--share-net|--cap-add/);
});

test('isolation "none" does not loosen a sandbox, nor do granted hosts', () => {
  const confined = planLaunch(program, machine);
  assert.deepEqual(planLaunch({ ...program, isolation: 'none' }, machine), confined);
  assert.deepEqual(planLaunch({ ...program, hosts: ['example.com'] }, machine), confined);
});

test('a program cannot add options, whatever its arguments, variables and folders are called', () => {
  const text = fc.oneof(fc.string({ unit: 'grapheme' }), fc.constantFrom('--bind', '--', '--args', '/ / --bind'));
  const count = readArguments(planLaunch(program, machine)).length;
  fc.assert(
    fc.property(text, fc.dictionary(text, text), fc.array(text), (folder, environment, more) => {
      const odd: Program = { ...program, argv: ['/bin/true', ...more], environment, workingDirectory: `/${folder}` };
      let launch;
      try {
        launch = planLaunch(odd, machine);
      } catch (error) {
        assert.equal((error as Error).name, 'ProgramNotStarted');
        return;
      }
      assert.deepEqual(launch.args, ['--args', '3', '--', '/bin/true', ...more]);
      const replaced = ['PATH', 'HOME', 'LANG'].filter((name) => name in environment).length;
      assert.equal(readArguments(launch).length, count + 3 * (Object.keys(environment).length - replaced));
    }),
  );
});

test('what the kernel would misread is refused', () => {
  const bad: readonly Partial<Program>[] = [
    { argv: ['true'] },
    { argv: ['./true'] },
    { argv: ['/bin/true', 'a\0b'] },
    { argv: ['/bin/true', '\ud800'] },
    { environment: { 'A=B': '' } },
    { environment: { '': 'x' } },
    { environment: { A: 'x\0y' } },
    { workingDirectory: 'tmp' },
    { workingDirectory: '/tmp/..' },
    { workingDirectory: '/tmp\0' },
  ];
  for (const part of bad) {
    const expected = { name: 'ProgramNotStarted', code: 'EXECUTION_ERROR' };
    assert.throws(() => planLaunch({ ...program, ...part }, machine), expected, JSON.stringify(part));
  }
});

test('root’s daemon plans for another user, and says when that one cannot reach the Node of the gate', () => {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'plan-')));
  try {
    mkdirSync(join(folder, 'closed'), { mode: 0o700 });
    const ofRoot = { ...machine, self: { uid: 0, gid: 0 } };
    assert.deepEqual(planLaunch(program, ofRoot).user, { uid: 65_530, gid: 65_530 });
    assert.equal(planLaunch(program, machine).user, undefined);
    const hidden = { ...ofRoot, node: join(folder, 'closed/node') };
    assert.ok(!readArguments(planLaunch(program, hidden)).includes('/opt/sallyport/bin/node'));
    assert.throws(() => planLaunch({ ...program, argv: ['/opt/sallyport/bin/node'] }, hidden), {
      code: 'SANDBOX_UNAVAILABLE',
      remedy: /Install Node where every user can read it/,
    });
  } finally {
    rmSync(folder, { recursive: true });
  }
});
