import { makeVisibleLine } from '@sallyport/contract';
import type { Code } from '@sallyport/contract';
import { refuse } from '../../call/refusal.ts';
import { ToolFailure, ToolRefused } from '../../call/tool.ts';
import type { ToolContext } from '../../call/tool.ts';
import { parsePath } from '../../paths/parse-path.ts';
import { checkShown } from '../../call/check-shown.ts';
import { checkSignal } from './check-signal.ts';
import { defineFileTool } from './define-file-tool.ts';
import { failureFrom } from './failure-from.ts';
import { syncFolder } from './file-bytes.ts';
import { PreparedMove } from './move-file.ts';
import { compileName, MovePlan } from './move-plan.ts';
import * as schema from '../../registry/schemas/schema.ts';

/** They are open until they are moved, and are written into the journal together. */
const filesAtOnce = 32;

interface FailedMove {
  readonly [key: string]: string;
  readonly name: string;
  readonly code: Code;
  readonly message: string;
}

const inputSchema = schema.object({
  from: schema.path('The folder to move files out of.'),
  patterns: schema.array(
    'Globs for the names of files, such as *.txt or report-{a,b}.*; a file is moved if one of them matches. A name that starts with a dot is matched only by a pattern that starts with a dot.',
    { type: 'string', minLength: 1, maxLength: 255, pattern: '^[^/]+$' },
    { minItems: 1, maxItems: 50 },
  ),
  to: schema.path('The folder to move them into.'),
  overwrite: schema.flag('Whether to replace files of the same name in the target folder.'),
});
type MoveGlobArguments = schema.ValueOf<typeof inputSchema>;

export const filesMoveGlob = defineFileTool({
  name: 'files.move_glob',
  aliases: ['move_glob', 'move_files'],
  description:
    'Move the files of a folder whose names match a pattern into another folder, which must exist. Folders and links stay. Each file is moved or not moved by itself: read moved and failed.',
  risk: 'medium',
  confirmation: 'if_destructive',
  mutates: true,
  timeoutMs: 10_000,
  examples: [{ from: 'inbox', patterns: ['*.pdf'], to: 'archive' }],
  undo: 'The gate remembers where each file was, and keeps files that were replaced.',
  inputSchema,
  pathArguments: ['from', 'to'],
  outputSchema: schema.object({
    from: schema.string('The folder as it was given.'),
    to: schema.string('The folder as it was given.'),
    moved: schema.array('The names of the files that were moved.', { type: 'string' }),
    failed: schema.array(
      'The files that match and were not moved.',
      schema.object({
        name: schema.string('The name of the file.'),
        code: schema.string('The code of the failure, such as ALREADY_EXISTS.'),
        message: schema.string('What went wrong.'),
      }),
    ),
    omitted: schema.count('How many matching files the rules keep back.'),
  }),
  subject: (args) => `${args.from} or ${args.to}`,
  claim: (args, session) => {
    const from = parsePath(args.from, session.workingDirectory).path;
    const to = parsePath(args.to, session.workingDirectory).path;
    if (from === to) {
      throw new ToolRefused(refuse('INVALID_ARGUMENTS', 'same-folder', 'from and to are the same folder.'));
    }
    args.patterns.forEach((pattern) => compileName(pattern));
    return {
      paths: [
        { path: from, access: 'write' },
        { path: to, access: 'write' },
      ],
    };
  },
  preview: async (args, context) => {
    using plan = openPlan(args, context);
    const { names, omitted } = await plan.findFiles(args.patterns);
    const lines = names.map((name) =>
      makeVisibleLine(
        `${quoteName(plan.source(name).named.given)} -> ${quoteName(plan.destination(name).named.given)}`,
      ),
    );
    const notes = names.map((name) =>
      !plan.isTaken(name) ? '' : args.overwrite ? ' (replaces it)' : ' (stays: name taken)',
    );
    const omission = omitted > 0 ? ` (${omitted} more are kept back by rules)` : '';
    return {
      summary: makeVisibleLine(
        `Move ${names.length === 1 ? '1 file' : `${names.length} files`} from ${args.from} to ${args.to}${omission}`,
      ),
      detail: lines.map((line, index) => `${line}${notes[index]}\n`).join(''),
      undoable: true,
      basis: plan.identify(names).basis,
    };
  },
  run: async (args, context) => {
    using plan = openPlan(args, context);
    const { names, omitted } = await plan.findFiles(args.patterns);
    const { files, basis } = plan.identify(names);
    checkShown(basis, args.from, context);
    const moved: string[] = [];
    const failed: FailedMove[] = [];
    const attempt = async (name: string, work: () => Promise<void>): Promise<void> => {
      try {
        await work();
      } catch (error) {
        checkSignal(context.signal);
        failed.push(explain(name, error));
      }
    };
    for (let at = 0; at < files.length; at += filesAtOnce) {
      using prepared = new DisposableStack();
      const moves: { readonly name: string; readonly move: PreparedMove }[] = [];
      for (const { name, ...identified } of files.slice(at, at + filesAtOnce)) {
        const how = { overwrite: args.overwrite, ...identified };
        await attempt(name, async () => {
          const move = await PreparedMove.of(plan.source(name), plan.destination(name), how, context);
          moves.push({ name, move: prepared.use(move) });
        });
      }
      if (moves.length > 0) await context.journal(...moves.flatMap(({ move }) => move.changes));
      for (const { name, move } of moves) {
        await attempt(name, async () => {
          await move.carryOut(context);
          moved.push(name);
        });
      }
    }
    if (moved.length > 0) {
      await syncFolder(plan.to);
      await syncFolder(plan.from);
    }
    return { from: args.from, to: args.to, moved, failed, omitted };
  },
  summarize: (_, output) => `${output.moved.length} moved, ${output.failed.length} failed, ${output.omitted} omitted`,
});

function openPlan(args: MoveGlobArguments, context: ToolContext): MovePlan {
  const from = parsePath(args.from, context.workingDirectory);
  const to = parsePath(args.to, context.workingDirectory);
  return new MovePlan(from, to, context);
}

/** One file's failure does not end the call; a fault of ours does. */
function explain(name: string, error: unknown): FailedMove {
  const failure = failureFrom(error, name);
  if (failure instanceof ToolFailure) return { name, code: failure.code, message: failure.message };
  if (failure instanceof ToolRefused) return { name, code: failure.refusal.code, message: failure.refusal.message };
  throw failure;
}

/** A name that could pass for another part of its line, such as the note behind it, is quoted. */
function quoteName(given: string): string {
  return / -> | \(|^"/.test(given) ? JSON.stringify(given) : given;
}
