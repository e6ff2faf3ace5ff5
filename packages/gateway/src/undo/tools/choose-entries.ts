import { operationOf } from '../../call/journal.ts';
import { refuse } from '../../call/refusal.ts';
import type { Session } from '../../call/session.ts';
import { changeContext, ToolFailure, ToolRefused } from '../../call/tool.ts';
import type { PathJudge, ToolContext } from '../../call/tool.ts';
import type { JournalEntry, JournalFilter, JournalRepository, SessionRepository } from '../../storage/stores.ts';
import type { ContextFor } from './plan-undo.ts';
import { mostEntries } from './undo-entries.ts';

export interface UndoParts {
  readonly journal: Pick<JournalRepository, 'readJournal'>;
  readonly sessions: Pick<SessionRepository, 'readSession'>;
  /**
   * What an operator may write where a session works, with the file tools or with an operation of git. Undefined: the
   * workspace is no longer accepted.
   */
  readonly writingIn: (
    session: Pick<Session, 'workspace'>,
    operator: string,
    gitOperation?: string,
  ) => PathJudge | undefined;
  readonly isRunning: (callId: string) => boolean;
}

/** What to undo: exactly one of them. */
export interface Chosen {
  readonly call_id?: string;
  readonly trace_id?: string;
  readonly session_id?: string;
}

/**
 * Entries that an operator wants to undo, and the files of each as its own session names them. Throws when there are
 * none.
 */
export async function chooseEntries(
  chosen: Chosen,
  { journal, sessions, writingIn, isRunning }: UndoParts,
  context: ToolContext,
): Promise<{ readonly entries: readonly JournalEntry[]; readonly contextFor: ContextFor }> {
  const entries = await journal.readJournal(filterOf(chosen), mostEntries);
  if (entries.length === 0) {
    throw new ToolFailure('NOT_FOUND', 'The journal has no change of files for it.', {
      forOperators: '`sallyport undo` lists the calls that can be undone.',
    });
  }
  if (entries.length === mostEntries)
    throw new ToolFailure('TOO_LARGE', 'It changed too many files; undo it call by call.');
  const running = entries.find(({ callId }) => isRunning(callId));
  if (running !== undefined) throw new ToolFailure('FILE_CHANGED', `Call ${running.callId} is still running.`);
  const contexts = new Map<string, ToolContext>();
  for (const entry of entries) {
    if (contexts.has(keyOf(entry))) continue;
    const session = (await sessions.readSession(entry.sessionId)) ?? context.session;
    const paths = writingIn(session, context.session.agent, operationOf(entry));
    if (paths === undefined) throw new ToolRefused(outsideRoots());
    // The whole effect is compared with what was shown; then each file is replaced without a moment in which it is
    // missing.
    const { workingDirectory } = session;
    contexts.set(keyOf(entry), changeContext(context, { paths, workingDirectory, shownBasis: undefined }));
  }
  return { entries, contextFor: (entry) => contexts.get(keyOf(entry)) ?? context };
}

function keyOf(entry: JournalEntry): string {
  return `${entry.sessionId} ${operationOf(entry) ?? ''}`;
}

function filterOf({ call_id: callId, trace_id: traceId, session_id: sessionId }: Chosen): JournalFilter {
  const filters = [
    ...(callId === undefined ? [] : [{ callId }]),
    ...(traceId === undefined ? [] : [{ traceId }]),
    ...(sessionId === undefined ? [] : [{ sessionId }]),
  ];
  const [filter] = filters;
  if (filter !== undefined && filters.length === 1) return filter;
  const message = 'Give exactly one of call_id, trace_id and session_id.';
  throw new ToolRefused(refuse('INVALID_ARGUMENTS', 'input-schema', message));
}

function outsideRoots() {
  return refuse('RULE_DENIES', 'workspace', 'The session worked in a folder that is no longer accepted.', {
    forOperators: '`sallyport workspace add` accepts it again.',
  });
}
