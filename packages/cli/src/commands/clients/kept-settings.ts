import { hash } from 'node:crypto';
import { chmodSync, lstatSync, mkdirSync, readFileSync, realpathSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { attempt } from '@sallyport/contract';
import { createSecretsKey, openSecret, parseSecretsKey, sealSecret } from '@sallyport/gateway';
import { hasErrorCode } from '../../client/failure.ts';
import { writeFileAtomically } from '../../terminal/write-file-atomically.ts';

/** What a settings file was before we changed it, and what we made of it. */
interface KeptFile {
  readonly file: string;
  /** Sealed, because there may be tokens in it. Absent: there was no file. */
  readonly before?: string;
  readonly mode?: number;
  readonly afterSha256: string;
}

/** What the gate got from a client. */
export interface Brought {
  readonly upstreams: readonly string[];
  readonly secrets: readonly string[];
}

interface Kept extends Brought {
  readonly files: readonly KeptFile[];
}

export interface Restored {
  readonly file: string;
  /**
   * `taken out`: somebody has changed it since, so that only what is ours was taken out. `changed`: that could not be done,
   * and it stays.
   */
  readonly how: 'restored' | 'taken out' | 'changed';
}

const nothing: Kept = { files: [], upstreams: [], secrets: [] };

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

  /** What the client had brought up to now. */
  brought(client: string): Brought {
    return this.#find(client);
  }

  /** Written down before it happens, so that it can be undone whatever happens. */
  bring(client: string, { upstreams, secrets }: Brought): void {
    const kept = this.#find(client);
    const add = (former: readonly string[], more: readonly string[]) => [...new Set([...former, ...more])];
    this.#write(client, {
      ...kept,
      upstreams: add(kept.upstreams, upstreams),
      secrets: add(kept.secrets, secrets),
    });
  }

  /** Keeps what is there, unless an earlier version of it is kept already, and puts the text in its place. `newMode`: of a file that is new. */
  replace(client: string, file: string, text: string, { newMode = 0o600 }: { readonly newMode?: number } = {}): void {
    const before = this.read(file);
    const target = before === undefined ? file : realpathSync(file);
    const { files, ...rest } = this.#find(client);
    const earlier = files.find((each) => each.file === file);
    const mode = before === undefined ? undefined : statSync(target).mode & 0o7777;
    const former =
      earlier?.afterSha256 === sha256(before)
        ? withoutHash(earlier)
        : {
            file,
            ...(before === undefined ? {} : { before: this.#seal(client, file, before) }),
            ...(mode === undefined ? {} : { mode }),
          };
    const kept = { ...former, afterSha256: hash('sha256', text) };
    this.#write(client, { ...rest, files: [...files.filter((each) => each.file !== file), kept] });
    mkdirSync(dirname(target), { recursive: true });
    writeFileAtomically(target, text);
    chmodSync(target, mode ?? newMode);
  }

  /**
   * Puts every file of the client back, the last one first. `takeOut` makes of a file that somebody has changed since what
   * it would be without us; undefined: it cannot. Empty: nothing was ever changed.
   */
  restore(
    client: string,
    takeOut: (file: string, present: string, before: string) => string | undefined = () => undefined,
  ): readonly Restored[] {
    const { files } = this.#find(client);
    const restored = files.toReversed().map((each) => this.#restore(client, each, takeOut));
    const stuck = files.filter(({ file }) => restored.some((each) => each.file === file && each.how === 'changed'));
    this.#write(client, { ...this.#find(client), files: stuck });
    return restored;
  }

  /** Forgets what the client had brought, and everything else about it unless a file still waits. */
  forget(client: string): void {
    const { files } = this.#find(client);
    if (files.length === 0) rmSync(this.#at(client), { force: true });
    else this.#write(client, { ...nothing, files });
  }

  #restore(
    client: string,
    { file, before: sealed, mode, afterSha256 }: KeptFile,
    takeOut: (file: string, present: string, before: string) => string | undefined,
  ): Restored {
    const before = sealed === undefined ? undefined : this.#open(client, file, sealed);
    const present = this.read(file);
    if (present === undefined ? before !== undefined : sha256(present) !== afterSha256) {
      const without = present && takeOut(file, present.toString(), before?.toString() ?? '');
      if (without === undefined) return { file, how: 'changed' };
      put(file, without, statSync(file).mode & 0o7777);
      return { file, how: 'taken out' };
    }
    if (before === undefined) rmSync(file, { force: true });
    else put(file, before, mode);
    return { file, how: 'restored' };
  }

  #seal(client: string, file: string, bytes: Buffer): string {
    return sealSecret(this.#key(), `${client}\0${file}`, bytes.toString('base64')).toString('base64');
  }

  #open(client: string, file: string, sealed: string): Buffer {
    const opened = openSecret(this.#key(), `${client}\0${file}`, Buffer.from(sealed, 'base64'));
    if (opened === undefined) throw new Error(`What was kept of ${file} cannot be opened.`);
    return Buffer.from(opened, 'base64');
  }

  #key(): Buffer {
    const file = join(this.#folder, 'key');
    try {
      return parseSecretsKey(readFileSync(file, 'utf8'));
    } catch (error) {
      if (!hasErrorCode(error, 'ENOENT')) throw error;
    }
    mkdirSync(this.#folder, { recursive: true, mode: 0o700 });
    writeFileSync(file, createSecretsKey(), { mode: 0o600, flag: 'wx' });
    return this.#key();
  }

  #find(client: string): Kept {
    try {
      return { ...nothing, ...(JSON.parse(readFileSync(this.#at(client), 'utf8')) as Kept) };
    } catch (error) {
      if (hasErrorCode(error, 'ENOENT')) return nothing;
      throw error;
    }
  }

  #write(client: string, kept: Kept): void {
    const { files, upstreams, secrets } = kept;
    if (files.length + upstreams.length + secrets.length === 0) return rmSync(this.#at(client), { force: true });
    mkdirSync(this.#folder, { recursive: true, mode: 0o700 });
    writeFileAtomically(this.#at(client), `${JSON.stringify(kept)}\n`);
  }

  #at(client: string): string {
    return join(this.#folder, `${client}.json`);
  }
}

function put(file: string, bytes: Buffer | string, mode: number | undefined): void {
  const target = realpathSync(file);
  writeFileAtomically(target, bytes);
  if (mode !== undefined) chmodSync(target, mode);
}

function withoutHash({ file, before, mode }: KeptFile): Omit<KeptFile, 'afterSha256'> {
  return { file, ...(before === undefined ? {} : { before }), ...(mode === undefined ? {} : { mode }) };
}

function sha256(bytes: Buffer | undefined): string {
  return bytes === undefined ? '' : hash('sha256', bytes);
}

function isLink(file: string): boolean {
  return attempt(() => lstatSync(file).isSymbolicLink()) ?? false;
}
