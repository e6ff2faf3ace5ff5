import { operationOf } from '../../call/journal.ts';
import { refuse } from '../../call/refusal.ts';
import type { Session } from '../../call/session.ts';
import { changeContext, ToolRefused } from '../../call/tool.ts';
import type { AnyTool, ToolContext } from '../../call/tool.ts';
import { defineFileTool } from '../../catalogue/files/define-file-tool.ts';
import type { JournalEntry } from '../../storage/stores.ts';
import { claimPaths, ownContext, ownEntries, undoFound } from './files-undo.ts';
import type { Journal } from './files-undo.ts';
import type { ContextFor } from './plan-undo.ts';
import * as schema from '../../registry/schemas/schema.ts';

interface UndoArguments {
  readonly call_id: string;
}

/** Undo of git for agents: calls of their own session. To the rules, it is the operation that it undoes. */
export function gitUndo(journal: Journal): AnyTool {
  const find = (args: UndoArguments, session: Session) => gitEntries(journal, args, session);
  const tool = defineFileTool({
    ...undoFound(find, contextsFor),
    name: 'git.undo',
    aliases: ['git_undo'],
    description:
      'Undo what an earlier git call of this session changed: HEAD, branches, tags, stashes, what is staged, and the files that git changed. Fails without changing anything if something else has changed one of them since. What was pushed stays at the remote. An undo can be undone like any other call.',
    inputSchema: schema.object({ call_id: schema.id('The git call to undo, as call_id of its answer says.') }),
    undo: 'The gate keeps what the repository and the files were before.',
    subject: ({ call_id: id }) => `A file of call ${id}`,
    claim: () => ({ paths: [] }),
  });
  return {
    ...tool,
    definition: { ...tool.definition, tags: ['git', 'write'], requiresSandbox: true },
    lookUpClaim: async (args, session) => {
      const entries = await find(args as unknown as UndoArguments, session);
      const gitOperation = entries.map(operationOf).find((each) => each !== undefined) ?? '';
      return { paths: claimPaths(entries), gitOperation };
    },
  };
}

/** The changes of one git operation, so that the rules can be asked about that operation. */
async function gitEntries(
  journal: Journal,
  { call_id: id }: UndoArguments,
  session: Session,
): Promise<readonly JournalEntry[]> {
  const entries = await ownEntries(journal, { call_id: id }, session);
  const operations = new Set(entries.flatMap((entry) => operationOf(entry) ?? []));
  if (operations.size === 1) return entries;
  const message =
    operations.size === 0 ? 'The call did not change a git repository.' : 'The call had several steps with git.';
  const remedy = operations.size === 0 ? 'Use files.undo.' : 'Undo its steps one by one, the last one first.';
  throw new ToolRefused(refuse('INVALID_ARGUMENTS', 'undo', message, { remedy }));
}

/** The repository belongs to git alone: there the rules about git decide, and not those about writing files. */
function contextsFor(context: ToolContext): ContextFor {
  const forFiles = ownContext(context);
  const forRepositories = changeContext(context, { shownBasis: undefined });
  return (entry) => (operationOf(entry) === undefined ? forFiles(entry) : forRepositories);
}
