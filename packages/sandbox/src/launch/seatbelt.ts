import { lstatSync } from 'node:fs';
import { dirname } from 'node:path';
import { ProgramNotStarted } from '../program.ts';
import type { Program } from '../program.ts';
import { arrangeMounts } from './arrange-mounts.ts';
import type { ArrangedMount } from './arrange-mounts.ts';
import { refuseMount, runtimeFolder } from './check-mount.ts';
import type { Launch } from './launch.ts';
import type { SeatbeltMachine } from './sandbox-machine.ts';

const sandboxExec = '/usr/bin/sandbox-exec';

/** What every program needs to start at all. Everything else is denied, the network included. */
const base = `(version 1)
(deny default)
(allow process-exec)
(allow process-fork)
(allow signal (target same-sandbox))
(allow process-info* (target same-sandbox))
(allow sysctl-read)
(allow pseudo-tty)
(allow file-read-metadata (literal "/") (literal "/private") (literal "/etc") (literal "/tmp") (literal "/var"))
(allow file-read*
  (subpath "/usr")
  (subpath "/bin")
  (subpath "/sbin")
  (subpath "/System")
  (subpath "/Library/Apple")
  (subpath "/opt/homebrew")
  (subpath "/private/etc/ssl")
  (subpath "/private/var/db/dyld")
  (literal "/private/etc/localtime")
  (literal "/dev/random")
  (literal "/dev/urandom"))
(allow file-read* file-write* (literal "/dev/null") (literal "/dev/zero"))`;

/** For macOS, where a program sees the files of the machine at their own places. See `planLaunch`. */
export function planSeatbelt(program: Program, machine: SeatbeltMachine): Launch {
  if (program.hosts.length > 0) {
    throw new ProgramNotStarted('SANDBOX_UNAVAILABLE', 'On macOS no hosts can be granted to a confined program.', {
      remedy: 'Run the daemon on Linux, or take the hosts out of the rule.',
    });
  }
  const { profile, parameters } = describeProfile(program, machine);
  const node = `${runtimeFolder}/bin/node`;
  const argv = program.argv.map((arg, index) => (index === 0 && arg === node ? machine.node : arg));
  const enter = 'cd "$1" && shift && exec "$@"';
  return {
    file: sandboxExec,
    args: [
      ...parameters.map((path, index) => `-D${nameOf(index)}=${path}`),
      ...['-p', profile, '/bin/sh', '-c', enter, 'sh', program.workingDirectory],
      ...argv,
    ],
    environment: {
      PATH: `${dirname(machine.node)}:/usr/bin:/bin`,
      HOME: program.workingDirectory,
      LANG: 'C.UTF-8',
      ...program.environment,
    },
    descriptors: [],
  };
}

/**
 * The profile, and the paths that it refers to. They stay outside of its text, so that no file name can end a string in
 * it and continue as a rule. Of two rules for the same thing the last one counts.
 */
export function describeProfile(
  program: Pick<Program, 'mounts'>,
  machine: SeatbeltMachine,
): { readonly profile: string; readonly parameters: readonly string[] } {
  const parameters: string[] = [];
  const at = (filter: 'literal' | 'subpath', path: string): string => {
    const index = parameters.includes(path) ? parameters.indexOf(path) : parameters.push(path) - 1;
    return `(${filter} (param "${nameOf(index)}"))`;
  };
  const mounts = arrangeMounts(program.mounts, []);
  for (const { source, target } of mounts) {
    if (source !== target) throw refuseMount(`On macOS ${source} cannot be shown at ${target}.`);
  }
  const rules = [
    `(allow file-read* ${at('literal', machine.node)})`,
    ...ancestorsOf([machine.node, ...mounts.map(({ source }) => source)]).map(
      (folder) => `(allow file-read-metadata ${at('literal', folder)})`,
    ),
    ...mounts.flatMap((mount) => describeMount(mount, at)),
  ];
  return { profile: `${[base, ...rules].join('\n')}\n`, parameters };
}

function describeMount(
  { source, access, hidden, frozen }: ArrangedMount,
  at: (filter: 'literal' | 'subpath', path: string) => string,
): readonly string[] {
  const filter = lstatSync(source).isDirectory() ? 'subpath' : 'literal';
  const operations = access === 'write' ? 'file-read* file-write*' : 'file-read*';
  const onTheWay = ancestorsOf([...hidden, ...frozen]).filter((path) => path.length > source.length);
  return [
    `(allow ${operations} ${at(filter, source)})`,
    ...frozen.map((path) => `(deny file-write* ${at('subpath', path)})`),
    ...hidden.map((path) => `(deny file-read* file-write* ${at('subpath', path)})`),
    // Rules go by names: a folder that is moved would take what is in it out of them.
    ...(access === 'write' ? [source, ...onTheWay] : []).map(
      (path) => `(deny file-write-unlink ${at('literal', path)})`,
    ),
  ];
}

function ancestorsOf(paths: readonly string[]): readonly string[] {
  const ancestors = new Set<string>();
  for (const path of paths) {
    for (let folder = dirname(path); folder !== '/'; folder = dirname(folder)) ancestors.add(folder);
  }
  return [...ancestors].sort();
}

function nameOf(index: number): string {
  return `PATH_${index}`;
}
