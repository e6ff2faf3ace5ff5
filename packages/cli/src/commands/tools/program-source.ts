import { constants } from 'node:fs';
import { lstat, open, readdir, readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { packBundle, mostParts, parseToolFileName } from '@sallyport/gateway';
import type { BundlePart, ToolFileKind } from '@sallyport/gateway';
import { describeError, hasErrorCode, usageFailure } from '../../client/failure.ts';

/** A program of this machine that is to become a tool. */
export interface ProgramSource {
  /** The name it gets in the tools folder. */
  readonly fileName: string;
  readonly kind: ToolFileKind;
  /** Its bytes, or the bundle of its files. */
  readonly read: () => AsyncIterable<Uint8Array>;
  /** What the person should know about it. */
  readonly notes: readonly string[];
}

/** Names of folders that no program needs at run time. */
const leftOut = new Set(['.git', '.bin']);
const readBytes = 256 * 1024;

/** A file or a folder. Links are not followed: only files in the folder itself are installed. */
export async function openProgramSource(path: string, { name }: { readonly name?: string }): Promise<ProgramSource> {
  const found = await lstat(path).catch((error: unknown) => {
    throw usageFailure(hasErrorCode(error, 'ENOENT') ? `There is no ${path}.` : describeError(error));
  });
  if (found.isSymbolicLink()) throw usageFailure(`${path} is a link.`, 'Name the file or folder itself.');
  const fileName = chooseFileName(basename(path), name);
  if (found.isFile()) return { fileName, kind: 'file', read: () => readFileParts(path), notes: [] };
  if (!found.isDirectory()) throw usageFailure(`${path} is neither a file nor a folder.`);
  return openFolderSource(path, fileName);
}

interface FolderOptions {
  /** Files that are not on disk, by path. Absent: none. */
  readonly written?: ReadonlyMap<string, Uint8Array>;
  /** The file to start, executable whatever its rights are here. Absent: its rights tell. */
  readonly entry?: string;
}

export async function openFolderSource(
  folder: string,
  fileName: string,
  { written = new Map<string, Uint8Array>(), entry }: FolderOptions = {},
): Promise<ProgramSource> {
  const parts: BundlePart[] = [...written].map(([path, bytes]) => ({
    path,
    sizeBytes: bytes.length,
    isExecutable: false,
  }));
  for (const part of await listParts(folder)) {
    if (!written.has(part.path)) parts.push(part.path === entry ? { ...part, isExecutable: true } : part);
  }
  const readPart = (path: string): AsyncIterable<Uint8Array> => {
    const bytes = written.get(path);
    return bytes === undefined ? readFileParts(join(folder, path)) : toChunks(bytes);
  };
  return {
    fileName,
    kind: 'folder',
    read: () => packBundle(parts, readPart),
    notes: (await lacksDependencies(folder, parts))
      ? ['Its package.json names dependencies that are not in the folder. `npm install --ignore-scripts` fetches them.']
      : [],
  };
}

/** The files of a folder, without what no program needs at run time. Throws when one of them is no plain file. */
export async function listParts(folder: string): Promise<readonly BundlePart[]> {
  const parts: BundlePart[] = [];
  for await (const part of walk(folder)) {
    parts.push(part);
    // One more may come from elsewhere.
    if (parts.length >= mostParts) throw usageFailure(`${folder} holds more than ${mostParts - 1} files.`);
  }
  return parts;
}

/** A name as it is, or with the ending of the file that tells its language. */
export function chooseFileName(given: string, name: string | undefined): string {
  const ending = /\.(?:ts|js|mjs|py|sh)$/.exec(given)?.[0] ?? '';
  const chosen = name === undefined ? given : parseToolFileName(name) && name.endsWith(ending) ? name : name + ending;
  if (parseToolFileName(chosen) !== undefined) return chosen;
  throw usageFailure(
    `A tool cannot be in a file named ${JSON.stringify(chosen.slice(0, 100))}.`,
    'Choose a name with --name: small letters, digits, "_" and "-", with dots between parts, such as text.count.',
  );
}

async function* walk(folder: string, below = ''): AsyncGenerator<BundlePart> {
  for (const entry of (await readdir(join(folder, below), { withFileTypes: true })).sort(byName)) {
    const path = below === '' ? entry.name : `${below}/${entry.name}`;
    if (entry.isDirectory()) {
      if (!leftOut.has(entry.name)) yield* walk(folder, path);
    } else if (entry.isFile()) {
      const { size, mode } = await lstat(join(folder, path));
      yield { path, sizeBytes: size, isExecutable: (mode & 0o111) !== 0 };
    } else {
      throw usageFailure(`${path} in ${folder} is a link or a special file.`, 'A tool consists of plain files.');
    }
  }
}

function byName(a: { readonly name: string }, b: { readonly name: string }): number {
  return a.name < b.name ? -1 : 1;
}

async function* readFileParts(path: string): AsyncGenerator<Uint8Array> {
  await using handle = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW).catch((error: unknown) => {
    throw usageFailure(`${path} cannot be read: ${describeError(error)}`);
  });
  yield* handle.createReadStream({ autoClose: false, highWaterMark: readBytes });
}

async function* toChunks(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}

async function lacksDependencies(folder: string, parts: readonly BundlePart[]): Promise<boolean> {
  if (parts.some(({ path }) => path.startsWith('node_modules/'))) return false;
  try {
    const { dependencies } = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8')) as {
      dependencies?: object;
    };
    return Object.keys(dependencies ?? {}).some((name) => name !== '@sallyport/sdk');
  } catch {
    return false;
  }
}
