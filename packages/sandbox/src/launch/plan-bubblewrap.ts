import { ProgramNotStarted } from '../program.ts';
import type { Program } from '../program.ts';
import { ownFiles, runtimeFolder, sharedFiles } from './check-mount.ts';
import { canReach, checkReach, chooseUser } from './choose-user.ts';
import type { Launch, LaunchDescriptor } from './launch.ts';
import { planMounts } from './plan-mounts.ts';
import type { MountStep } from './plan-mounts.ts';
import { isWithin } from '../is-within.ts';
import type { BubblewrapMachine, SystemFolders } from './sandbox-machine.ts';
import { packSeccompProgram } from './seccomp.ts';

const mebibyte = 1024 * 1024;
const firstDescriptor = 3;
/** Bubblewrap takes 9000, and these are not all. */
const maxArguments = 8500;

const namespaces = [
  '--unshare-user',
  '--disable-userns',
  '--unshare-pid',
  '--unshare-net',
  '--unshare-ipc',
  '--unshare-uts',
  '--unshare-cgroup-try',
];

const identity = ['--cap-drop', 'ALL', '--uid', '65534', '--gid', '65534', '--hostname', 'sandbox'];

const ownBytes = Object.entries(ownFiles).map(([path, text]) => ({ path, bytes: Buffer.from(text) }));

/** Without sizes, what a program writes there fills the memory of the machine. */
const kernelFolders = [
  ...['--proc', '/proc'],
  // Some of these settings belong to the whole machine, whatever the namespaces.
  ...['--ro-bind', '/proc/sys', '/proc/sys'],
  ...['--dev', '/dev'],
  ...['--size', String(16 * mebibyte), '--perms', '1777', '--tmpfs', '/dev/shm'],
  ...['--remount-ro', '/dev'],
  ...['--size', String(64 * mebibyte), '--perms', '1777', '--tmpfs', '/tmp'],
];

/** For Linux. See `planLaunch`. */
export function planBubblewrap(program: Program, machine: BubblewrapMachine): Launch {
  const { shown, steps, claims } = planMounts(program.mounts, machine.system.folders);
  const user = chooseUser(machine.self, shown);
  if (user !== undefined) for (const mount of shown) checkReach(mount, user);
  const hasNode = canReach(machine.node, user ?? machine.self);
  if (!hasNode && isWithin(runtimeFolder, program.argv[0])) throw unreachableNode(machine.node);

  const descriptors: LaunchDescriptor[] = [];
  /** The number under which bubblewrap finds it. The first is kept for the arguments themselves. */
  const give = (descriptor: LaunchDescriptor): string => String(firstDescriptor + descriptors.push(descriptor));
  const show = (path: string, target: string, access: 'read' | 'write'): readonly string[] => [
    access === 'write' ? '--bind-fd' : '--ro-bind-fd',
    give({ kind: 'path', path, access }),
    target,
  ];
  const args = [
    ...namespaces,
    ...['--die-with-parent', '--new-session'],
    ...identity,
    ...setEnvironment(program.environment),
    ...showSystem(machine.system),
    ...kernelFolders,
    ...ownBytes.flatMap(({ path, bytes }) => [
      ...['--perms', '0444', '--file', give({ kind: 'bytes', bytes, isConstant: true }), path],
    ]),
    ...(hasNode ? show(machine.node, `${runtimeFolder}/bin/node`, 'read') : []),
    ...steps.flatMap((step) => (step.kind === 'bind' ? show(step.source, step.target, step.access) : hide(step, give))),
    ...['--remount-ro', '/'],
    ...['--chdir', program.workingDirectory],
    ...[
      '--seccomp',
      give({ kind: 'bytes', bytes: packSeccompProgram(machine.architecture, program), isConstant: true }),
    ],
    ...['--json-status-fd', give({ kind: 'status' })],
    ...['--block-fd', give({ kind: 'release' })],
  ];
  if (args.length > maxArguments) {
    throw new ProgramNotStarted('EXECUTION_ERROR', 'The program has too many variables or mounts.');
  }
  return {
    file: machine.bwrap,
    // Values of variables would otherwise be readable in the process list, and inside in /proc/1/cmdline.
    args: ['--args', String(firstDescriptor), '--', ...program.argv],
    environment: {},
    ...(user === undefined ? {} : { user }),
    descriptors: [{ kind: 'bytes', bytes: Buffer.from(args.map((arg) => `${arg}\0`).join('')) }, ...descriptors],
    claims,
  };
}

function setEnvironment(environment: Readonly<Record<string, string>>): readonly string[] {
  const all = {
    PATH: `${runtimeFolder}/bin:/usr/bin:/bin`,
    HOME: '/tmp',
    LANG: 'C.UTF-8',
    ...environment,
  };
  return ['--clearenv', ...Object.entries(all).flatMap(([name, value]) => ['--setenv', name, value])];
}

function showSystem({ folders, links }: SystemFolders): readonly string[] {
  return [
    ...folders.flatMap((path) => ['--ro-bind', path, path]),
    ...links.flatMap(({ path, to }) => ['--symlink', to, path]),
    ...sharedFiles.flatMap((path) => ['--ro-bind-try', path, path]),
  ];
}

/** A device that cannot be opened, because bubblewrap binds without devices: a search skips it instead of failing. */
function hide(
  step: Exclude<MountStep, { readonly kind: 'bind' }>,
  give: (descriptor: LaunchDescriptor) => string,
): readonly string[] {
  const { target } = step;
  if (step.kind === 'hide-folder') {
    return ['--size', '4096', '--perms', '0555', '--tmpfs', target, '--remount-ro', target];
  }
  if (step.text === undefined) return ['--ro-bind', '/dev/null', target];
  return ['--perms', '0444', '--ro-bind-data', give({ kind: 'bytes', bytes: Buffer.from(step.text) }), target];
}

function unreachableNode(node: string): ProgramNotStarted {
  return new ProgramNotStarted(
    'SANDBOX_UNAVAILABLE',
    `The user of the sandbox cannot reach ${node}, which runs the tool.`,
    {
      remedy: 'Install Node where every user can read it, such as /usr/local, or run the daemon as an ordinary user.',
    },
  );
}
