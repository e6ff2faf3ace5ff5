import { spellBytes, spellCount } from '@sallyport/contract';
import type { JsonObject } from '@sallyport/contract';
import { isUtf8 } from 'node:buffer';
import { ToolFailure } from '../../call/tool.ts';
import type { ToolContext } from '../../call/tool.ts';
import { hasCode } from '@sallyport/sandbox';
import { openFile } from '../../paths/open-path.ts';
import type { OpenFile } from '../../paths/open-path.ts';
import { parsePath } from '../../paths/parse-path.ts';
import { checkFileSize, maxSyncBytes, readBytes, readInPieces, readSmall } from './file-bytes.ts';
import { checkShown } from '../../call/check-shown.ts';
import { defineFileTool, largeTransferMs } from './define-file-tool.ts';
import { judgeFirst } from './tree/judge-first.ts';
import { missingFile } from './missing-file.ts';
import * as schema from '../../registry/schemas/schema.ts';

interface Output extends JsonObject {
  readonly path: string;
  readonly size: number;
  readonly bytes: number;
}

const timeoutMs = 5000;
const bytesPerMb = 1024 * 1024;

const inputSchema = schema.object(
  {
    path: schema.path('The file to read.'),
    offset: schema.integer('The byte to start at. Inside a character of text, reading starts at the next one.', {
      minimum: 0,
      maximum: Number.MAX_SAFE_INTEGER,
      default: 0,
    }),
    limit: schema.integer('The most bytes to read; 0 reads to the end. Text is never cut inside a character.', {
      minimum: 0,
      maximum: 1024 * bytesPerMb,
      default: 0,
    }),
    max_size_mb: {
      type: 'number',
      exclusiveMinimum: 0,
      maximum: 1024,
      default: 10,
      description: 'Fail instead of returning more than this many megabytes (1,048,576 bytes each).',
    },
    encoding: schema.choice('How to return the content: utf-8 for text, base64 for any bytes.', ['utf-8', 'base64'], {
      default: 'utf-8',
    }),
    store_above_bytes: schema.integer(
      'When more bytes than this are read, keep them unchanged in the content store and return their hash. Absent: never.',
      { minimum: 0, maximum: Number.MAX_SAFE_INTEGER },
    ),
  },
  { optional: ['store_above_bytes'] },
);
type ReadArguments = schema.ValueOf<typeof inputSchema>;

export const filesRead = defineFileTool({
  name: 'files.read',
  aliases: ['read_file', 'files.read_text'],
  description:
    'Read a file. Text is returned as it is; use encoding base64 for anything else. Read a large file in parts: call again with offset set to the offset plus the bytes of the last answer until truncated is false.',
  risk: 'low',
  timeoutMs,
  examples: [{ path: 'README.md' }, { path: 'logs/build.log', offset: 65536, limit: 4096 }],
  inputSchema,
  outputSchema: schema.object(
    {
      path: schema.string('The path as it was given.'),
      content: schema.string('The content, in the encoding below. Absent when it was stored.'),
      encoding: schema.choice('The encoding of the content.', ['utf-8', 'base64']),
      content_hash: schema.string(
        'BLAKE3 hash of the stored bytes, for content.get. Absent when the content is here.',
        { pattern: '^[0-9a-f]{64}$' },
      ),
      size: schema.count('The size of the whole file in bytes.'),
      offset: schema.count('The byte at which the content starts.'),
      bytes: schema.count('How many bytes of the file the content holds.'),
      truncated: schema.boolean('Whether the file goes on after the content.'),
    },
    { optional: ['content', 'encoding', 'content_hash'] },
  ),
  subject: (args) => args.path,
  claim: (args, session) => ({
    paths: [{ path: parsePath(args.path, session.workingDirectory).path, access: 'read' }],
  }),
  timeoutMsFor: (args) => (args.store_above_bytes === undefined ? timeoutMs : largeTransferMs),
  preview: async (args, context) => {
    const basis = await judgeFirst(() => {
      using file = openAllowed(args, context);
      return identifyRead(file);
    });
    return { summary: `Read ${args.path}`, detail: '', undoable: false, basis };
  },
  run: (args, context) => {
    const file = findAllowed(args, context);
    if (file instanceof Promise) return file;
    // By hand, because `using` calls into the runtime, here for every read.
    let isHandedOn = false;
    try {
      checkShown(identifyRead(file), args.path, context);
      const range = rangeOf(args, file.stats.size);
      isHandedOn = range.isStored || range.wanted + range.spare > maxSyncBytes;
      if (isHandedOn) return readLarge(file, args, range, context);
      return present(readSmall(file.fd, range.start, range.wanted + range.spare), args, range, context);
    } finally {
      if (!isHandedOn) file[Symbol.dispose]();
    }
  },
  measureResult: (output) => output.bytes,
  summarize: (_, output) => `${output.bytes} of ${spellCount(output.size, 'byte')} read`,
});

/** Which bytes of a file are asked for. */
interface Range {
  readonly size: number;
  readonly start: number;
  readonly wanted: number;
  /** How much of what follows is needed to cut between characters. */
  readonly spare: number;
  /** Whether they go to the content store. */
  readonly isStored: boolean;
}

/** Throws ToolFailure for what is more than the call takes. */
function rangeOf(args: ReadArguments, size: number): Range {
  const start = Math.min(args.offset, size);
  const wanted = args.limit === 0 ? size - start : Math.min(args.limit, size - start);
  checkSize(wanted, args);
  const spare = args.encoding === 'utf-8' ? Math.min(maxCutBytes, size - start - wanted) : 0;
  return { size, start, wanted, spare, isStored: wanted > (args.store_above_bytes ?? Infinity) };
}

async function readLarge(opened: OpenFile, args: ReadArguments, range: Range, context: ToolContext): Promise<Output> {
  using file = opened;
  const { size, start, wanted, spare } = range;
  if (!range.isStored) {
    return present(await readBytes(file.fd, start, wanted + spare, context.signal), args, range, context);
  }
  const { hash, sizeBytes } = await context.content.keep(readInPieces(file.fd, start, wanted, context));
  const truncated = start + sizeBytes < size;
  return { path: args.path, content_hash: hash, size, offset: start, bytes: sizeBytes, truncated };
}

function present(read: Buffer, args: ReadArguments, range: Range, context: ToolContext): Output {
  const { size, start, wanted, spare } = range;
  const isText = args.encoding === 'utf-8';
  const cut = isText
    ? cutToCharacters(read, { wanted, startsFile: start === 0, endsFile: spare === 0 })
    : { from: 0, to: read.length };
  const bytes = read.subarray(cut.from, cut.to);
  if (isText && !isUtf8(bytes)) {
    throw new ToolFailure('NOT_TEXT', `${args.path} is not UTF-8 text; read it with encoding base64.`);
  }
  context.countUsage({ bytesRead: read.length });
  return {
    path: args.path,
    content: isText ? bytes.toString() : bytes.toString('base64'),
    encoding: args.encoding,
    size,
    offset: start + cut.from,
    bytes: bytes.length,
    truncated: start + cut.to < size,
  };
}

/** The open file; or, later, why it could not be opened. */
function findAllowed(args: ReadArguments, context: ToolContext): OpenFile | Promise<never> {
  try {
    return openAllowed(args, context);
  } catch (error) {
    if (!hasCode(error, 'ENOENT')) throw error;
    return missingFile(parsePath(args.path, context.workingDirectory), context).then((failure) => {
      throw failure;
    });
  }
}

/** Which file, whatever is in it: a log that grows can be read with consent too. */
function identifyRead({ stats: { dev, ino } }: OpenFile): string {
  return `file ${dev}:${ino}`;
}

/** Throws ToolRefused for what the rules keep from this call, as large as the file is. */
function openAllowed(args: ReadArguments, context: ToolContext): OpenFile {
  const file = openFile(parsePath(args.path, context.workingDirectory), context);
  try {
    checkFileSize(args.path, file.stats.size, context);
    return file;
  } catch (error) {
    file[Symbol.dispose]();
    throw error;
  }
}

/** Looks at what would be read, not at what was asked for: a claim of 1 GB costs nothing on a small file. */
function checkSize(wanted: number, args: ReadArguments): void {
  if (wanted <= args.max_size_mb * bytesPerMb) return;
  throw new ToolFailure(
    'TOO_LARGE',
    `${args.path}: ${spellBytes(wanted)} are more than max_size_mb (${args.max_size_mb}) allows; read a part of it with offset and limit.`,
  );
}

/** A UTF-8 character has at most four bytes, so this many more than wanted always hold one whole character. */
const maxCutBytes = 6;

/**
 * The part of a slice of UTF-8 text that holds whole characters: an unfinished one at the start is left out, one at the
 * end too, unless nothing would remain. So reading on from the end of each part loses nothing and always comes further.
 * `bytes` may reach beyond `wanted` where the text goes on. Text that is not UTF-8 stays so.
 */
function cutToCharacters(
  bytes: Uint8Array,
  slice: { readonly wanted: number; readonly startsFile: boolean; readonly endsFile: boolean },
): { readonly from: number; readonly to: number } {
  let from = 0;
  if (!slice.startsFile) while (from < 3 && isContinuation(bytes[from])) from++;
  if (slice.endsFile || bytes.length <= slice.wanted) return { from: Math.min(from, bytes.length), to: bytes.length };
  let to = Math.max(slice.wanted, from);
  const lowest = Math.max(from, to - 3);
  while (to > lowest && isContinuation(bytes[to])) to--;
  if (to > from) return { from, to };
  to = from + 1;
  while (to < bytes.length && isContinuation(bytes[to])) to++;
  return { from, to };
}

function isContinuation(byte: number | undefined): boolean {
  return byte !== undefined && (byte & 0xc0) === 0x80;
}
