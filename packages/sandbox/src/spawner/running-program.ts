import { wholeText } from '../whole-text.ts';
import { closeSync } from 'node:fs';
import { Socket } from 'node:net';
import { availableParallelism } from 'node:os';
import type { NetworkEvent } from '../network-log.ts';
import { ProgramNotStarted } from '../program.ts';
import type { Program, ProgramEnd, ProgramLimits } from '../program.ts';
import { explainNotExecuted } from '../launch/explain-not-executed.ts';
import type { CgroupPlace } from '../launch/cgroup-places.ts';
import type { Launch } from '../launch/launch.ts';
import { AnswerReader, answerVariable, mayAnswer } from './answer-reader.ts';
import { awaitEnd, checkEnforcement, killAll, openConfinement, remove, watchLimits } from './confinement.ts';
import type { Confinement } from './confinement.ts';
import type { GroupHome } from '../limits/group-home.ts';
import { readProcess } from '../limits/read-process.ts';
import type { ProcessFacts } from '../limits/read-process.ts';
import { holdMounts } from './hold-mounts.ts';
import type { LaunchPlanner } from './launch-planner.ts';
import type { Enforcement, InputTime } from './messages.ts';
import { openNetwork, showNetwork } from './open-network.ts';
import type { ProgramNetwork } from './open-network.ts';
import { OutputValve } from './output-valve.ts';
import type { OutputName } from './output-valve.ts';
import { isExchanged } from './child-descriptors.ts';
import type { SeatStock } from './seat-stock.ts';
import { writeAll } from './spawner-folder.ts';
import { startChild } from './start-child.ts';
import type { ChildEnd, StartedChild, StartingParts } from './start-child.ts';
import { openDiskWatch } from '../limits/watch-disk.ts';
import type { DiskWatch } from '../limits/watch-disk.ts';
import { withResolvers } from '../with-resolvers.ts';

/** What all programs of a spawner share. */
export interface SpawnerParts extends StartingParts {
  readonly groups: GroupHome | undefined;
  readonly enforcement: Enforcement;
  readonly planner: LaunchPlanner;
  /** Absent: every program is started from nothing. */
  readonly seats?: SeatStock | undefined;
}

export interface ProgramEvents {
  readonly onStarted: (cpuPlace: CgroupPlace | undefined) => void;
  /** Takes over a pipe of a program whose pipes are handed over. */
  readonly onHanded: (stream: 'stdin' | 'stdout', pipe: Socket) => void;
  readonly onOutput: (stream: OutputName, bytes: Uint8Array) => void;
  /** Everything has been reported when the program has ended. */
  readonly onNetwork: (events: readonly NetworkEvent[]) => void;
}

const coreCount = availableParallelism();

/** One program, from its plan to the moment when every process of it is gone. */
export class RunningProgram {
  readonly #program: Program;
  readonly #parts: SpawnerParts;
  readonly #events: ProgramEvents;
  readonly #valve: OutputValve;
  /** Absent: the program ends by itself. */
  readonly #answer: AnswerReader | undefined;
  /** What the sandbox says while it is being built. Empty afterwards. */
  readonly #early: [OutputName, Uint8Array][] = [];
  readonly #aborting = new AbortController();
  /** Pipes that the daemon will have once the program runs. Empty: it will have none, or has them. */
  readonly #handed: ['stdin' | 'stdout', number][] = [];
  #isReleased = false;
  /** The file that is to hold the input of a program that waits in its sandbox. */
  #inputFile: number | undefined;
  /** Brings the input of a program that is to wait for it in its sandbox. Absent: the program waits for nothing. */
  #held: PromiseWithResolvers<Uint8Array> | undefined;
  #kill: (() => void) | undefined;
  #network: ProgramNetwork | undefined;
  #confinement: Confinement | undefined;
  /** Its processes have been in the confinement from their beginning. */
  #isSeated = false;
  /** The first process in the sandbox, which is the last to go. */
  #inside: ProcessFacts | undefined;
  /** Takes down the mounts of the sandbox, which are held until then. */
  #letGoOfMounts: (() => void) | undefined;
  /** Why it was ended by us, or is to be. */
  #cause: ProgramEnd['how'] | undefined;

  constructor(program: Program, parts: SpawnerParts, events: ProgramEvents) {
    this.#answer = mayAnswer(program) ? new AnswerReader() : undefined;
    this.#program = withSign(program, this.#answer);
    this.#parts = parts;
    this.#events = events;
    this.#valve = new OutputValve({
      maxBytes: program.limits.outputBytes,
      onChunk: (stream, bytes) => {
        // What a program did is reported before its output.
        this.#network?.flush();
        if (this.#isReleased) this.#pass(stream, bytes);
        else this.#early.push([stream, Buffer.from(bytes)]);
      },
      onExcess: () => this.#end({ kind: 'limit', limit: 'outputBytes' }),
    });
  }

  /**
   * To be called once. Rejects with ProgramNotStarted when nothing of the program ran. When it settles, no process is
   * left, and nothing of what it was given. Its mounts and its control group go right afterwards.
   */
  async run(stdin: InputTime): Promise<ProgramEnd> {
    const { planner } = this.#parts;
    if (stdin === 'held') this.#held = withResolvers();
    const planned = await planner.plan(await showNetwork(this.#program), this.#aborting.signal);
    if (planned === undefined) return { how: { kind: 'aborted' }, usage: {} };
    try {
      if (stdin === 'held') checkKeepsNobodyOut(planned.launch);
      return await this.#runPlanned(planned.launch, stdin);
    } finally {
      planned.leave();
    }
  }

  /** Gives a program that waits in its sandbox its input, and runs it. */
  feed(stdin: Uint8Array): void {
    this.#held?.resolve(stdin);
  }

  /** Undefined: it does not run, or its processes are only looked at now and then. */
  measureCpuMs(): number | undefined {
    return this.#confinement?.measuredBy === 'cgroup' ? this.#confinement.readCpuMs() : undefined;
  }

  acknowledge(bytes: number): void {
    this.#valve.acknowledge(bytes);
  }

  abort(): void {
    this.#aborting.abort();
    this.#valve.discard();
    this.#end({ kind: 'aborted' });
  }

  #pass(stream: OutputName, bytes: Uint8Array): void {
    const answer = stream === 'stdout' ? this.#answer : undefined;
    const passed = answer === undefined ? bytes : answer.take(bytes);
    // First, because somebody waits for the end: the kernel works at it while the answer is on its way.
    if (answer?.state === 'complete') {
      this.#end({ kind: 'answered' });
      // A runtime that was started ahead is large. It came after the processes of the sandbox.
      this.#parts.starter.freeMemoryOf?.(this.#confinement?.listProcesses().toReversed() ?? []);
    }
    if (answer?.state === 'spoiled') this.#end({ kind: 'misanswered' });
    if (passed.length > 0) this.#events.onOutput(stream, passed);
    // What the consumer does not get, it cannot acknowledge.
    if (passed.length < bytes.length) this.#valve.acknowledge(bytes.length - passed.length);
  }

  #end(cause: ProgramEnd['how']): void {
    this.#cause ??= cause;
    this.#kill?.();
  }

  async #runPlanned(plan: Launch, stdin: InputTime): Promise<ProgramEnd> {
    const { limits, isolation, workingDirectory } = this.#program;
    const { groups, enforcement, seats } = this.#parts;
    checkEnforcement(groups, enforcement);
    const { memoryBytes } = limits;
    // A program that is started ahead can wait.
    const seat = stdin === 'now' ? seats?.take({ memoryBytes, processes: countProcesses(limits, plan, 2) }) : undefined;
    this.#isSeated = seat !== undefined;
    const start = {
      workingDirectory: isolation === 'none' ? workingDirectory : '/',
      stdin: stdin === 'now' ? this.#program.stdin : stdin === 'held' ? stdin : ('later' as const),
      limits,
      seat: seat?.pid,
    };
    // The child waits anyway, so both can begin at once.
    const opening =
      seat === undefined
        ? openConfinement(groups, { memoryBytes, processes: countProcesses(limits, plan, 1) })
        : Promise.resolve(seat.group);
    opening.catch(() => undefined);
    let child: StartedChild | undefined;
    let confinement: Confinement | undefined;
    try {
      child = await startChild(plan, start, this.#parts);
      this.#takeOver(child, stdin);
      confinement = await opening;
      this.#confinement = confinement;
      return await this.#attend(child, confinement);
    } finally {
      this.#confinement = undefined;
      await child?.end();
      confinement ??= await opening.catch(() => undefined);
      if (confinement !== undefined) await killAll(confinement, this.#parts.starter.nextEnd);
      if (this.#inputFile !== undefined) closeSync(this.#inputFile);
      for (const [, fd] of this.#handed.splice(0)) closeSync(fd);
      this.#valve.discard();
      await this.#valve.drain();
      // Nothing waits for these, so they come after the report. If this process ends meanwhile, the kernel and the
      // janitor do them.
      setImmediate(() => {
        this.#letGoOfMounts?.();
        if (confinement !== undefined) void remove(confinement);
      });
    }
  }

  #takeOver(child: StartedChild, stdin: InputTime): void {
    this.#valve.attach('stderr', child.stderr);
    if (stdin === 'held') this.#inputFile = child.stdin;
    else if (child.stdin !== undefined) this.#handed.push(['stdin', child.stdin]);
    if (stdin === 'handed') this.#handed.push(['stdout', child.stdout]);
    else this.#valve.attach('stdout', child.stdout);
  }

  async #attend(child: StartedChild, confinement: Confinement): Promise<ProgramEnd> {
    const network = await this.#prepare(child, confinement);
    this.#network = network;
    try {
      if (this.#held !== undefined) await this.#hold(child, this.#held.promise);
      const diskWatch = await openDiskWatch(this.#program, confinement);
      if (this.#cause !== undefined) return { how: this.#cause, usage: {} };
      child.release();
      this.#announce();
      const how = await this.#await(child, confinement, diskWatch);
      const usage = confinement.readUsage();
      return {
        how,
        usage: {
          ...(Object.keys(usage).length > 0 && { measuredBy: confinement.measuredBy, ...usage }),
          // Without isolation nobody counted; in a sandbox without hosts there is nothing to count.
          ...(this.#program.isolation === 'sandbox' && { networkConnections: network?.connections ?? 0 }),
        },
      };
    } finally {
      await network?.close();
    }
  }

  /** Puts the waiting process where it belongs. Whatever fails here, the program has not run. */
  async #prepare(child: StartedChild, confinement: Confinement): Promise<ProgramNetwork | undefined> {
    this.#kill = () => void child.end();
    const waiting = await child.waiting;
    if (waiting === undefined) {
      await child.ended;
      if (this.#cause !== undefined) return undefined;
      throw new ProgramNotStarted('EXECUTION_ERROR', `The sandbox could not be built. ${this.#quoteEarly()}`.trim());
    }
    try {
      if (this.#isSeated) confinement.countFromNow?.();
      else await confinement.add(waiting.pid);
    } catch (cause) {
      throw new ProgramNotStarted('LIMIT_UNENFORCEABLE', 'The program could not be put under its limits.', {
        cause,
        isTransient: true,
      });
    }
    this.#inside = readProcess(waiting.pid);
    if (this.#program.isolation === 'sandbox') this.#letGoOfMounts = holdMounts(waiting.pid);
    this.#kill = () => {
      confinement.kill();
      child.kill();
    };
    const { hosts } = this.#program;
    return hosts.length === 0 || this.#cause !== undefined
      ? undefined
      : openNetwork(hosts, waiting, this.#events.onNetwork);
  }

  /** Until its input is there, and then only if it still is what would be built now. */
  async #hold(child: StartedChild, input: Promise<Uint8Array>): Promise<void> {
    if (this.#cause !== undefined) return;
    this.#events.onStarted(this.#confinement?.cpuPlace);
    const bytes = await Promise.race([input, child.ended.then(() => undefined)]);
    if (this.#cause !== undefined) return;
    if (bytes === undefined) throw unusableSandbox('ended');
    if (child.shown.some(isExchanged)) throw unusableSandbox('shows a file that has been replaced');
    try {
      writeAll(child.stdin as number, bytes);
    } catch (cause) {
      throw unusableSandbox('could not be given its input', { cause });
    }
  }

  #announce(): void {
    this.#isReleased = true;
    for (const [stream, bytes] of this.#early.splice(0)) this.#pass(stream, bytes);
    for (const [stream, fd] of this.#handed.splice(0)) {
      // Not readable here, or what the program says first would be read here.
      this.#events.onHanded(stream, new Socket({ fd, readable: false, writable: true }));
    }
    if (this.#held === undefined) this.#events.onStarted(this.#confinement?.cpuPlace);
  }

  async #await(
    child: StartedChild,
    confinement: Confinement,
    diskWatch: DiskWatch | undefined,
  ): Promise<ProgramEnd['how']> {
    const { cpuMs } = this.#program.limits;
    const stopWatching = watchLimits(confinement, { cpuMs, coreCount }, (limit) => this.#end({ kind: 'limit', limit }));
    const stopWatchingDisk = diskWatch?.start((how) => this.#end(how));
    await child.finished;
    stopWatching();
    stopWatchingDisk?.();
    // Before the kill, which makes the group refuse processes.
    const reachedLimit = this.#cause === undefined ? confinement.findReachedLimit() : undefined;
    const [end] = await Promise.all([child.ended, killAll(confinement, this.#parts.starter.nextEnd)]);
    await awaitEnd(this.#inside, this.#parts.starter.nextEnd);
    const reached = reachedLimit ?? findSignalledLimit(end);
    await this.#valve.drain();
    if (this.#cause === undefined && reached !== undefined) return { kind: 'limit', limit: reached };
    if (this.#cause === undefined) this.#answer?.finish();
    // Also when something came after it was ended for its answer.
    if (this.#answer?.state === 'spoiled' && isOfAnswer(this.#cause)) return { kind: 'misanswered' };
    if (this.#cause !== undefined) return this.#cause;
    if (end.kind !== 'not-executed') return end;
    // Perhaps the sandbox ended before the program was to start; a fresh one will tell.
    if (this.#held !== undefined) throw unusableSandbox('ended');
    throw explainNotExecuted(this.#program);
  }

  #quoteEarly(): string {
    return wholeText(Buffer.concat(this.#early.map(([, bytes]) => bytes)).toString(), longestQuote);
  }
}

function isOfAnswer(cause: ProgramEnd['how'] | undefined): boolean {
  return cause === undefined || cause.kind === 'answered' || cause.kind === 'misanswered';
}

function withSign(program: Program, answer: AnswerReader | undefined): Program {
  // Only the gate's own sign counts, so the environment of a call cannot set one.
  const { [answerVariable]: _, ...environment } = program.environment;
  return {
    ...program,
    environment: answer === undefined ? environment : { ...environment, [answerVariable]: answer.sign },
  };
}

/** Other programs would wait for one that may never run. */
function checkKeepsNobodyOut({ claims }: Launch): void {
  if (claims !== undefined && Object.values(claims).some((paths: readonly string[]) => paths.length > 0)) {
    throw unusableSandbox('would keep other programs out of a folder');
  }
}

function unusableSandbox(reason: string, options?: ErrorOptions): ProgramNotStarted {
  const message = `The sandbox that was built for the program ahead of time ${reason}.`;
  return new ProgramNotStarted('EXECUTION_ERROR', message, { ...options, isTransient: true });
}

/** Of what a sandbox says that does not start. */
const longestQuote = 64 * 1024;

/** A sandbox has one process of its own inside, and with the one outside two. */
function countProcesses(limits: ProgramLimits, plan: Launch, ofSandbox: 1 | 2): number {
  return limits.processes + (plan.descriptors.some(({ kind }) => kind === 'status') ? ofSandbox : 0);
}

const signalledLimits = [
  { limit: 'cpuMs', signal: 'SIGXCPU', code: 128 + 24 },
  { limit: 'fileBytes', signal: 'SIGXFSZ', code: 128 + 25 },
] as const satisfies readonly { limit: keyof ProgramLimits; signal: string; code: number }[];

/** A sandbox, like a shell, reports a deadly signal as an exit code. */
function findSignalledLimit(end: ChildEnd): keyof ProgramLimits | undefined {
  const found = signalledLimits.find(
    ({ signal, code }) =>
      (end.kind === 'killed' && end.signal === signal) || (end.kind === 'exited' && end.code === code),
  );
  return found?.limit;
}
