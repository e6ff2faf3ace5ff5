import { createHash, randomBytes } from 'node:crypto';
import { closeSync, mkdirSync, openSync } from 'node:fs';
import { join } from 'node:path';
import type { ToolContext } from '../../../call/tool.ts';
import { removeIfThere } from '../draft.ts';
import { copyBytes } from '../file-bytes.ts';

export interface TrashName {
  readonly name: string;
  readonly path: string;
}

/** A new name in the trash. It starts with the id of the call, so that a person finds what belongs to it. */
export function nameInTrash(context: Pick<ToolContext, 'trashFolder' | 'callId'>): TrashName {
  mkdirSync(context.trashFolder, { recursive: true, mode: 0o700 });
  const name = `${context.callId}-${randomBytes(4).toString('hex')}`;
  return { name, path: join(context.trashFolder, name) };
}

/**
 * A copy in the trash of a file that is about to be replaced. Disposing of it removes what was not kept.
 *
 * A hard link would be cheaper, but a program that has the file open could still change what we promise to restore,
 * and a crash before the replacement would leave the live file with two names, which later writes refuse.
 */
export class KeptCopy implements Disposable {
  readonly fd: number;
  readonly name: string;
  readonly path: string;
  /** Of what was copied. Empty until then. */
  sha256 = '';
  #kept = false;

  constructor(context: ToolContext) {
    ({ name: this.name, path: this.path } = nameInTrash(context));
    this.fd = openSync(this.path, 'wx', 0o600);
  }

  /** Not yet durable when this returns. */
  static async of(fd: number, size: number, context: ToolContext): Promise<KeptCopy> {
    const copy = new KeptCopy(context);
    try {
      const hash = createHash('sha256');
      await copyBytes(fd, copy.fd, size, hash, context.signal);
      copy.sha256 = hash.digest('hex');
      return copy;
    } catch (error) {
      copy[Symbol.dispose]();
      throw error;
    }
  }

  keep(): void {
    this.#kept = true;
  }

  [Symbol.dispose](): void {
    closeSync(this.fd);
    if (!this.#kept) removeIfThere(this.path);
  }
}
