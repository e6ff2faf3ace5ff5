import type { BigIntStats } from 'node:fs';
import { lstat, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Json } from '@sallyport/contract';
import { isJsonObject, parseStrictJson, spellBytes } from '@sallyport/contract';
import { parseToolFileName } from '../registry/tool-name.ts';

/** A program in the tools folder: one file, or a folder with a file to start. */
export interface ToolFile {
  /** Its name in the tools folder. */
  readonly file: string;
  readonly path: string;
  /** What the name of the file says. */
  readonly named: { readonly name: string; readonly version?: string };
  /** Files in it, relative to `path`, sorted. A program of one file has one part, named ''. */
  readonly parts: readonly ToolPart[];
  /** The part to start. */
  readonly entry: string;
  /** Another one whenever anything in it was written to, replaced or given other rights. */
  readonly identity: string;
  /** When that happened last. */
  readonly changedAtMs: number;
}

export interface ToolPart {
  readonly path: string;
  readonly isExecutable: boolean;
}

/** Something in the tools folder that cannot be a tool, and why. */
export interface SkippedFile {
  readonly file: string;
  readonly reason: string;
}

export interface FoundFiles {
  readonly files: readonly ToolFile[];
  readonly skipped: readonly SkippedFile[];
}

const mostFiles = 1000;
/** A package with what it depends on has thousands. */
export const mostParts = 20_000;
const deepestFolder = 32;
export const largestPartBytes = 256 * 1024 * 1024;

/** Looks at names and rights only; nothing is opened except `tool.json` and `package.json` of folders. */
export async function findToolFiles(folder: string): Promise<FoundFiles> {
  const files: ToolFile[] = [];
  const skipped: SkippedFile[] = [];
  const names = (await readdir(folder)).filter((name) => !name.startsWith('.')).sort();
  for (const file of names.slice(0, mostFiles)) {
    try {
      const found = await lookAt(folder, file);
      if (found !== undefined) files.push(found);
    } catch (error) {
      skipped.push({ file, reason: error instanceof UnfitFile ? error.message : explain(error) });
    }
  }
  for (const file of names.slice(mostFiles)) skipped.push({ file, reason: `there are more than ${mostFiles} files` });
  return { files, skipped };
}

/** The file cannot be a tool as it is. */
export class UnfitFile extends Error {}

/** Undefined: nobody meant it to be a tool. */
async function lookAt(folder: string, file: string): Promise<ToolFile | undefined> {
  const path = join(folder, file);
  const stats = await lstat(path, { bigint: true });
  const named = parseToolFileName(file);
  const isProgram = stats.isFile() && (stats.mode & 0o111n) !== 0n;
  if (named === undefined) {
    if (!isProgram) return undefined;
    throw new UnfitFile('its name is not that of a tool; use small letters, digits, "_", "-" and dots');
  }
  if (stats.isDirectory()) return lookIntoFolder({ file, path, named }, stats);
  checkRights(stats);
  if (!isProgram) throw new UnfitFile('it is not executable; make it so with chmod +x');
  const seen = { identity: identify(stats), changedAtMs: Number(stats.ctimeMs) };
  return { file, path, named, parts: [{ path: '', isExecutable: true }], entry: '', ...seen };
}

type Folder = Pick<ToolFile, 'file' | 'path' | 'named'>;

async function lookIntoFolder(folder: Folder, stats: BigIntStats): Promise<ToolFile> {
  const parts: ToolPart[] = [];
  const identities: string[] = [identify(stats)];
  let changedAtMs = stats.ctimeMs;
  for await (const { path, stats: found } of walk(folder.path)) {
    identities.push(`${path} ${identify(found)}`);
    if (found.ctimeMs > changedAtMs) changedAtMs = found.ctimeMs;
    if (found.isDirectory()) continue;
    checkRights(found);
    parts.push({ path, isExecutable: (found.mode & 0o111n) !== 0n });
    if (parts.length > mostParts) throw new UnfitFile(`it holds more than ${mostParts} files`);
  }
  const entry = await readEntry(folder.path);
  if (!parts.some((part) => part.path === entry && part.isExecutable)) {
    throw new UnfitFile(`the file to start, ${JSON.stringify(entry)}, is not there or not executable`);
  }
  return { ...folder, parts, entry, identity: identities.join('\n'), changedAtMs: Number(changedAtMs) };
}

async function* walk(root: string, below = '', depth = 0): AsyncGenerator<{ path: string; stats: BigIntStats }> {
  if (depth > deepestFolder) throw new UnfitFile(`its folders are nested deeper than ${deepestFolder} levels`);
  for (const name of (await readdir(join(root, below))).sort()) {
    const path = below === '' ? name : `${below}/${name}`;
    const stats = await lstat(join(root, path), { bigint: true });
    yield { path, stats };
    if (stats.isDirectory()) yield* walk(root, path, depth + 1);
  }
}

/** `entry` of `tool.json`, otherwise the one `bin` of `package.json`. */
async function readEntry(folder: string): Promise<string> {
  const tool = await readJson(join(folder, 'tool.json'));
  const pack = tool === undefined ? await readJson(join(folder, 'package.json')) : undefined;
  const bin = isJsonObject(pack) ? pack['bin'] : undefined;
  const bins: readonly (Json | undefined)[] = isJsonObject(bin) ? Object.values(bin) : [bin];
  const entry = isJsonObject(tool) ? tool['entry'] : bins.length === 1 ? bins[0] : undefined;
  if (typeof entry === 'string') return entry.replace(/^\.\//, '');
  throw new UnfitFile('a folder needs a tool.json with "entry", or a package.json with one "bin"');
}

async function readJson(file: string): Promise<Json | undefined> {
  const stats = await lstat(file).catch(() => undefined);
  if (stats === undefined) return undefined;
  if (!stats.isFile() || stats.size > 1024 * 1024) throw new UnfitFile(`${file} is not a file of at most 1 MB`);
  try {
    return parseStrictJson(await readFile(file, 'utf8'));
  } catch {
    throw new UnfitFile(`${file} is not JSON`);
  }
}

/** Throws UnfitFile when somebody else could change the file or has a say in how it runs. */
export function checkRights(stats: BigIntStats): void {
  if (stats.isSymbolicLink()) throw new UnfitFile('it is a link; copy the file itself here');
  if (!stats.isFile()) throw new UnfitFile('it is not a regular file');
  if (stats.nlink !== 1n) throw new UnfitFile('it has a second name (a hard link), through which it could be changed');
  if ((stats.mode & 0o6000n) !== 0n) throw new UnfitFile('it has the setuid or setgid bit');
  if ((stats.mode & 0o002n) !== 0n) throw new UnfitFile('every user of this machine can write to it');
  const own = process.getuid?.();
  if (own !== undefined && stats.uid !== 0n && stats.uid !== BigInt(own)) {
    throw new UnfitFile('it belongs to another user');
  }
  if (stats.size > BigInt(largestPartBytes)) throw new UnfitFile(`it is larger than ${spellBytes(largestPartBytes)}`);
}

/** No two states of a file share it: the kernel sets the last part, and nobody can set it back. */
export function identify({ dev, ino, size, mode, mtimeNs, ctimeNs }: BigIntStats): string {
  return [dev, ino, size, mode, mtimeNs, ctimeNs].join(':');
}

function explain(error: unknown): string {
  return error instanceof Error ? `it cannot be read: ${error.message}` : 'it cannot be read';
}
