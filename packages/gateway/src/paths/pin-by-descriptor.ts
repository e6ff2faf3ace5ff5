import { closeSync, constants, fstatSync, lstatSync, openSync, readlinkSync } from 'node:fs';
import type { BigIntStats, Stats } from 'node:fs';
import { refuse } from '../call/refusal.ts';
import { ToolRefused } from '../call/tool.ts';
import { checkComponent, Vanished } from './pin.ts';
import type { Pin, PinOptions } from './pin.ts';

/** For Linux. The strong way: an exchange of names after this cannot change what is used. */
export function pinByDescriptor(path: string, options: PinOptions): Pin {
  return new DescriptorPin(path, options);
}

/** The same number on every Linux that Node runs on, and missing from `fs.constants`. */
const O_PATH = 0o10000000;
const { O_DIRECTORY, O_NOCTTY, O_NOFOLLOW, O_NONBLOCK } = constants;

/** Holds an O_PATH descriptor. `/proc/self/fd/N/name` is Node's way to say openat, renameat and so on. */
class DescriptorPin implements Pin {
  readonly path: string;
  readonly #fd: number;

  constructor(path: string, { followLinks, expect }: PinOptions) {
    const flags = (followLinks === 'last-too' ? 0 : O_NOFOLLOW) | (expect === 'folder' ? O_DIRECTORY : 0);
    this.#fd = openSync(path, O_PATH | flags);
    this.path = `/proc/self/fd/${this.#fd}`;
  }

  entry(name: string): string {
    return `${this.path}/${checkComponent(name)}`;
  }

  readRealPath(): string {
    const path = readlinkSync(this.path);
    if (!path.startsWith('/')) throw new Vanished('what is open has no path');
    if (path.endsWith(' (deleted)') && !this.#isNamed(path)) throw new Vanished('what is open was deleted');
    if (path.includes('\uFFFD')) this.#checkEncoding();
    return path;
  }

  stat(): Stats {
    return fstatSync(this.#fd);
  }

  statExactly(): BigIntStats {
    return fstatSync(this.#fd, { bigint: true });
  }

  reopen(flags: number): number {
    return openSync(this.path, flags | O_NONBLOCK | O_NOCTTY);
  }

  [Symbol.dispose](): void {
    closeSync(this.#fd);
  }

  /** The kernel marks a deleted file by a suffix that a file may also bear as its name. */
  #isNamed(path: string): boolean {
    const there = lstatSync(path, { bigint: true, throwIfNoEntry: false });
    const here = this.statExactly();
    return there !== undefined && there.ino === here.ino && there.dev === here.dev;
  }

  /** Rules judge text; bytes that are no text would reach them as something else. */
  #checkEncoding(): void {
    const bytes = readlinkSync(this.path, { encoding: 'buffer' });
    if (Buffer.from(bytes.toString()).equals(bytes)) return;
    throw new ToolRefused(refuse('UNSAFE_PATH', 'path-encoding', 'The name of the file is not UTF-8.'));
  }
}
