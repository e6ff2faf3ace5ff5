import { spellCount } from '@sallyport/contract';
import { operationOf } from '../../call/journal.ts';
import { refuse } from '../../call/refusal.ts';
import type { Session } from '../../call/session.ts';
import { changeContext, ToolRefused } from '../../call/tool.ts';
import type { AnyTool, PathClaim, PathJudge, ToolContext } from '../../call/tool.ts';
import { defineFileTool, largeTransferMs } from '../../catalogue/files/define-file-tool.ts';
import type { JournalEntry, JournalRepository } from '../../storage/stores.ts';
import { describePlan, nameWay, spellPath, summarizePlan, waysOf } from './describe-undo.ts';
import { planUndo } from './plan-undo.ts';
import type { ContextFor, UndoPlan } from './plan-undo.ts';
import { basisOf, checkPossible, mostEntries, undoEntries } from './undo-entries.ts';
import * as schema from '../../registry/schemas/schema.ts';

interface UndoArguments {
  readonly call_id?: string;
  readonly trace_id?: string;
}

export type Journal = Pick<JournalRepository, 'readJournal'>;

const undoneSchema = schema.object({
  undone: schema.array(
    'The paths that went back to what was there before.',
    schema.object({
      path: schema.string('Relative to the working directory if it is in there.'),
      what: schema.choice('What happened to it.', ['restored', 'brought back', 'removed']),
    }),
  ),
  unchanged: schema.array('The paths that were already as before.', { type: 'string' }),
});

type FindEntries<Arguments> = (args: Arguments, session: Session) => Promise<readonly JournalEntry[]>;

/** What both tools for agents do with the entries that they find. */
export function undoFound<Arguments>(find: FindEntries<Arguments>, contextsFor: (context: ToolContext) => ContextFor) {
  return {
    risk: 'high',
    confirmation: 'always',
    mutates: true,
    // A path that is already restored stays as it is.
    idempotent: true,
    timeoutMs: largeTransferMs,
    pathArguments: [],
    outputSchema: undoneSchema,
    examples: [{ call_id: '01a1ea24-5307-7403-832d-93467446d59a' }],
    preview: async (args: Arguments, context: ToolContext) => {
      const contextFor = contextsFor(context);
      const plan = await planUndo(await find(args, context.session), context.trashFolder, contextFor);
      // Nobody is asked about an undo that would be refused.
      checkPossible(plan, context);
      const detail = describePlan(plan, contextFor);
      return { summary: summarizePlan(plan), detail, undoable: true, basis: basisOf(plan) };
    },
    run: async (args: Arguments, context: ToolContext) => {
      const entries = await find(args, context.session);
      const contextFor = contextsFor(context);
      return listUndone(await undoEntries(entries, context, contextFor), contextFor);
    },
    summarize: (_: Arguments, { undone, unchanged }: ReturnType<typeof listUndone>) =>
      `${spellCount(undone.length, 'path')} restored, ${unchanged.length} already as before`,
  } as const;
}

/** Undo for agents: changes of their own session, under the rules of writing. */
export function filesUndo(journal: Journal): AnyTool {
  const find = (args: UndoArguments, session: Session) => fileEntries(journal, args, session);
  const tool = defineFileTool({
    ...undoFound(find, ownContext),
    name: 'files.undo',
    aliases: ['undo'],
    description:
      'Undo what an earlier call of this session changed in files and folders: content, mode and times. With trace_id the calls of a whole run, the newest first. Fails without changing anything if something else has changed one of the files since. An undo can be undone like any other call.',
    inputSchema: schema.object(
      {
        call_id: schema.id('The call to undo, as call_id of its answer says.'),
        trace_id: schema.id('The run to undo: the trace id of its calls.'),
      },
      { optional: ['call_id', 'trace_id'] },
    ),
    undo: 'The gate keeps what was there before.',
    subject: () => 'A file of the undo',
    claim: (args) => {
      filterOf(args);
      return { paths: [] };
    },
  });
  return {
    ...tool,
    lookUpClaim: async (args, session) => ({ paths: claimPaths(await find(args, session)) }),
  };
}

export function claimPaths(entries: readonly JournalEntry[]): readonly PathClaim[] {
  return [...new Set(entries.map(({ path }) => path))].map((path) => ({ path, access: 'write' }));
}

/** Paths as the session that changed them names them. */
export function listUndone(plan: UndoPlan, contextFor: ContextFor) {
  const spell = (entry: JournalEntry): string => spellPath(entry.path, contextFor(entry));
  return {
    undone: waysOf(plan.steps).map((way) => ({ path: spell(way.entry), what: nameWay(way) })),
    unchanged: [...new Set(plan.unchanged.map(spell))],
  };
}

function filterOf({ call_id: callId, trace_id: traceId }: UndoArguments): { callId: string } | { traceId: string } {
  if (callId !== undefined && traceId === undefined) return { callId };
  if (traceId !== undefined && callId === undefined) return { traceId };
  throw new ToolRefused(refuse('INVALID_ARGUMENTS', 'input-schema', 'Give either call_id or trace_id, and not both.'));
}

/** What git changed is undone together with the repository, under the rules about git. */
async function fileEntries(journal: Journal, args: UndoArguments, session: Session): Promise<readonly JournalEntry[]> {
  const entries = await ownEntries(journal, args, session);
  const git = entries.findLast((entry) => operationOf(entry) !== undefined);
  if (git === undefined) return entries;
  const message = `Call ${git.callId} changed a git repository, which files.undo cannot undo.`;
  throw new ToolRefused(
    refuse('INVALID_ARGUMENTS', 'undo', message, {
      remedy: 'Undo that call with git.undo first, the newest one first.',
    }),
  );
}

/** Calls of other sessions are answered like calls that do not exist. */
export async function ownEntries(
  journal: Journal,
  args: UndoArguments,
  session: Session,
): Promise<readonly JournalEntry[]> {
  const found = await journal.readJournal(filterOf(args), mostEntries);
  const own = found.filter(({ sessionId }) => sessionId === session.id);
  if (own.length > 0) return own;
  const message = 'The journal has no change of files by such a call of this session.';
  throw new ToolRefused(
    refuse('INVALID_ARGUMENTS', 'undo', message, { remedy: 'Give the call_id of a call that changed files.' }),
  );
}

/** What the caller may write now, with this tool and with the file tools. */
export function ownContext(context: ToolContext): ContextFor {
  const paths: PathJudge = {
    judge: (path, access) => context.paths.judge(path, access) ?? context.writing.judge(path, access),
  };
  // The whole effect is compared with what was shown; then the file is replaced without a moment in which it is
  // missing.
  const own = changeContext(context, { paths, shownBasis: undefined });
  return () => own;
}
