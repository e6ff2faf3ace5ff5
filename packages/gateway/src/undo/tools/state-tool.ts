import { spellCount } from '@sallyport/contract';
import type { JsonObject } from '@sallyport/contract';
import { ToolFailure, ToolRefused } from '../../call/tool.ts';
import type { ToolContext } from '../../call/tool.ts';
import { largeTransferMs } from '../../catalogue/files/define-file-tool.ts';
import { defineOperatorTool } from '../../registry/define-operator-tool.ts';
import { chooseEntries } from './choose-entries.ts';
import type { UndoParts } from './choose-entries.ts';
import { planUndo } from './plan-undo.ts';
import * as schema from '../../registry/schemas/schema.ts';

const states = {
  possible: 'can be undone',
  undone: 'as before the call: undone, or put back by something else',
  changed: 'changed again since',
  'not-kept': 'the earlier content is no longer kept',
  refused: 'the rules do not let it be changed now',
} as const;
type State = keyof typeof states;

/** Whether calls can still be undone, each by itself. */
export function stateTool(parts: UndoParts) {
  return defineOperatorTool({
    name: 'undo.state',
    description: 'Says whether calls that changed files or repositories can be undone now. Nothing changes.',
    mutates: false,
    timeoutMs: largeTransferMs,
    properties: { call_ids: { type: 'array', maxItems: 50, items: schema.id('As records of calls have them.') } },
    required: ['call_ids'],
    answers: schema.object({
      states: {
        type: 'array',
        items: schema.object({
          call_id: { type: 'string' },
          state: { enum: Object.keys(states) },
          meaning: { type: 'string' },
        }),
      },
    }),
    run: async ({ call_ids: ids }, context) => {
      const found: JsonObject[] = [];
      for (const id of ids) {
        const state = await stateOf(id, parts, context);
        found.push({ call_id: id, state, meaning: states[state] });
      }
      return { states: found };
    },
    summarize: (_args, output) => spellCount((output['states'] as unknown[]).length, 'call'),
  });
}

async function stateOf(callId: string, parts: UndoParts, context: ToolContext): Promise<State> {
  try {
    const { entries, contextFor } = await chooseEntries({ call_id: callId }, parts, context);
    const { steps, conflicts } = await planUndo(entries, context.trashFolder, contextFor);
    const [conflict] = conflicts;
    if (conflict !== undefined) return conflict.because === 'not-kept' ? 'not-kept' : 'changed';
    return steps.length === 0 ? 'undone' : 'possible';
  } catch (error) {
    if (error instanceof ToolRefused) return 'refused';
    if (error instanceof ToolFailure) return error.code === 'NOT_FOUND' ? 'not-kept' : 'changed';
    throw error;
  }
}
