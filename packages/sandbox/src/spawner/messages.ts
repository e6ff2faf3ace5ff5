import { networkOutcomes } from '../network-log.ts';
import type { NetworkEvent } from '../network-log.ts';
import { notStartedCodes, programLimitNames } from '../program.ts';
import type { Program, ProgramEnd, ProgramNotStarted } from '../program.ts';
import type { CgroupPlace } from '../launch/cgroup-places.ts';
import type { SandboxProbe } from '../launch/probe-sandbox.ts';

/** From the daemon to the spawner. `run` is a number the daemon chose, used once. */
export type Order =
  | { readonly kind: 'configure'; readonly configuration: Configuration }
  | { readonly kind: 'start'; readonly run: number; readonly program: Program; readonly stdin: InputTime }
  /** For a program that is held. */
  | { readonly kind: 'feed'; readonly run: number; readonly stdin: Uint8Array }
  /** That many bytes of output were consumed. */
  | { readonly kind: 'acknowledge'; readonly run: number; readonly bytes: number }
  /** Answered by `measured`, in the order of the questions. */
  | { readonly kind: 'measure'; readonly run: number }
  | { readonly kind: 'kill'; readonly run: number }
  /** Kill everything and end. */
  | { readonly kind: 'close' };

/**
 * When a program gets its input. `later`: it runs, and the daemon gets the pipe that is its input. `handed`: the daemon
 * gets that of its output as well. `held`: its sandbox is built, and it runs when it is fed.
 */
export type InputTime = 'now' | 'later' | 'handed' | 'held';

export interface Configuration {
  readonly enforcement: Enforcement;
  /** Absent: the spawner finds out what this machine has. */
  readonly sandbox?: SandboxProbe;
  /**
   * Runs the helper that starts programs. Absent: where Debian has it. Where there is none, the spawner does without.
   */
  readonly perl?: string;
}

/** `kernel`: a limit that the kernel cannot enforce refuses the program. `sampled`: watching and killing is enough. */
export type Enforcement = 'kernel' | 'sampled';

/** What this machine can do for programs. */
export interface Abilities {
  readonly sandbox:
    | { readonly usable: true; readonly version: string }
    | { readonly usable: false; readonly reason: string; readonly remedy: string };
  /** How limits and usage of CPU time, memory and processes are kept. `none`: programs are refused. */
  readonly limits: 'cgroup' | 'sampled' | 'none';
}

/** From the spawner to the daemon. */
export type Report =
  | { readonly kind: 'ready'; readonly abilities: Abilities }
  /** Comes with a pipe of a program, before `started`. From then on it is the daemon's alone. */
  | { readonly kind: 'handed'; readonly run: number; readonly stream: 'stdin' | 'stdout' }
  /**
   * A program that will be fed is running, or waits in its sandbox. `cpuPlace` says where to read what it uses. Absent:
   * nowhere.
   */
  | { readonly kind: 'started'; readonly run: number; readonly cpuPlace?: CgroupPlace }
  | { readonly kind: 'output'; readonly run: number; readonly stream: 'stdout' | 'stderr'; readonly bytes: Uint8Array }
  /** The connections that the program requested since the last report of this kind. */
  | { readonly kind: 'network'; readonly run: number; readonly events: readonly NetworkEvent[] }
  /** Absent: it cannot be measured at any moment. */
  | { readonly kind: 'measured'; readonly run: number; readonly cpuMs: number | undefined }
  | { readonly kind: 'ended'; readonly run: number; readonly end: ProgramEnd }
  /** Nothing of the program ran. */
  | {
      readonly kind: 'not-started';
      readonly run: number;
      readonly code: ProgramNotStarted['code'];
      readonly message: string;
      readonly isTransient: boolean;
      readonly remedy: string | undefined;
    };

type Fields = Readonly<Record<string, unknown>>;

/** Undefined for what is not a report. The spawner is ours, but it is closer to the tools than the daemon is. */
export function parseReport(message: unknown): Report | undefined {
  if (!isRecord(message)) return undefined;
  const { kind, run } = message;
  if (kind === 'ready') return parseReady(message);
  if (typeof run !== 'number') return undefined;
  switch (kind) {
    case 'started':
      return { kind, run, ...parseCpuPlace(message) };
    case 'handed': {
      const { stream } = message;
      return stream === 'stdin' || stream === 'stdout' ? { kind, run, stream } : undefined;
    }
    case 'output':
      return parseOutput(run, message);
    case 'network':
      return parseNetwork(run, message);
    case 'measured':
      return { kind, run, cpuMs: Number.isFinite(message['cpuMs']) ? (message['cpuMs'] as number) : undefined };
    case 'ended':
      return isRecord(message['end']) && isEnd(message['end']) ? { kind, run, end: message['end'] } : undefined;
    case 'not-started':
      return parseNotStarted(run, message);
    default:
      return undefined;
  }
}

function parseReady({ abilities }: Fields): Report | undefined {
  if (!isRecord(abilities) || !isRecord(abilities['sandbox'])) return undefined;
  const { usable, version, reason, remedy } = abilities['sandbox'];
  const limits = (['cgroup', 'sampled', 'none'] as const).find((each) => each === abilities['limits']) ?? 'none';
  const sandbox: Abilities['sandbox'] =
    usable === true
      ? { usable, version: String(version) }
      : { usable: false, reason: String(reason), remedy: String(remedy) };
  return { kind: 'ready', abilities: { sandbox, limits } };
}

function parseCpuPlace({ cpuPlace }: Fields): { readonly cpuPlace?: CgroupPlace } {
  if (!isRecord(cpuPlace)) return {};
  const { folder, version } = cpuPlace;
  return typeof folder === 'string' && (version === 1 || version === 2) ? { cpuPlace: { folder, version } } : {};
}

function parseOutput(run: number, { stream, bytes }: Fields): Report | undefined {
  if ((stream !== 'stdout' && stream !== 'stderr') || !(bytes instanceof Uint8Array)) return undefined;
  return { kind: 'output', run, stream, bytes };
}

function parseNetwork(run: number, { events }: Fields): Report | undefined {
  if (!Array.isArray(events) || !events.every((event) => isRecord(event) && isNetworkEvent(event))) return undefined;
  return { kind: 'network', run, events: events as readonly NetworkEvent[] };
}

function isNetworkEvent({ outcome, target, times }: Fields): boolean {
  return networkOutcomes.some((each) => each === outcome) && typeof target === 'string' && Number.isSafeInteger(times);
}

function parseNotStarted(run: number, { code, message, isTransient, remedy }: Fields): Report | undefined {
  const known = notStartedCodes.find((each) => each === code);
  if (known === undefined || typeof message !== 'string') return undefined;
  return {
    kind: 'not-started',
    run,
    code: known,
    message,
    isTransient: isTransient === true,
    remedy: typeof remedy === 'string' ? remedy : undefined,
  };
}

function isEnd(end: Fields): end is Fields & ProgramEnd {
  const { how, usage } = end;
  return (
    isRecord(how) &&
    isHow(how) &&
    isRecord(usage) &&
    Object.entries(usage).every(([name, value]) => name === 'measuredBy' || Number.isFinite(value))
  );
}

function isHow({ kind, code, signal, limit }: Fields): boolean {
  switch (kind) {
    case 'exited':
      return typeof code === 'number';
    case 'killed':
      return typeof signal === 'string';
    case 'limit':
      return programLimitNames.some((name) => name === limit);
    default:
      return ['answered', 'misanswered', 'disk-nearly-full', 'aborted'].includes(kind as string);
  }
}

function isRecord(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null;
}
