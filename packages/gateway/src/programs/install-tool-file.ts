import { spellBytes, wholeText } from '@sallyport/contract';
import { randomUUID } from 'node:crypto';
import { constants } from 'node:fs';
import { lstat, mkdir, open, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { ToolFailure } from '../call/tool.ts';
import { largestPartBytes } from './find-tool-files.ts';
import { unpackBundle } from './tool-bundle.ts';
import { parseToolFileName } from '../registry/tool-name.ts';

/** How the bytes of a tool stand for it: as they are, or as a bundle of the files of a folder. */
export const toolFileKinds = ['file', 'folder'] as const;
export type ToolFileKind = (typeof toolFileKinds)[number];

export interface ToolFileBytes {
  /** Its name in the tools folder. */
  readonly file: string;
  readonly kind: ToolFileKind;
  readonly bytes: AsyncIterable<Uint8Array>;
}

/** Puts a program into the tools folder, whole or not at all, in place of one of the same name. Throws ToolFailure. */
export async function installToolFile(folder: string, { file, kind, bytes }: ToolFileBytes): Promise<void> {
  checkFileName(file);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  // Names with a dot in front are no tools, so that nobody looks at it before it is whole.
  const draft = join(folder, `.${randomUUID()}`);
  const former = `${draft}.former`;
  try {
    if (kind === 'file') await writeProgram(draft, bytes);
    else await writeFolder(draft, bytes);
    const place = join(folder, file);
    // Only a file can take the place of a file in one step.
    const isFile = (await lstat(place).catch(() => undefined))?.isFile() ?? true;
    if (kind === 'folder' || !isFile) await moveAside(place, former);
    await rename(draft, place);
    await using handle = await open(folder, constants.O_RDONLY | constants.O_DIRECTORY);
    await handle.sync();
  } finally {
    for (const path of [draft, former]) await rm(path, { recursive: true, force: true });
  }
}

/** Removes a file or folder from the tools folder. Nothing happens when it is gone already. */
export async function removeToolFile(folder: string, file: string): Promise<void> {
  checkFileName(file);
  await rm(join(folder, file), { recursive: true, force: true });
}

async function writeProgram(path: string, bytes: AsyncIterable<Uint8Array>): Promise<void> {
  await using handle = await open(path, 'wx', 0o700);
  let length = 0;
  for await (const chunk of bytes) {
    length += chunk.length;
    if (length > largestPartBytes) {
      throw new ToolFailure('TOO_LARGE', `A tool is at most ${spellBytes(largestPartBytes)} large.`);
    }
    await handle.writeFile(chunk);
  }
  await handle.chmod(0o755);
  await handle.sync();
}

async function writeFolder(path: string, bytes: AsyncIterable<Uint8Array>): Promise<void> {
  await mkdir(path, { mode: 0o700 });
  await unpackBundle(path, bytes);
}

async function moveAside(place: string, former: string): Promise<void> {
  try {
    await rename(place, former);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
}

function checkFileName(file: string): void {
  if (parseToolFileName(file) !== undefined) return;
  throw new ToolFailure(
    'EXECUTION_ERROR',
    `${JSON.stringify(wholeText(file))} cannot be the name of a tool's file. Use a name such as text.count.py or text.count@1.2.0.`,
    { category: 'validation_failed' },
  );
}
