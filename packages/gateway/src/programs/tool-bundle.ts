import { mkdir, open } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Json } from '@sallyport/contract';
import { isJsonObject, parseStrictJson, spellBytes } from '@sallyport/contract';
import { ToolFailure } from '../call/tool.ts';
import { largestPartBytes, mostParts } from './find-tool-files.ts';

/** One file of a tool that is a folder. */
export interface BundlePart {
  /** Relative, with `/` between the names. */
  readonly path: string;
  readonly sizeBytes: number;
  readonly isExecutable: boolean;
}

const longestHeader = 4 * 1024 * 1024;
const longestPath = 1000;
const longestName = 255;
const newline = 0x0a;

/** A folder as one stream of bytes: a line of JSON that lists its files, then the files one after the other. */
export async function* packBundle(
  parts: readonly BundlePart[],
  readPart: (path: string) => AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  const listed = parts.map(({ path, sizeBytes, isExecutable }) => ({
    path,
    size: sizeBytes,
    executable: isExecutable,
  }));
  yield Buffer.from(`${JSON.stringify({ parts: listed })}\n`);
  for (const { path, sizeBytes } of parts) {
    let left = sizeBytes;
    for await (const chunk of readPart(path)) {
      left -= chunk.length;
      yield chunk;
    }
    if (left !== 0) throw new Error(`${path} changed while it was read`);
  }
}

/**
 * Writes the files of a bundle into a folder that nobody else writes to. Names that would lead out of it are refused,
 * and so is a bundle that does not hold what it lists. Throws ToolFailure; what was written until then is the caller's
 * to remove.
 */
export async function unpackBundle(folder: string, bytes: AsyncIterable<Uint8Array>): Promise<void> {
  const source = new ByteSource(bytes);
  try {
    for (const part of parseHeader(await source.takeLine(longestHeader))) {
      const path = join(folder, part.path);
      await mkdir(dirname(path), { recursive: true, mode: 0o700 });
      await using file = await open(path, 'wx', 0o600);
      await source.take(part.sizeBytes, (chunk) => file.writeFile(chunk));
      await file.chmod(part.isExecutable ? 0o755 : 0o644);
    }
    if (!(await source.isAtEnd())) throw unfit('it holds more than it lists');
  } catch (error) {
    // Two files of which one would be a folder.
    const isClash = ['EEXIST', 'ENOTDIR', 'EISDIR'].includes((error as NodeJS.ErrnoException).code ?? '');
    throw isClash ? unfit('two of its files have the same name') : error;
  } finally {
    await source.close();
  }
}

function parseHeader(line: Uint8Array): readonly BundlePart[] {
  let header: Json;
  try {
    header = parseStrictJson(new TextDecoder('utf-8', { fatal: true }).decode(line));
  } catch {
    throw unfit('it does not begin with a list of its files');
  }
  const listed = isJsonObject(header) ? header['parts'] : undefined;
  if (!Array.isArray(listed) || listed.length === 0) throw unfit('it does not begin with a list of its files');
  if (listed.length > mostParts) throw unfit(`it holds more than ${mostParts} files`);
  const parts = listed.map(parsePart);
  const totalBytes = parts.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
  if (totalBytes > largestPartBytes) {
    throw new ToolFailure('TOO_LARGE', `A tool is at most ${spellBytes(largestPartBytes)} large.`);
  }
  return parts;
}

function parsePart(value: Json): BundlePart {
  const { path, size, executable } = isJsonObject(value) ? value : {};
  const isPlain =
    typeof path === 'string' && path.length <= longestPath && path.isWellFormed() && path.split('/').every(isPlainName);
  if (!isPlain) throw unfit('one of its files has a name that leads elsewhere');
  if (!Number.isSafeInteger(size) || (size as number) < 0 || typeof executable !== 'boolean') {
    throw unfit('it does not say how large its files are');
  }
  return { path, sizeBytes: size as number, isExecutable: executable };
}

function isPlainName(name: string): boolean {
  return !['', '.', '..'].includes(name) && !/[\0\\]/.test(name) && Buffer.byteLength(name) <= longestName;
}

/** Bytes that arrive in pieces, taken in other pieces. */
class ByteSource {
  readonly #chunks: AsyncIterator<Uint8Array>;
  #rest: Uint8Array = new Uint8Array();

  constructor(bytes: AsyncIterable<Uint8Array>) {
    this.#chunks = bytes[Symbol.asyncIterator]();
  }

  async takeLine(mostBytes: number): Promise<Uint8Array> {
    const taken: Uint8Array[] = [];
    for (let length = 0; length <= mostBytes && !(await this.isAtEnd());) {
      const end = this.#rest.indexOf(newline);
      // A copy: the source may use the same memory for its next piece.
      taken.push(Uint8Array.from(this.#cut(end < 0 ? this.#rest.length : end)));
      length += taken.at(-1)?.length ?? 0;
      if (end < 0) continue;
      this.#cut(1);
      return Buffer.concat(taken);
    }
    throw unfit('it does not begin with a list of its files');
  }

  async take(sizeBytes: number, write: (chunk: Uint8Array) => Promise<void>): Promise<void> {
    for (let left = sizeBytes; left > 0;) {
      if (await this.isAtEnd()) throw unfit('it holds less than it lists');
      const chunk = this.#cut(left);
      left -= chunk.length;
      await write(chunk);
    }
  }

  async isAtEnd(): Promise<boolean> {
    while (this.#rest.length === 0) {
      const next = await this.#chunks.next();
      if (next.done === true) return true;
      this.#rest = next.value;
    }
    return false;
  }

  async close(): Promise<void> {
    await this.#chunks.return?.();
  }

  #cut(mostBytes: number): Uint8Array {
    const piece = this.#rest.subarray(0, mostBytes);
    this.#rest = this.#rest.subarray(piece.length);
    return piece;
  }
}

function unfit(why: string): ToolFailure {
  const message = `The bundle of the tool cannot be used: ${why}.`;
  return new ToolFailure('EXECUTION_ERROR', message, { category: 'validation_failed' });
}
