import { createHash, hash, randomUUID } from 'node:crypto';
import { constants } from 'node:fs';
import type { BigIntStats } from 'node:fs';
import { chmod, lstat, mkdir, open, readdir, rename, rm } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { checkRights, identify, UnfitFile } from './find-tool-files.ts';
import type { ToolFile } from './find-tool-files.ts';

/** A program as it is in the store: bytes that never change, under the hash of these bytes. */
export interface StoredProgram {
  /** SHA-256, hexadecimal: of the file, or of the list of files of a folder. */
  readonly sha256: string;
  /** Name of the file or folder in the store, the one it had in the tools folder. */
  readonly file: string;
  /** The part to start, as in ToolFile. */
  readonly entry: string;
  readonly parts: ToolFile['parts'];
}

const copyBytes = 1024 * 1024;

/**
 * Copies of programs by their hash, read-only, in the gate's own home where no tool reaches. What was accepted is run
 * from here, so that nobody can put something else in its place.
 *
 * Durability: none is promised. A copy that a crash left damaged is found out before it is used, and replaced at the
 * next look at the original. Concurrency: several programs may be added at once, even the same one twice.
 */
export class ToolStore {
  readonly #folder: string;
  /** Identities of copies whose bytes were seen to be right. */
  readonly #verified = new Map<string, string>();

  private constructor(folder: string) {
    this.#folder = folder;
  }

  static async open(folder: string): Promise<ToolStore> {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const store = new ToolStore(folder);
    // What a crash left half written.
    for (const name of await readdir(folder)) if (name.startsWith('.')) await store.#drop(name);
    return store;
  }

  /** The path of the file or folder of a program. */
  pathOf({ sha256, file }: Pick<StoredProgram, 'sha256' | 'file'>): string {
    return join(this.#folder, sha256, file);
  }

  /** Throws UnfitFile when the file is not what it was when it was found, or changes while it is read. */
  async take(found: ToolFile): Promise<StoredProgram> {
    const { file, entry, parts } = found;
    const stored = { sha256: await this.#hashParts(found, found.path), file, entry, parts };
    if (await this.verify(stored)) return stored;
    const draft = `.${randomUUID()}`;
    try {
      for (const part of parts)
        await this.#copyPart(join(found.path, part.path), join(this.#folder, draft, file, part.path));
      if ((await this.#hashParts(found, join(this.#folder, draft, file))) !== stored.sha256) throw new ChangingFile();
      await this.#place(draft, stored);
    } catch (error) {
      await this.#drop(draft);
      throw error;
    }
    return stored;
  }

  /**
   * Whether the copy is there with the bytes that its name promises. They are read the first time, and again when the
   * file shows any sign of a change.
   */
  async verify(stored: StoredProgram): Promise<boolean> {
    const place = this.pathOf(stored);
    try {
      const identities = await Promise.all(
        stored.parts.map(async ({ path }) => identify(await lstat(join(place, path), { bigint: true }))),
      );
      const identity = identities.join('\n');
      if (this.#verified.get(place) === identity) return true;
      if ((await this.#hashParts(stored, place)) !== stored.sha256) return false;
      this.#verified.set(place, identity);
      return true;
    } catch {
      return false;
    }
  }

  /** Removes the copies that nothing refers to. */
  async collect(kept: ReadonlySet<string>): Promise<void> {
    for (const name of await readdir(this.#folder)) {
      if (!name.startsWith('.') && !kept.has(name)) await this.#drop(name);
    }
  }

  async #hashParts({ parts }: Pick<ToolFile, 'parts'>, root: string): Promise<string> {
    const [first] = parts;
    if (parts.length === 1 && first?.path === '') return this.#readPart(root, () => Promise.resolve());
    const lines: string[] = [];
    for (const { path, isExecutable } of parts) {
      const sha256 = await this.#readPart(join(root, path), () => Promise.resolve());
      lines.push(`${isExecutable ? 'x' : '-'} ${sha256} ${JSON.stringify(path)}\n`);
    }
    return hash('sha256', lines.join(''));
  }

  async #copyPart(source: string, target: string): Promise<void> {
    await mkdir(dirname(target), { recursive: true, mode: 0o700 });
    await using copy = await open(target, 'wx', 0o600);
    await this.#readPart(source, (chunk) => copy.writeFile(chunk));
  }

  /** The hash of a file, each chunk of which is shown as it is read. What is checked is what was opened. */
  async #readPart(path: string, onChunk: (chunk: Uint8Array) => Promise<void>): Promise<string> {
    await using handle = await openWithoutLinks(path);
    const before = await statOpen(handle);
    const hasher = createHash('sha256');
    const buffer = Buffer.allocUnsafe(Math.max(1, Math.min(copyBytes, Number(before.size))));
    for (;;) {
      const { bytesRead } = await handle.read(buffer, 0, buffer.length, null);
      if (bytesRead === 0) break;
      const chunk = buffer.subarray(0, bytesRead);
      hasher.update(chunk);
      await onChunk(chunk);
    }
    if (identify(before) !== identify(await statOpen(handle))) throw new ChangingFile();
    return hasher.digest('hex');
  }

  /** Makes the draft read-only for everyone, for the program runs as another user, and gives it its name. */
  async #place(draft: string, stored: StoredProgram): Promise<void> {
    const root = join(this.#folder, draft);
    const folders = new Set<string>();
    for (const { path, isExecutable } of stored.parts) {
      const part = join(root, stored.file, path);
      await chmod(part, isExecutable ? 0o555 : 0o444);
      for (let folder = dirname(part); folder.length > root.length; folder = dirname(folder)) folders.add(folder);
    }
    for (const folder of folders) await chmod(folder, 0o755);
    const place = this.pathOf(stored);
    await mkdir(dirname(place), { recursive: true });
    await chmod(dirname(place), 0o755);
    // A folder cannot take the place of another, and a copy that is there is damaged or as good as this one.
    if (stored.entry !== '') await rm(place, { recursive: true, force: true });
    await rename(join(root, stored.file), place);
    await this.#drop(draft);
  }

  async #drop(name: string): Promise<void> {
    await rm(join(this.#folder, name), { recursive: true, force: true });
  }
}

/** The file was written to while it was read. Another look will tell more. */
export class ChangingFile extends UnfitFile {
  constructor() {
    super('it is being written');
  }
}

async function openWithoutLinks(path: string): Promise<FileHandle> {
  try {
    return await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (error) {
    const reason = error instanceof Error ? error.message : 'unknown reason';
    throw new UnfitFile(`it cannot be opened: ${reason}`);
  }
}

async function statOpen(handle: FileHandle): Promise<BigIntStats> {
  const stats = await handle.stat({ bigint: true });
  checkRights(stats);
  return stats;
}
