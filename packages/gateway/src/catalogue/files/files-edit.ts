import { hash } from 'node:crypto';
import { makeVisibleLine, spellCount } from '@sallyport/contract';
import { ToolFailure } from '../../call/tool.ts';
import type { ToolContext } from '../../call/tool.ts';
import { hasCode } from '@sallyport/sandbox';
import { openTarget } from '../../paths/open-to-change.ts';
import type { Target } from '../../paths/open-to-change.ts';
import { parsePath } from '../../paths/parse-path.ts';
import { checkFileSize } from './file-bytes.ts';
import { countLines, cutAround } from './changed-part.ts';
import { takeBreaks } from './check-signal.ts';
import { countMatches } from './count-matches.ts';
import { defineFileTool } from './define-file-tool.ts';
import { missingFile } from './missing-file.ts';
import { describeChange } from './preview-change.ts';
import { openFormer } from './former-file.ts';
import type { FormerFile } from './former-file.ts';
import { basisOf, replaceFile } from './replace-file.ts';
import * as schema from '../../registry/schemas/schema.ts';

const maxFileBytes = 64 * 1024 * 1024;
const maxEditBytes = 10 * 1024 * 1024;
/** There is no edit of a file that does not exist. */
const missing = 'none';

const inputSchema = schema.object({
  path: schema.path('The file to change. It must exist.'),
  old_content: schema.string('The passage to replace, at most 10 MB.', { minLength: 1, maxLength: maxEditBytes }),
  new_content: schema.string('The text to put in its place, at most 10 MB.', { maxLength: maxEditBytes }),
});
type EditArguments = schema.ValueOf<typeof inputSchema>;

export const filesEdit = defineFileTool({
  name: 'files.edit',
  aliases: ['edit_file'],
  description:
    'Replace one passage of a file. old_content must occur in the file exactly once, byte for byte, line ends and indentation included; add surrounding lines until it is unique. The change is atomic, and the gate keeps the earlier content.',
  risk: 'high',
  confirmation: 'always',
  mutates: true,
  timeoutMs: 10_000,
  examples: [{ path: 'notes.md', old_content: 'Call Ada.', new_content: 'Call Ada on Monday.' }],
  undo: 'The gate keeps the content that it replaced.',
  inputSchema,
  outputSchema: schema.object({
    path: schema.string('The path as it was given.'),
    line: schema.integer('The line where the change begins.', { minimum: 1 }),
    bytes: schema.count('The size of the file afterwards.'),
    sha256: schema.string('SHA-256 of the file afterwards.', { pattern: '^[0-9a-f]{64}$' }),
  }),
  subject: (args) => args.path,
  claim: (args, session) => ({
    paths: [{ path: parsePath(args.path, session.workingDirectory).path, access: 'write' }],
  }),
  preview: async (args, context) => {
    using target = await openExisting(args, context);
    using former = openFormer(target);
    const edit = await findPassage(args, former, context);
    const start = edit.parts[0]?.length ?? 0;
    const change = cutAround(edit.before, { start, end: start + edit.oldContent.length }, edit.newContent);
    const bytes = edit.parts.reduce((sum, part) => sum + part.length, 0);
    return {
      summary: `Change ${makeVisibleLine(args.path)} (${spellCount(edit.before.length, 'byte becomes', 'bytes become')} ${bytes})`,
      detail: describeChange(args.path, change),
      undoable: true,
      basis: await basisOf(former, missing, context.signal),
    };
  },
  run: async (args, context) => {
    using target = await openExisting(args, context);
    let line = 1;
    let bytes = 0;
    const { sha256 } = await replaceFile(target, missing, context, async (former) => {
      const edit = await findPassage(args, former, context);
      line = edit.line;
      bytes = edit.parts.reduce((sum, part) => sum + part.length, 0);
      return { goes: 'instead', parts: edit.parts, madeFrom: hash('sha256', edit.before) };
    });
    return { path: args.path, line, bytes, sha256 };
  },
  summarize: (_, output) => `edited at line ${output.line}, ${spellCount(output.bytes, 'byte')} afterwards`,
});

async function openExisting(args: EditArguments, context: ToolContext): Promise<Target> {
  const named = parsePath(args.path, context.workingDirectory);
  try {
    return openTarget(named, context);
  } catch (error) {
    throw hasCode(error, 'ENOENT') ? await missingFile(named, context) : error;
  }
}

interface Edit {
  readonly before: Buffer;
  readonly oldContent: Buffer;
  readonly newContent: Buffer;
  readonly parts: readonly Buffer[];
  readonly line: number;
}

/** Works on bytes: a match of valid UTF-8 never begins inside a character, and the rest need not be text at all. */
async function findPassage(args: EditArguments, former: FormerFile | undefined, context: ToolContext): Promise<Edit> {
  if (former === undefined) throw await missingFile(parsePath(args.path, context.workingDirectory), context);
  const oldContent = Buffer.from(args.old_content);
  const newContent = Buffer.from(args.new_content);
  checkFileSize(args.path, former.size, context);
  if (former.size > maxFileBytes || Math.max(oldContent.length, newContent.length) > maxEditBytes) {
    throw new ToolFailure('TOO_LARGE', `${args.path}: edits take passages of up to 10 MB in files of up to 64 MB.`);
  }
  const before = await former.read(context.signal);
  context.countUsage({ bytesRead: before.length });
  const { count, first } = await countMatches(before, oldContent, takeBreaks(context.signal));
  if (count === 0) {
    throw new ToolFailure(
      'NO_MATCH',
      `old_content is not in ${args.path}; read the file and copy the passage exactly.`,
    );
  }
  if (count > 1) {
    const remedy = 'add lines around it until it is the only one';
    throw new ToolFailure('MULTIPLE_MATCHES', `old_content is in ${args.path} ${count} times; ${remedy}.`);
  }
  checkFileSize(args.path, before.length - oldContent.length + newContent.length, context);
  const head = before.subarray(0, first);
  const tail = before.subarray(first + oldContent.length);
  return { before, oldContent, newContent, parts: [head, newContent, tail], line: countLines(head) + 1 };
}
