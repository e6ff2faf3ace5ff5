import { spellCount } from '@sallyport/contract';
import type { JsonObject } from '@sallyport/contract';
import type { AnyTool, ToolContext } from '../../call/tool.ts';
import { isSameState } from '../../catalogue/files/tree/entry-state.ts';
import { largeTransferMs } from '../../catalogue/files/define-file-tool.ts';
import { defineOperatorTool } from '../../registry/define-operator-tool.ts';
import { chooseEntries } from './choose-entries.ts';
import type { UndoParts } from './choose-entries.ts';
import { describeConflict, describePlan, spellPath, summarizePlan } from './describe-undo.ts';
import { filesUndo, listUndone } from './files-undo.ts';
import { gitUndo } from './git-undo.ts';
import { listTool } from './list-undoable.ts';
import { planUndo } from './plan-undo.ts';
import type { Conflict, ContextFor, UndoPlan } from './plan-undo.ts';
import { stateTool } from './state-tool.ts';
import { basisOf, explainConflict, undoEntries } from './undo-entries.ts';
import * as schema from '../../registry/schemas/schema.ts';

/** Tools that undo calls: any call for operators, their own for agents. */
export function undoTools(parts: UndoParts): readonly AnyTool[] {
  return [
    filesUndo(parts.journal),
    gitUndo(parts.journal),
    listTool(parts.journal),
    stateTool(parts),
    previewTool(parts),
    runTool(parts),
  ];
}

const chosen = {
  call_id: schema.id('The call to undo, with the steps it had.'),
  trace_id: schema.id('The run to undo, newest call first.'),
  session_id: schema.id('The session whose calls to undo, the newest first.'),
};

const undone = {
  undone: {
    type: 'array',
    items: schema.object({ path: { type: 'string' }, what: { enum: ['restored', 'brought back', 'removed'] } }),
  },
  unchanged: { type: 'array', items: { type: 'string' } },
};

function runTool(parts: UndoParts) {
  return defineOperatorTool({
    name: 'undo.run',
    description:
      'Undoes what a call, a run or a session changed in files and git repositories, if nothing else changed them since.',
    mutates: true,
    risk: 'high',
    idempotent: true,
    timeoutMs: largeTransferMs,
    properties: chosen,
    answers: schema.object(undone),
    preview: async (args, context) => {
      const { entries, contextFor } = await chooseEntries(args, parts, context);
      const plan = await planUndo(entries, context.trashFolder, contextFor);
      const detail = `${describePlan(plan, contextFor)}${plan.conflicts.map(tellConflict(contextFor)).join('')}`;
      return { summary: `${summarizePlan(plan)}.`, detail, undoable: true, basis: basisOf(plan) };
    },
    run: async (args, context) => {
      const { entries, contextFor } = await chooseEntries(args, parts, context);
      return listUndone(await undoEntries(entries, context, contextFor), contextFor);
    },
    summarize: (_args, output) => {
      const { undone: paths } = output as { undone: readonly unknown[] };
      return `${spellCount(paths.length, 'path')} put back`;
    },
  });
}

function previewTool(parts: UndoParts) {
  return defineOperatorTool({
    name: 'undo.preview',
    description: 'Shows what an undo would change, line by line, and what prevents it. Nothing changes.',
    mutates: false,
    timeoutMs: largeTransferMs,
    properties: chosen,
    answers: schema.object({
      ...undone,
      summary: { type: 'string' },
      difference: { type: 'string' },
      conflicts: {
        type: 'array',
        items: schema.object(
          {
            path: { type: 'string' },
            because: { type: 'string' },
            difference: { type: 'string' },
            changed_by: schema.object({
              call_id: { type: 'string' },
              tool: { type: 'string' },
              agent: { type: 'string' },
            }),
          },
          { optional: ['changed_by'] },
        ),
      },
    }),
    run: async (args, context) => {
      const { entries, contextFor } = await chooseEntries(args, parts, context);
      const plan = await planUndo(entries, context.trashFolder, contextFor);
      return {
        ...listUndone(plan, contextFor),
        summary: summarizePlan(plan),
        difference: describePlan(plan, contextFor),
        conflicts: await Promise.all(plan.conflicts.map((each) => showConflict(each, plan, parts, contextFor))),
      };
    },
    summarize: (_args, output) => spellCount((output['conflicts'] as unknown[]).length, 'conflict'),
  });
}

async function showConflict(
  conflict: Conflict,
  { conflicts }: UndoPlan,
  { journal }: UndoParts,
  contextFor: ContextFor,
): Promise<JsonObject> {
  const { path, callId } = conflict.entry;
  const context: ToolContext = contextFor(conflict.entry);
  const meant = new Set(conflicts.map(({ entry }) => entry.callId));
  const later = await journal.readJournal({ path }, 100);
  const by = later.findLast((each) => isSameState(each.after, conflict.now.state) && !meant.has(each.callId));
  const changedBy = by === undefined || by.callId === callId ? undefined : by;
  return {
    path: spellPath(path, context),
    because: explainConflict(conflict),
    difference: describeConflict(conflict, contextFor),
    ...(changedBy && {
      changed_by: { call_id: changedBy.callId, tool: changedBy.tool, agent: changedBy.agent },
    }),
  };
}

function tellConflict(contextFor: ContextFor): (conflict: Conflict) => string {
  return (conflict) =>
    `${spellPath(conflict.entry.path, contextFor(conflict.entry))} ${explainConflict(conflict)}.\n${describeConflict(conflict, contextFor)}`;
}
