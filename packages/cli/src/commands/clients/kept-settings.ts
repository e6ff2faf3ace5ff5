import { hash } from 'node:crypto';
import { chmodSync, lstatSync, mkdirSync, readFileSync, realpathSync, rmSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { hasErrorCode } from '../../client/failure.ts';
import { writeFileAtomically } from '../../terminal/write-file-atomically.ts';

/** What a settings file was before we changed it, and what we made of it. */
interface Kept {
  readonly file: string;
  /** Base64. Absent: there was no file. */
  readonly before?: string;
  readonly mode?: number;
  readonly afterSha256: string;
}

/** The files of clients, as they were before. Kept in the home of the gate, beside the sessions of the clients. */
export class KeptSettings {
  readonly #folder: string;

  constructor(home: string) {
    this.#folder = join(home, 'clients', 'before');
  }

  /** Undefined: there is no file. A link is followed: what it leads to is what the client reads. */
  read(file: string): Buffer | undefined {
    try {
      return readFileSync(file);
    } catch (error) {
      if (hasErrorCode(error, 'ENOENT') && !isLink(file)) return undefined;
      throw error;
    }
  }

  /** Keeps what is there, unless an earlier version of it is kept already, and puts the text in its place. */
  replace(client: string, file: string, text: string): void {
    const before = this.read(file);
    const target = before === undefined ? file : realpathSync(file);
    const earlier = this.#find(client);
    const mode = before === undefined ? undefined : statSync(target).mode & 0o7777;
    const kept: Kept = {
      file,
      ...(earlier?.file === file && earlier.afterSha256 === sha256(before)
        ? {
            ...(earlier.before === undefined ? {} : { before: earlier.before }),
            ...(earlier.mode === undefined ? {} : { mode: earlier.mode }),
          }
        : {
            ...(before === undefined ? {} : { before: before.toString('base64') }),
            ...(mode === undefined ? {} : { mode }),
          }),
      afterSha256: hash('sha256', text),
    };
    mkdirSync(this.#folder, { recursive: true, mode: 0o700 });
    writeFileAtomically(this.#at(client), `${JSON.stringify(kept)}\n`);
    mkdirSync(dirname(target), { recursive: true });
    writeFileAtomically(target, text);
    if (mode !== undefined) chmodSync(target, mode);
  }

  /** `changed`: somebody has changed it since, and it stays. `none`: nothing was ever changed. */
  restore(client: string): { readonly how: 'restored' | 'changed' | 'none'; readonly file?: string } {
    const kept = this.#find(client);
    if (kept === undefined) return { how: 'none' };
    const { file, before, mode, afterSha256 } = kept;
    const present = this.read(file);
    if (present === undefined ? before !== undefined : sha256(present) !== afterSha256) return { how: 'changed', file };
    if (before === undefined) rmSync(file, { force: true });
    else {
      const target = realpathSync(file);
      writeFileAtomically(target, Buffer.from(before, 'base64'));
      if (mode !== undefined) chmodSync(target, mode);
    }
    rmSync(this.#at(client), { force: true });
    return { how: 'restored', file };
  }

  #find(client: string): Kept | undefined {
    try {
      return JSON.parse(readFileSync(this.#at(client), 'utf8')) as Kept;
    } catch (error) {
      if (hasErrorCode(error, 'ENOENT')) return undefined;
      throw error;
    }
  }

  #at(client: string): string {
    return join(this.#folder, `${client}.json`);
  }
}

function sha256(bytes: Buffer | undefined): string {
  return bytes === undefined ? '' : hash('sha256', bytes);
}

function isLink(file: string): boolean {
  try {
    return lstatSync(file).isSymbolicLink();
  } catch {
    return false;
  }
}
