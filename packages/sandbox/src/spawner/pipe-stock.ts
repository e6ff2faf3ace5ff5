import { execFile } from 'node:child_process';
import { closeSync, constants, openSync, unlinkSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';

/** The two ends of a pipe. The caller that takes it closes it. */
export interface Pipe {
  readonly ours: number;
  readonly theirs: number;
}

/**
 * What the program does with its end, which blocks as programs expect; ours does not. `wait`: it reads, and does not
 * see the end of the pipe when this process is killed, because it holds the other end as well.
 */
export type PipeUse = 'read' | 'write' | 'wait';

/** Missing from `fs.constants`, and the same number on every Linux. */
const O_PATH = 0o10000000;
const { O_NONBLOCK, O_RDONLY, O_RDWR, O_WRONLY } = constants;
const batchSize = 160;
const execFileAsync = promisify(execFile);

/**
 * Real pipes, which Node cannot make: what it calls a pipe is a socket, and `echo x > /dev/stderr` fails on a socket.
 * They are named pipes, made many at a time, held by descriptors and unlinked at once. Each is used once.
 */
export class PipeStock {
  readonly #folder: string;
  readonly #held: number[] = [];
  #refilling: Promise<void> | undefined;

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** One pipe for each use. Rejects when this machine has no `mkfifo` or no descriptors are left. */
  async take(uses: readonly PipeUse[]): Promise<readonly Pipe[]> {
    while (this.#held.length < uses.length) await this.refill();
    if (this.#held.length < batchSize / 2) this.refill().catch(() => undefined);
    const taken: Pipe[] = [];
    try {
      for (const use of uses) taken.push(this.#open(use));
      return taken;
    } catch (error) {
      for (const { ours, theirs } of taken) [ours, theirs].forEach((fd) => closeSync(fd));
      throw error;
    }
  }

  refill(): Promise<void> {
    this.#refilling ??= this.#makeBatch().finally(() => (this.#refilling = undefined));
    return this.#refilling;
  }

  #open(use: PipeUse): Pipe {
    const held = this.#held.pop() as number;
    const path = `/proc/self/fd/${held}`;
    const opened: number[] = [];
    try {
      // Opening for reading and writing never waits for the other end, and then neither do the next ones.
      const both = openSync(path, O_RDWR);
      opened.push(both);
      const ours = openSync(path, O_NONBLOCK | (use === 'write' ? O_RDONLY : O_WRONLY));
      opened.push(ours);
      if (use === 'wait') return { ours, theirs: both };
      const theirs = openSync(path, use === 'write' ? O_WRONLY : O_RDONLY);
      closeSync(both);
      return { ours, theirs };
    } catch (error) {
      for (const fd of opened) closeSync(fd);
      throw error;
    } finally {
      closeSync(held);
    }
  }

  async #makeBatch(): Promise<void> {
    const paths = Array.from({ length: batchSize }, (_, n) => join(this.#folder, `pipe-${n}`));
    // Anyone may open them, but only through a descriptor that they were given: the folder is private.
    await execFileAsync('mkfifo', ['-m', '666', ...paths], { cwd: '/', env: { PATH: '/usr/bin:/bin' } });
    for (const path of paths) {
      this.#held.push(openSync(path, O_PATH));
      unlinkSync(path);
    }
  }
}
