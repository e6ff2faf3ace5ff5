import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { constants as flags } from 'node:fs';
import { constants as system } from 'node:os';
import { getSystemErrorName } from 'node:util';
import type { Launch, LaunchDescriptor } from '../launch/launch.ts';
import type { ChildStarter, ProcessEnd, StartedProcess, StartOptions } from './child-starter.ts';
import { resourceLimits } from '../limits/limit-resources.ts';
import type { ResourceLimits } from '../limits/limit-resources.ts';
import { startForOthers } from './start-for-others.ts';
import { withResolvers } from '../with-resolvers.ts';

/** In the order in which the helper takes them. */
const systemCalls: Readonly<Record<string, readonly number[]>> = {
  x64: [157, 14, 289, 257, 3, 1, 292, 72, 112, 116, 119, 117, 160],
  arm64: [167, 135, 74, 56, 57, 64, 24, 25, 157, 159, 149, 147, 164],
};

/** Missing from `fs.constants`, and the same number on every Linux. */
const O_PATH = 0o10000000;
const resources = { cpuSeconds: 0, fileBytes: 1, core: 4, openFiles: 7 } as const;
const readyWithinMs = 5000;
const signalNames = new Map(Object.entries(system.signals).map(([name, number]) => [number, name]));

interface Child {
  readonly started: PromiseWithResolvers<StartedProcess>;
  readonly ended: PromiseWithResolvers<ProcessEnd>;
  hasFailed: boolean;
}

/**
 * Starts processes through a small helper that forks in their place: in a fraction of the time, and while this process
 * goes on. One for all programs of a spawner. When it ends, its children end with it and nothing can be started any
 * more.
 */
export class StartHelper implements ChildStarter {
  readonly #process: ChildProcess;
  readonly #children = new Map<number, Child>();
  readonly #ready = withResolvers<boolean>();
  /** Processes that were forked ahead, as far as they are there and unused. */
  readonly #seats = new Set<number>();
  /** The callers that asked for one, in their order. */
  readonly #seating: ((pid: number | undefined) => void)[] = [];
  #nextEnd = withResolvers<void>();
  readonly nextEnd = (): Promise<void> => this.#nextEnd.promise;
  #text = '';
  #lastId = 0;

  private constructor(perl: string, numbers: readonly number[], onEnd: () => void) {
    this.#process = spawn(perl, ['-e', startForOthers, String(process.pid), ...numbers.map(String)], {
      cwd: '/',
      env: {},
      stdio: ['pipe', 'pipe', 'ignore'],
      detached: true,
    });
    const end = (): void => {
      this.#ready.resolve(false);
      for (const { started } of this.#children.values()) started.reject(new Error('the helper has ended'));
      onEnd();
    };
    this.#process.once('error', end);
    this.#process.once('exit', end);
    this.#process.stdin?.on('error', () => undefined);
    this.#process.stdout?.setEncoding('latin1').on('data', (text: string) => this.#read(text));
  }

  /**
   * Undefined when there is no such helper on this machine. `onEnd` is called when it ends later. Call it when this
   * process sits in its control group: the helper and its children are to be killed with it.
   */
  static async open(perl: string, onEnd: () => void): Promise<StartHelper | undefined> {
    const numbers = systemCalls[process.arch];
    if (process.platform !== 'linux' || numbers === undefined) return undefined;
    let isOpen = false;
    const helper = new StartHelper(perl, numbers, () => isOpen && onEnd());
    const late = setTimeout(() => helper.#process.kill('SIGKILL'), readyWithinMs);
    isOpen = await helper.#ready.promise;
    clearTimeout(late);
    return isOpen ? helper : undefined;
  }

  /** A process that waits for its order. Undefined when the machine cannot fork one. */
  openSeat(): Promise<number | undefined> {
    const { promise, resolve } = withResolvers<number | undefined>();
    this.#seating.push(resolve);
    this.#order('seat');
    return promise;
  }

  closeSeat(pid: number): void {
    if (this.#seats.delete(pid)) this.#order('unseat', String(pid));
  }

  hasSeat(pid: number): boolean {
    return this.#seats.has(pid);
  }

  async start(launch: Launch, { workingDirectory, limits, descriptors, seat }: StartOptions): Promise<StartedProcess> {
    if (seat !== undefined && !this.#seats.delete(seat)) throw new Error('the process that waited is gone');
    const id = (this.#lastId += 1);
    const child: Child = { started: withResolvers(), ended: withResolvers(), hasFailed: false };
    this.#children.set(id, child);
    const variables = Object.entries(launch.environment).map(([name, value]) => `${name}=${value}`);
    this.#order(
      ...['start', String(id), seat === undefined ? '' : String(seat)],
      launch.user === undefined ? '' : `${launch.user.uid}:${launch.user.gid}`,
      workingDirectory,
      writeLimits(resourceLimits(launch, limits)),
      descriptors.map((fd, at) => `${fd}:${openingFlags(at, launch.descriptors)}`).join(' '),
      ...[String(variables.length), ...variables],
      ...[launch.file, ...launch.args],
    );
    return child.started.promise;
  }

  freeMemoryOf(killed: readonly number[]): void {
    if (killed.length > 0) this.#order('free', ...killed.map(String));
  }

  #order(...fields: readonly string[]): void {
    const text = Buffer.from(fields.join('\0'));
    const length = Buffer.alloc(4);
    length.writeUInt32BE(text.length);
    this.#process.stdin?.write(Buffer.concat([length, text]));
  }

  #read(text: string): void {
    const lines = (this.#text + text).split('\n');
    this.#text = lines.pop() ?? '';
    for (const line of lines) {
      const [kind = '', ...numbers] = line.split(' ');
      const [id = 0, value = 0] = numbers.map(Number);
      this.#take(kind, id, value);
    }
  }

  #take(kind: string, id: number, value: number): void {
    if (kind === 'ready') this.#ready.resolve(true);
    if (kind === 'seat') this.#takeSeat(id);
    if (kind === 'ended' || kind === 'gone') this.#tellEnd();
    // What is told of a process that no number was chosen for is its own number.
    if (kind === 'gone') this.#seats.delete(id);
    const child = this.#children.get(id);
    if (kind === 'started') {
      const kill = (): void => this.#order('kill', String(id));
      child?.started.resolve({ pid: value, ended: child.ended.promise, kill });
    } else if (kind === 'failed' && child !== undefined) {
      // Reports a start that was not reported yet; otherwise the end says so.
      child.hasFailed = true;
      child.started.reject(new Error(`the helper failed with ${getSystemErrorName(-value)}`));
    } else if (kind === 'ended') {
      this.#children.delete(id);
      child?.started.reject(new Error('it ended before it became the program'));
      child?.ended.resolve(child.hasFailed ? { kind: 'not-executed' } : describeStatus(value));
    }
  }

  #takeSeat(pid: number): void {
    if (pid !== 0) this.#seats.add(pid);
    this.#seating.shift()?.(pid === 0 ? undefined : pid);
  }

  #tellEnd(): void {
    this.#nextEnd.resolve();
    this.#nextEnd = withResolvers();
  }
}

/** Standard input, output and errors come before those of the launch. */
function openingFlags(at: number, descriptors: readonly LaunchDescriptor[]): number {
  if (at === 0) return flags.O_RDONLY;
  if (at <= 2) return flags.O_WRONLY;
  switch (descriptors[at - 3]?.kind) {
    case 'path':
      return O_PATH;
    case 'status':
      return flags.O_WRONLY;
    case 'release':
      return flags.O_RDWR;
    default:
      return flags.O_RDONLY;
  }
}

function writeLimits({ fileBytes, openFiles, cpuSeconds }: ResourceLimits): string {
  return [
    `${resources.core}:0:0`,
    `${resources.fileBytes}:${fileBytes}:${fileBytes}`,
    `${resources.openFiles}:${openFiles}:${openFiles}`,
    `${resources.cpuSeconds}:${cpuSeconds.soft}:${cpuSeconds.hard}`,
  ].join(' ');
}

/** As `waitpid` says it. */
function describeStatus(status: number): ProcessEnd {
  const signal = status & 0x7f;
  if (signal === 0) return { kind: 'exited', code: status >> 8 };
  return { kind: 'killed', signal: signalNames.get(signal) ?? `signal ${signal}` };
}
