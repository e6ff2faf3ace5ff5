import { closeSync, constants, fstatSync, lstatSync, openSync, realpathSync } from 'node:fs';
import type { BigIntStats, Stats } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { refuse } from '../call/refusal.ts';
import { ToolRefused } from '../call/tool.ts';
import { checkComponent, Vanished } from './pin.ts';
import type { Pin, PinOptions } from './pin.ts';

/**
 * For systems without `/proc/self/fd`. Weaker than a descriptor: the name is resolved once, and before each use the
 * object behind it is compared with the one first seen. That finds an exchange unless it happens, and is taken back,
 * between the comparison and the call after it.
 */
export function pinByName(path: string, { followLinks, expect }: PinOptions): Pin {
  const folder = realpathSync.native(dirname(path));
  if (followLinks === 'not-last' && folder !== dirname(path)) throw exchanged();
  const realPath = followLinks === 'last-too' ? realpathSync.native(path) : join(folder, basename(path));
  const first = lstatSync(realPath, { bigint: true });
  if (expect === 'folder' && !first.isDirectory()) {
    throw Object.assign(new Error('not a folder'), { code: 'ENOTDIR' });
  }
  return new NamePin(realPath, first);
}

class NamePin implements Pin {
  readonly path: string;
  readonly #first: BigIntStats;

  constructor(path: string, first: BigIntStats) {
    this.path = path;
    this.#first = first;
  }

  entry(name: string): string {
    this.statExactly();
    return join(this.path, checkComponent(name));
  }

  readRealPath(): string {
    this.statExactly();
    return this.path;
  }

  stat(): Stats {
    this.statExactly();
    return lstatSync(this.path);
  }

  statExactly(): BigIntStats {
    const now = lstatSync(this.path, { bigint: true, throwIfNoEntry: false });
    if (now === undefined) throw new Vanished('what was found was deleted');
    this.#checkSame(now);
    // A name can be exchanged above the last component too.
    if (realpathSync.native(dirname(this.path)) !== dirname(this.path)) throw exchanged();
    return now;
  }

  reopen(flags: number): number {
    const fd = openSync(this.path, flags | constants.O_NONBLOCK | constants.O_NOCTTY | constants.O_NOFOLLOW);
    try {
      this.#checkSame(fstatSync(fd, { bigint: true }));
      return fd;
    } catch (error) {
      closeSync(fd);
      throw error;
    }
  }

  [Symbol.dispose](): void {}

  #checkSame(now: BigIntStats): void {
    if (now.ino !== this.#first.ino || now.dev !== this.#first.dev) throw new Vanished('what was found was replaced');
  }
}

function exchanged(): ToolRefused {
  return new ToolRefused(refuse('UNSAFE_PATH', 'path-exchanged', 'The path changed while it was being opened.'));
}
