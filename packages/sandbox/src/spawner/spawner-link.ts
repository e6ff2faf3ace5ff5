import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { existsSync } from 'node:fs';
import { Socket } from 'node:net';
import { extname, join } from 'node:path';
import { findCompileCache } from '../compile-cache.ts';
import { parseReport } from './messages.ts';
import { OutputTail } from './output-tail.ts';
import type { Configuration, Order, Report } from './messages.ts';

/** Beside this file in the sources and in a package; in another bundle it must be beside that bundle. */
const spawnerFile = join(import.meta.dirname, `spawner-process${extname(import.meta.filename)}`);
const setpriv = '/usr/bin/setpriv';
/** A process is forked the faster the less memory it has: 0.05 ms a megabyte, for each program. */
const smallHeap = ['--max-semi-space-size=1', '--v8-pool-size=0'];

export interface LinkEvents {
  /** `pipe` comes with reports of the kind `handed`, and with no other. */
  readonly onReport: (report: Report, pipe?: Socket) => void;
  /** The process is gone, and so is everything it had started. `why` is for the log. */
  readonly onEnd: (why: string) => void;
}

/** One spawner process and the channel to it. */
export class SpawnerLink {
  readonly #child: ChildProcess;
  readonly #errors = new OutputTail();

  constructor(configuration: Configuration, { onReport, onEnd }: LinkEvents) {
    this.#child = startSpawner();
    let why = '';
    this.#child.once('error', (error) => (why = error.message));
    this.#child.once('exit', (code, signal) => (why = signal === null ? `exit code ${code}` : signal));
    // Later than its exit: what cleans up after it holds its output open until all is done.
    this.#child.once('close', () => onEnd([why, this.#errors.read().trim()].filter(Boolean).join(': ')));
    this.#child.stderr?.on('data', (chunk: Buffer) => this.#errors.add(chunk));
    this.#child.stdout?.resume();
    this.#child.on('message', (message, handle) => {
      const report = parseReport(message);
      const pipe = handle instanceof Socket ? handle : undefined;
      if (report !== undefined && (report.kind === 'handed') === (pipe !== undefined)) onReport(report, pipe);
      else this.kill();
    });
    this.send({ kind: 'configure', configuration });
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  /** What cannot be sent is lost with the process, whose end is reported. */
  send(order: Order): void {
    if (this.#child.connected) this.#child.send(order, () => undefined);
  }

  kill(): void {
    this.#child.kill('SIGKILL');
  }
}

function startSpawner(): ChildProcess {
  const command = [process.execPath, ...smallHeap, spawnerFile];
  const cache = findCompileCache();
  // Killed with the daemon, even if it is not listening at that moment.
  const [file, ...args] = existsSync(setpriv) ? [setpriv, '--pdeathsig', 'KILL', '--', ...command] : command;
  return spawn(file as string, args, {
    cwd: '/',
    env: cache === undefined ? {} : { NODE_COMPILE_CACHE: cache },
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    serialization: 'advanced',
    // Out of reach of the terminal: the daemon decides when to end.
    detached: true,
  });
}
