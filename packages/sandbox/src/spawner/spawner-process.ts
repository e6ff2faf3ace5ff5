import type { Socket } from 'node:net';
import { keepCompiledCode } from '../compile-cache.ts';
import { defaultProgramLimits, ProgramNotStarted } from '../program.ts';
import type { Program } from '../program.ts';
import { probeSandbox } from '../launch/probe-sandbox.ts';
import { giveBackMemory } from '../memory/give-back-memory.ts';
import { closeInherited } from './close-inherited.ts';
import { findStaleHomes, GroupHome } from '../limits/group-home.ts';
import { Janitor } from './janitor.ts';
import type { Configuration, InputTime, Order, Report } from './messages.ts';
import { LaunchPlanner } from './launch-planner.ts';
import { ownChildStarter } from './child-starter.ts';
import { PipeStock } from './pipe-stock.ts';
import { RunningProgram } from './running-program.ts';
import type { SpawnerParts } from './running-program.ts';
import { SeatStock } from './seat-stock.ts';
import { SpawnerFolder } from './spawner-folder.ts';
import { StartHelper } from './start-helper.ts';

/**
 * The spawner: a small process that starts programs for the daemon, which is large and must not fork. It
 * takes orders from its parent only, and ends with it. Programs are started from the main thread, because they are
 * killed when the thread that started them is gone.
 */
class Spawner {
  readonly #parts: SpawnerParts;
  readonly #running = new Map<number, { readonly program: RunningProgram; readonly ended: Promise<void> }>();

  constructor(parts: SpawnerParts) {
    this.#parts = parts;
  }

  obey(order: Order): void {
    switch (order.kind) {
      case 'start':
        this.#start(order.run, order.program, order.stdin);
        break;
      case 'feed':
        this.#running.get(order.run)?.program.feed(order.stdin);
        break;
      case 'acknowledge':
        this.#running.get(order.run)?.program.acknowledge(order.bytes);
        break;
      case 'measure':
        report({ kind: 'measured', run: order.run, cpuMs: this.#running.get(order.run)?.program.measureCpuMs() });
        break;
      case 'kill':
        this.#running.get(order.run)?.program.abort();
        break;
      case 'close':
        void this.close();
        break;
      case 'configure':
    }
  }

  /** Ends this process when everything it started is gone. */
  async close(): Promise<never> {
    const running = [...this.#running.values()];
    for (const { program } of running) program.abort();
    await Promise.all(running.map(({ ended }) => ended));
    process.exit(0);
  }

  #start(run: number, toRun: Program, stdin: InputTime): void {
    const program = new RunningProgram(toRun, this.#parts, {
      onStarted: (cpuPlace) =>
        stdin !== 'now' && report({ kind: 'started', run, ...(cpuPlace === undefined ? {} : { cpuPlace }) }),
      onHanded: (stream, pipe) => report({ kind: 'handed', run, stream }, pipe),
      // A copy: Node keeps a message as it is for as long as a pipe that was sent before it is on its way, and meanwhile
      // the memory that pipes are read into has what another program says.
      onOutput: (stream, bytes) => report({ kind: 'output', run, stream, bytes: Buffer.from(bytes) }),
      onNetwork: (events) => report({ kind: 'network', run, events }),
    });
    const ended = program
      .run(stdin)
      .then(
        (end) => report({ kind: 'ended', run, end }),
        (error: unknown) => report({ kind: 'not-started', run, ...explain(error) }),
      )
      .finally(() => {
        this.#running.delete(run);
        void this.#parts.seats?.refill();
      });
    this.#running.set(run, { program, ended });
  }
}

function explain(error: unknown): Omit<Extract<Report, { kind: 'not-started' }>, 'kind' | 'run'> {
  if (error instanceof ProgramNotStarted) {
    const { code, message, isTransient, remedy } = error;
    return { code, message, isTransient, remedy };
  }
  // Unexpected, so it is not certain that nothing ran, and the process ends instead of claiming it. The daemon starts
  // another.
  throw error;
}

/** When the parent is gone, the end of the channel ends this process. A pipe that is sent along is closed here. */
function report(message: Report, pipe?: Socket): void {
  process.send?.(message, pipe, undefined, () => undefined);
}

async function openSpawner({ enforcement, sandbox, perl = '/usr/bin/perl' }: Configuration): Promise<Spawner> {
  Janitor.sweep({ homes: findStaleHomes(), folders: SpawnerFolder.findStale() });
  const janitor = new Janitor();
  const folder = new SpawnerFolder();
  janitor.entrustFolder(folder.path);
  folder.create();
  const groups = await GroupHome.open(janitor);
  const pipes = new PipeStock(folder.path);
  // Its children are gone with it, so this process has nothing left to supervise.
  const helper = StartHelper.open(perl, () => process.exit(1));
  const [probe, starter] = await Promise.all([sandbox ?? probeSandbox(), helper, pipes.refill()]);
  const seats = groups && starter && new SeatStock(groups, starter, defaultProgramLimits);
  await seats?.refill();
  // The next one starts faster, and smaller, without the compiler.
  keepCompiledCode();
  // Programs that run for days do not keep it at work.
  giveBackMemory(() => 0);
  report({
    kind: 'ready',
    abilities: {
      sandbox: probe.usable ? { usable: true, version: probe.version } : probe,
      limits: groups !== undefined ? 'cgroup' : enforcement === 'sampled' ? 'sampled' : 'none',
    },
  });
  const planner = new LaunchPlanner(probe);
  return new Spawner({ groups, enforcement, pipes, folder, planner, seats, starter: starter ?? ownChildStarter });
}

closeInherited();
let spawner: Promise<Spawner> | undefined;
process.on('message', (order: Order) => {
  if (order.kind === 'configure') spawner = openSpawner(order.configuration);
  else void spawner?.then((open) => open.obey(order));
});
process.on('disconnect', () => process.exit(1));
