import { createHash } from 'node:crypto';
import { accessSync, closeSync, constants } from 'node:fs';
import type { BigIntStats } from 'node:fs';
import { checkWritable, pinEntry } from '../../paths/open-to-change.ts';
import type { Target } from '../../paths/open-to-change.ts';
import { readBytes } from './file-bytes.ts';

const chunkBytes = 1024 * 1024;

/** The file as it is before a change, open for reading. */
export class FormerFile implements Disposable {
  readonly fd: number;
  readonly stats: BigIntStats;

  constructor(fd: number, stats: BigIntStats) {
    this.fd = fd;
    this.stats = stats;
  }

  get size(): number {
    return Number(this.stats.size);
  }

  read(signal: AbortSignal): Promise<Buffer> {
    return readBytes(this.fd, 0, this.size, signal);
  }

  async sha256(signal: AbortSignal): Promise<string> {
    const hash = createHash('sha256');
    for (let at = 0; at < this.size; at += chunkBytes) {
      hash.update(await readBytes(this.fd, at, Math.min(chunkBytes, this.size - at), signal));
    }
    return hash.digest('hex');
  }

  [Symbol.dispose](): void {
    closeSync(this.fd);
  }
}

/** Absent: there is no such file yet. Throws when it must not be written to. */
export function openFormer(target: Target): FormerFile | undefined {
  using pin = pinEntry(target.folder, target.name);
  if (pin === undefined) return undefined;
  const stats = pin.statExactly();
  checkWritable(stats, target.named);
  // The system lets us replace a read-only file, but its owner would not expect that.
  accessSync(pin.path, constants.W_OK);
  return new FormerFile(pin.reopen(constants.O_RDONLY), stats);
}
