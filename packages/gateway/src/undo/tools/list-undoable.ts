import { spellCount } from '@sallyport/contract';
import { isSameState } from '../../catalogue/files/tree/entry-state.ts';
import { defineOperatorTool } from '../../registry/define-operator-tool.ts';
import type { JournalEntry, JournalRepository } from '../../storage/stores.ts';
import * as schema from '../../registry/schemas/schema.ts';

/** How many of the newest entries are read, so that a call with very many changes does not hide the others for ever. */
const mostEntries = 2000;

export function listTool(journal: Pick<JournalRepository, 'readJournal'>) {
  return defineOperatorTool({
    name: 'undo.list',
    description: 'Lists calls that changed files and can be undone, the newest first.',
    mutates: false,
    properties: { limit: { type: 'integer', minimum: 1, maximum: 200, default: 20 } },
    answers: schema.object({
      calls: {
        type: 'array',
        items: schema.object({
          call_id: { type: 'string' },
          trace_id: { type: 'string' },
          session_id: { type: 'string' },
          agent: { type: 'string' },
          tool: { type: 'string' },
          at_ms: { type: 'integer' },
          paths: schema.array('At most ten of them.', { type: 'string' }),
          changes: { type: 'integer' },
        }),
      },
    }),
    run: async ({ limit }) => {
      const entries = (await journal.readJournal({}, mostEntries)).filter(hasChanged);
      const byCall = Map.groupBy(entries.toReversed(), ({ callId }) => callId);
      return { calls: [...byCall.values()].slice(0, limit).map(describeCall) };
    },
    summarize: (_args, output) => spellCount((output['calls'] as unknown[]).length, 'call'),
  });
}

/** A git operation is in the journal before anybody knows whether it changes anything. */
function hasChanged({ before, after }: JournalEntry): boolean {
  return before.kind !== 'repository' || !isSameState(before, after);
}

function describeCall(entries: readonly JournalEntry[]) {
  const [first] = entries;
  const paths = [...new Set(entries.map(({ path }) => path))];
  return {
    call_id: first?.callId ?? '',
    trace_id: first?.traceId ?? '',
    session_id: first?.sessionId ?? '',
    agent: first?.agent ?? '',
    tool: first?.tool ?? '',
    at_ms: first?.atMs ?? 0,
    paths: paths.slice(0, 10),
    changes: entries.length,
  };
}
