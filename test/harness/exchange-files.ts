import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { setImmediate } from 'node:timers/promises';

/**
 * While the file `go` is there, and from a random moment on, it keeps giving the name of what was shown to something
 * else. It only ever renames to names that nobody else uses and links to names that are free, so whatever is lost is
 * lost by somebody else.
 */
const program = `
  const { existsSync, linkSync, lstatSync, renameSync, rmSync, unlinkSync } = require('node:fs');
  const [shown, other, go, longestWaitMs] = process.argv.slice(1);
  let count = 0;
  const attempt = (action) => { try { action(); return true; } catch { return false; } };
  const take = () => {
    const name = other + '.' + count++;
    return attempt(() => renameSync(shown, name)) ? name : undefined;
  };
  // Folders have no second names; an empty one that is in the way is replaced, and nothing is lost by that.
  const give = (name, free) =>
    lstatSync(name).isDirectory()
      ? !existsSync(free) && attempt(() => renameSync(name, free))
      : attempt(() => linkSync(name, free)) && attempt(() => unlinkSync(name));
  const numberOf = (name) => lstatSync(name).ino;
  process.stdin.on('end', () => process.exit()).resume();
  (function race() {
    if (existsSync(go)) {
      const otherNumber = numberOf(other);
      const begin = performance.now() + Math.random() * Number(longestWaitMs);
      while (performance.now() < begin);
      do {
        const parked = take();
        if (existsSync(other)) give(other, shown);
        const back = take();
        if (back !== undefined) give(back, numberOf(back) === otherNumber ? other : shown);
        if (parked !== undefined) give(parked, numberOf(parked) === otherNumber ? other : shown);
      } while (existsSync(go));
    } else if (existsSync(go + '.stop')) rmSync(go + '.stop');
    setImmediate(race);
  })();
`;

export interface Exchange {
  readonly shown: string;
  readonly other: string;
  /** A path that is free, for the signals between the two programs. */
  readonly go: string;
  /** The exchange begins at a random moment within this time. */
  readonly longestWaitMs: number;
}

/** Another program on the machine, which exchanges what was shown for something else while an action runs. */
export class FileExchanger {
  readonly #process: ChildProcess;
  readonly #go: string;

  constructor({ shown, other, go, longestWaitMs }: Exchange) {
    this.#go = go;
    this.#process = spawn(process.execPath, ['-e', program, shown, other, go, String(longestWaitMs)], {
      stdio: ['pipe', 'ignore', 'inherit'],
    });
  }

  /** When it returns, nothing is exchanged any more. */
  async during<T>(action: () => Promise<T>): Promise<T> {
    writeFileSync(this.#go, '');
    try {
      return await action();
    } finally {
      rmSync(this.#go);
      await this.#becomeIdle();
    }
  }

  async end(): Promise<void> {
    this.#process.stdin?.end();
    await once(this.#process, 'close');
  }

  /** It takes this file away when it is idle. */
  async #becomeIdle(): Promise<void> {
    writeFileSync(`${this.#go}.stop`, '');
    while (existsSync(`${this.#go}.stop`)) {
      if (this.#process.exitCode !== null) throw new Error('the program that exchanges files has ended');
      await setImmediate();
    }
  }
}
