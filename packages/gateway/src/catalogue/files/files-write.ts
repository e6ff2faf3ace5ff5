import { makeVisibleLine, spellCount } from '@sallyport/contract';
import { dirname } from 'node:path';
import { refuse } from '../../call/refusal.ts';
import { ToolFailure, ToolRefused } from '../../call/tool.ts';
import type { Effect, ToolContext } from '../../call/tool.ts';
import { hasCode } from '@sallyport/sandbox';
import { openTarget } from '../../paths/open-to-change.ts';
import type { OnMakeFolder, Target } from '../../paths/open-to-change.ts';
import { parsePath } from '../../paths/parse-path.ts';
import { checkFileSize } from './file-bytes.ts';
import { checkShown } from '../../call/check-shown.ts';
import { checkSignal, takeBreaks } from './check-signal.ts';
import { defineFileTool, largeTransferMs } from './define-file-tool.ts';
import { identifyFolder } from './tree/identify-entries.ts';
import { findMissingFolders, journalFolders } from './tree/missing-folders.ts';
import { previewChange } from './preview-change.ts';
import { openFormer } from './former-file.ts';
import type { FormerFile } from './former-file.ts';
import { alreadyExists, basisOf, replaceFile } from './replace-file.ts';
import type { NewContent } from './replace-file.ts';
import * as schema from '../../registry/schemas/schema.ts';

const timeoutMs = 10_000;
/** Of more than this nobody can be shown all. */
const mostShownBytes = 16 * 1024 * 1024;
const maxContentBytes = 100 * 1024 * 1024;
const maxBase64Chars = Math.ceil(maxContentBytes / 3) * 4;
/** So much of a text is turned into bytes at once. Four characters of base64 are never cut. */
const pieceLength = 512 * 1024;
const partOfBase64 = /^[A-Za-z0-9+/]*$/;
const lastOfBase64 = /^[A-Za-z0-9+/]*={0,2}$/;

const inputSchema = schema.object(
  {
    path: schema.path('The file to write.'),
    content: schema.string('What to write, at most 100 MB. Either this or content_hash.', {
      maxLength: maxBase64Chars,
    }),
    content_hash: schema.string('BLAKE3 hash of stored content to write, of any size; see content.put.', {
      pattern: '^[0-9a-f]{64}$',
    }),
    encoding: schema.choice('How content is given: utf-8 for text, base64 for any bytes.', ['utf-8', 'base64'], {
      default: 'utf-8',
    }),
    create_only: schema.flag('Fail if the file exists. Not together with append.'),
    append: schema.flag('Add to the end of the file instead of replacing its content. Not together with create_only.'),
    create_parents: schema.flag('Create the missing parent folders of the path.'),
  },
  {
    optional: ['content', 'content_hash'],
    not: {
      properties: { create_only: { const: true }, append: { const: true } },
      required: ['create_only', 'append'],
    },
  },
);
type WriteArguments = schema.ValueOf<typeof inputSchema>;

export const filesWrite = defineFileTool({
  name: 'files.write',
  aliases: ['write_file', 'files.write_text'],
  description:
    'Write a file: create it, replace its content, or append to it. The change is atomic, and the gate keeps the earlier content. To change a part of a file, files.edit is safer.',
  risk: 'high',
  confirmation: 'always',
  mutates: true,
  timeoutMs,
  examples: [
    { path: 'notes.md', content: 'Call Ada.\n' },
    { path: 'notes.md', content: 'Call Bo.\n', append: true },
  ],
  undo: 'The gate keeps the content that it replaced.',
  inputSchema,
  outputSchema: schema.object({
    path: schema.string('The path as it was given.'),
    bytes: schema.count('How many bytes were written or appended.'),
    created: schema.boolean('Whether the file is new.'),
    sha256: schema.string('SHA-256 of the whole file afterwards.', { pattern: '^[0-9a-f]{64}$' }),
  }),
  subject: (args) => args.path,
  claim: (args, session) => {
    checkSource(args);
    return { paths: [{ path: parsePath(args.path, session.workingDirectory).path, access: 'write' }] };
  },
  timeoutMsFor: (args) => (args.content_hash === undefined ? timeoutMs : largeTransferMs),
  preview: async (args, context) => {
    const goes = placeOf(args);
    const found = findFormer(args, context);
    using former = found.former;
    if (goes === 'new' && former !== undefined) throw alreadyExists(args.path);
    const content = await openContent(args, context);
    checkSize(args, content, former, context);
    const basis = await basisOf(former, found.whereNew, context.signal);
    const effect =
      content.bytes > mostShownBytes
        ? previewUnshown(args, content.bytes, former)
        : await previewWrite(args.path, goes, await gatherBytes(content.parts), former, context.signal);
    return { ...effect, basis };
  },
  run: async (args, context) => {
    const content = await openContent(args, context);
    // Before folders are made for it.
    checkSize(args, content, undefined, context);
    const folders = findMissing(args, context);
    const missing = folders.length;
    // A file in a folder that does not exist is a new one. Before folders are made for it.
    if (missing > 0) checkShown(whereNew(missing), args.path, context);
    const noteMade = await journalFolders(folders, context);
    checkSignal(context.signal);
    using target = openParents(args, context, noteMade);
    const { created, sha256 } = await replaceFile(target, whereNew(missing, target), context, (former) => {
      checkSize(args, content, former, context);
      return { goes: placeOf(args), parts: content.parts };
    });
    return { path: args.path, bytes: content.bytes, created, sha256 };
  },
  summarize: (_, output) => `${spellCount(output.bytes, 'byte')} written${output.created ? ' to a new file' : ''}`,
});

function placeOf(args: WriteArguments): NewContent['goes'] {
  return args.create_only ? 'new' : args.append ? 'behind' : 'instead';
}

function checkSource({ content, content_hash: hash }: WriteArguments): void {
  if ((content === undefined) !== (hash === undefined)) return;
  const message = 'Give either content or content_hash, and not both.';
  throw new ToolRefused(refuse('INVALID_ARGUMENTS', 'input-schema', message));
}

interface Content {
  readonly bytes: number;
  readonly parts: NewContent['parts'];
}

async function openContent(args: WriteArguments, { content, signal }: ToolContext): Promise<Content> {
  if (args.content_hash !== undefined) {
    return { bytes: await content.sizeOf(args.content_hash), parts: copyStored(content.read(args.content_hash)) };
  }
  return args.encoding === 'base64' ? openBase64(args, signal) : openText(args);
}

async function* copyStored(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<Buffer> {
  for await (const { buffer, byteOffset, byteLength } of pieces) yield Buffer.from(buffer, byteOffset, byteLength);
}

function checkSize(args: WriteArguments, { bytes }: Content, former: FormerFile | undefined, context: ToolContext) {
  const before = args.append && former !== undefined ? former.size : 0;
  checkFileSize(args.path, before + bytes, context);
}

function openText({ path, content = '' }: WriteArguments): Content {
  const bytes = Buffer.byteLength(content);
  checkContentSize(path, bytes);
  return { bytes, parts: encodePieces(content, 'utf-8') };
}

/** All of it is looked at before any of it is used. */
async function openBase64({ path, content = '' }: WriteArguments, signal: AbortSignal): Promise<Content> {
  const breathe = takeBreaks(signal);
  for (let at = 0; at < content.length; at += pieceLength) {
    const isLast = at + pieceLength >= content.length;
    const isGood = (isLast ? lastOfBase64 : partOfBase64).test(content.slice(at, at + pieceLength));
    if (!isGood || content.length % 4 !== 0) {
      throw new ToolRefused(refuse('INVALID_ARGUMENTS', 'content-encoding', 'The content is not valid base64.'));
    }
    await breathe();
  }
  const padding = content.endsWith('==') ? 2 : content.endsWith('=') ? 1 : 0;
  const bytes = (content.length / 4) * 3 - padding;
  checkContentSize(path, bytes);
  return { bytes, parts: encodePieces(content, 'base64') };
}

/** A part of a long text after the other, each when the one before it is written: all at once would hold up everyone. */
function* encodePieces(content: string, encoding: 'utf-8' | 'base64'): Generator<Buffer> {
  for (let at = 0; at < content.length;) {
    const end = at + pieceLength;
    // Both halves of a surrogate pair stay together.
    const isCut = end < content.length && (content.charCodeAt(end - 1) & 0xfc00) === 0xd800;
    const piece = content.slice(at, isCut ? end - 1 : end);
    yield Buffer.from(piece, encoding);
    at += piece.length;
  }
}

function checkContentSize(path: string, bytes: number): void {
  if (bytes <= maxContentBytes) return;
  throw new ToolFailure(
    'TOO_LARGE',
    `The content for ${path} is larger than 100 MB; write it in parts with append, or store it with content.put and give its content_hash.`,
  );
}

/** All or none of them is made, so the rules are asked about each of them before. */
function findMissing(args: WriteArguments, context: ToolContext): readonly string[] {
  const { path } = parsePath(args.path, context.workingDirectory);
  return args.create_parents ? findMissingFolders({ given: args.path, path: dirname(path) }, context) : [];
}

/** What consent to a new file is bound to: the folder that it will be in, or how many must be made for it. */
function whereNew(missing: number, target?: Target): string {
  return missing > 0 || target === undefined
    ? `new, with ${missing} folders`
    : `new in ${identifyFolder(target.folder)}`;
}

function openParents(args: WriteArguments, context: ToolContext, noteMade: OnMakeFolder): Target {
  const named = parsePath(args.path, context.workingDirectory);
  try {
    return openTarget(named, context, args.create_parents ? noteMade : undefined);
  } catch (error) {
    throw hasCode(error, 'ENOENT') ? missingParents(args.path) : error;
  }
}

interface Found {
  readonly former: FormerFile | undefined;
  readonly whereNew: string;
}

/** For the preview, which makes no folders: `former` is absent when there is no file or no folder for it yet. */
function findFormer(args: WriteArguments, context: ToolContext): Found {
  const named = parsePath(args.path, context.workingDirectory);
  try {
    using target = openTarget(named, context);
    return { former: openFormer(target), whereNew: whereNew(0, target) };
  } catch (error) {
    if (!hasCode(error, 'ENOENT')) throw error;
    if (!args.create_parents) throw missingParents(args.path);
    return { former: undefined, whereNew: whereNew(findMissing(args, context).length) };
  }
}

/** Only stored content is that large. It cannot change, but nobody could look at all of it either. */
function previewUnshown(args: WriteArguments, bytes: number, former: FormerFile | undefined): Effect {
  const verb = former === undefined ? 'Create' : args.append ? 'Append to' : 'Replace';
  const before = former === undefined ? 'no file' : `${former.size} bytes`;
  const detail = `before: ${before}\n${args.append ? 'added' : 'after'}: ${bytes} bytes, stored as ${args.content_hash}\n`;
  return { summary: `${verb} ${makeVisibleLine(args.path)}`, detail, undoable: true, unshown: { bytes } };
}

/** Everything that would stand there, and what it replaces as far as that can be compared. */
async function previewWrite(
  given: string,
  goes: NewContent['goes'],
  bytes: Buffer,
  former: FormerFile | undefined,
  signal: AbortSignal,
): Promise<Effect> {
  if (former === undefined) return previewChange(given, undefined, bytes);
  if (former.size > mostShownBytes) {
    const verb = goes === 'behind' ? 'Append to' : 'Replace';
    const place =
      goes === 'behind' ? `added after the existing ${former.size} bytes` : `instead of ${former.size} bytes`;
    const { detail } = previewChange(given, undefined, bytes);
    return { summary: `${verb} ${makeVisibleLine(given)}`, detail: `${place}:\n${detail}`, undoable: true };
  }
  const before = await former.read(signal);
  return previewChange(given, before, goes === 'behind' ? Buffer.concat([before, bytes]) : bytes);
}

async function gatherBytes(parts: NewContent['parts']): Promise<Buffer> {
  const gathered: Buffer[] = [];
  for await (const part of parts) gathered.push(part);
  return gathered.length === 1 && gathered[0] !== undefined ? gathered[0] : Buffer.concat(gathered);
}

function missingParents(given: string): ToolFailure {
  return new ToolFailure(
    'NOT_FOUND',
    `The folder of ${given} does not exist; make it with files.ensure_dir or set create_parents.`,
  );
}
