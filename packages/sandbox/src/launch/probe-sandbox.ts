import { realpathSync, statSync } from 'node:fs';
import type { Program } from '../program.ts';
import { defaultProgramLimits } from '../program.ts';
import { explainFailure, installCommand, upgradeCommand } from './explain-sandbox.ts';
import type { Launch } from './launch.ts';
import { planLaunch } from './plan-launch.ts';
import { runLaunch } from './run-launch.ts';
import type { LaunchEnd } from './run-launch.ts';
import { readSystemFolders } from './sandbox-machine.ts';
import type { BubblewrapMachine, SandboxMachine } from './sandbox-machine.ts';
import { architectures } from './system-calls.ts';

export type SandboxProbe =
  | { readonly usable: true; readonly machine: SandboxMachine; readonly version: string }
  | { readonly usable: false; readonly reason: string; readonly remedy: string };

export interface ProbeOptions {
  /** Where bubblewrap may be. A PATH is never searched: anyone who can change it would choose the sandbox. */
  readonly places?: readonly string[];
  readonly run?: (launch: Launch) => Promise<LaunchEnd>;
}

const standardPlaces = ['/usr/bin/bwrap', '/bin/bwrap', '/usr/local/bin/bwrap'];
const oldestVersion = '0.8.0';
const timeoutMs = 10_000;

/**
 * Finds what confines programs on this machine, and tries it once with the very profile that programs get. Never
 * rejects: what does not work is unusable.
 */
export async function probeSandbox(options: ProbeOptions = {}): Promise<SandboxProbe> {
  const run = options.run ?? ((launch) => runLaunch(launch, { timeoutMs }));
  try {
    if (process.platform === 'linux') return await probeBubblewrap(options.places ?? standardPlaces, run);
    if (process.platform === 'darwin') return await probeSeatbelt(run);
  } catch (error) {
    return explainFailure(error instanceof Error ? error.message : String(error));
  }
  return unusable(`programs cannot be confined on ${process.platform}.`, 'Run the daemon on Linux or macOS.');
}

async function probeBubblewrap(places: readonly string[], run: Run): Promise<SandboxProbe> {
  const architecture = architectures.find((each) => each === process.arch);
  if (architecture === undefined) {
    return unusable(`there is no filter of system calls for ${process.arch}.`, 'Use a machine with x86_64 or arm64.');
  }
  const found = findBubblewrap(places);
  if (typeof found !== 'string') return found;
  const version = await readVersion(found, run);
  if (version === undefined || isOlder(version, oldestVersion)) {
    const reason = `${found} is version ${version ?? 'unknown'}, and ${oldestVersion} is the oldest that works.`;
    return unusable(reason, upgradeCommand());
  }
  const machine: BubblewrapMachine = {
    mechanism: 'bubblewrap',
    bwrap: found,
    architecture,
    self: { uid: process.geteuid?.() ?? 0, gid: process.getegid?.() ?? 0 },
    node: realpathSync.native(process.execPath),
    system: readSystemFolders(),
  };
  const { exitCode, stdout, stderr } = await run(planLaunch(selfTest, machine));
  if (exitCode !== 0) return explainFailure(stderr);
  const weakness = findWeakness(stdout);
  if (weakness !== undefined) return unusable(`inside the sandbox ${weakness}.`, upgradeCommand());
  return { usable: true, machine, version };
}

type Run = NonNullable<ProbeOptions['run']>;

/** A program that shows what the kernel says about it. */
const selfTest: Program = {
  argv: ['/bin/cat', '/proc/self/status', '/proc/self/mountinfo', '/proc/self/net/dev'],
  environment: {},
  workingDirectory: '/',
  stdin: new Uint8Array(),
  // Older releases cannot mount what was opened and checked before.
  mounts: [{ source: '/usr/bin', target: '/tmp/self-test', access: 'read' }],
  hosts: [],
  limits: defaultProgramLimits,
  isolation: 'sandbox',
};

/** Says what is not as it must be in what the self-test printed. Undefined: all is well. */
export function findWeakness(printed: string): string | undefined {
  const expectations: readonly (readonly [RegExp, string])[] = [
    [/^Seccomp:\s+2$/m, 'system calls are not filtered'],
    [/^NoNewPrivs:\s+1$/m, 'programs can gain privileges'],
    [/^CapEff:\s+0+$/m, 'programs have capabilities'],
    [/^CapBnd:\s+0+$/m, 'programs can gain capabilities'],
    [/^(?:\S+ ){4}\/proc\/sys ro[ ,]/m, 'settings of the kernel can be written'],
    [/^(?:\S+ ){4}\/ ro[ ,]/m, 'the root folder can be written'],
    [/^ *lo:/m, 'there is no loopback interface'],
  ];
  const missing = expectations.find(([pattern]) => !pattern.test(printed));
  if (missing !== undefined) return missing[1];
  const otherInterface = /^ *(?!lo:)[^\s:|]+: *\d/m.exec(printed.slice(printed.indexOf('Inter-|')));
  return otherInterface === null ? undefined : 'the network of the machine can be reached';
}

/** A program that anybody but root could replace is not trusted to confine anything. */
function findBubblewrap(places: readonly string[]): string | SandboxProbe {
  let reason = 'bubblewrap is not installed.';
  for (const place of places) {
    const stats = statSync(place, { throwIfNoEntry: false });
    if (stats === undefined) continue;
    if (stats.isFile() && stats.uid === 0 && (stats.mode & 0o022) === 0) return realpathSync.native(place);
    reason = `${place} is not root's alone to change.`;
  }
  return unusable(reason, installCommand());
}

async function readVersion(bwrap: string, run: Run): Promise<string | undefined> {
  const { stdout } = await run({ file: bwrap, args: ['--version'], environment: {}, descriptors: [] });
  return /^bubblewrap (\d+\.\d+(?:\.\d+)?)/.exec(stdout)?.[1];
}

function isOlder(version: string, than: string): boolean {
  const [a = [], b = []] = [version, than].map((text) => text.split('.').map(Number));
  const at = b.findIndex((part, index) => part !== (a[index] ?? 0));
  return at !== -1 && (a[at] ?? 0) < (b[at] ?? 0);
}

async function probeSeatbelt(run: Run): Promise<SandboxProbe> {
  const machine = { mechanism: 'seatbelt', node: realpathSync.native(process.execPath) } as const;
  const runs = await run(planLaunch({ ...selfTest, argv: ['/usr/bin/true'], mounts: [] }, machine));
  if (runs.exitCode !== 0) return explainFailure(runs.stderr);
  const reads = await run(planLaunch({ ...selfTest, argv: ['/bin/ls', '/Users'], mounts: [] }, machine));
  if (reads.exitCode === 0) return unusable('inside the sandbox all folders can be read.', 'Update macOS.');
  return { usable: true, machine, version: 'seatbelt' };
}

function unusable(reason: string, remedy: string): SandboxProbe {
  return { usable: false, reason, remedy };
}
