import { ApprovalService, dropUndefined } from '@sallyport/contract';
import { explainTerms, mostMinutes, standingOf } from '../standing-terms.ts';
import type { StandingTerms } from '../standing-terms.ts';
import type { ApprovalTask } from '../../call/approval.ts';
import { refuse } from '../../call/refusal.ts';
import type { Session } from '../../call/session.ts';
import { ToolFailure, ToolRefused } from '../../call/tool.ts';
import { defineOperatorTool } from '../../registry/define-operator-tool.ts';
import {
  decidedBefore,
  noteProperty,
  requireOffice,
  requireSeen,
  taskProperty,
  unknownTask,
} from './approval-parts.ts';
import type { ApprovalToolParts } from './approval-parts.ts';
import { describeTask } from './describe-approval.ts';
import * as schema from '../../registry/schemas/schema.ts';

interface DenyArguments {
  readonly task_id: string;
  readonly effect_sha256?: string;
  readonly note?: string;
}

interface ApproveArguments extends DenyArguments {
  readonly effect_sha256: string;
  readonly runs: number;
  readonly standing?: { readonly for_session?: boolean; readonly minutes?: number; readonly uses?: number };
}

export const effectProperty = schema.string(
  'SHA-256 of the effect that you saw, as the tool that showed the effect returned it.',
  { pattern: '^[0-9a-f]{64}$' },
);
export function approveApproval(parts: ApprovalToolParts) {
  const { store, hideHeld } = parts;
  return defineOperatorTool({
    name: 'approvals.approve',
    description: 'Approves a call that waits for a person. It runs with exactly the effect that was shown.',
    mutates: true,
    properties: {
      task_id: taskProperty,
      effect_sha256: effectProperty,
      runs: schema.integer('How many of the requested runs to approve, as you saw them.', {
        minimum: 1,
        maximum: 20,
        default: 1,
      }),
      note: noteProperty,
      standing: {
        type: 'object',
        additionalProperties: false,
        description: 'Also approves further calls of this tool by this session. Absent: this call only.',
        properties: {
          for_session: schema.boolean(`Whatever they touch, for ${mostMinutes / 60} hours at most.`),
          minutes: schema.integer('If they touch the same things.', { minimum: 1, maximum: mostMinutes }),
          uses: schema.integer('How many of them. Absent: any number.', { minimum: 1, maximum: 1000 }),
        },
      },
    },
    required: ['task_id', 'effect_sha256'],
    answers: ApprovalService.method.decideApproval,
    serves: ({ approved }) => approved === true,
    argumentsOf: ({ id, effect_sha256, note, standing, runs }) => {
      return { task_id: id, effect_sha256, note, standing, runs };
    },
    run: async (args, { session }) => {
      const waiting = await findDecidable(parts, args.task_id, session);
      const terms = args.standing && readTerms(args.standing);
      const problem = terms && explainTerms(terms, waiting);
      if (problem !== undefined) throw new ToolFailure('INVALID_ARGUMENTS', problem);
      requireSeen(parts, session, waiting);
      const task = await decideTask(parts, args, session, args.runs);
      const approval = describeTask(task, { hideHeld });
      if (terms === undefined) return { approval, standingId: '' };
      const standing = standingOf(terms, task, { by: session.agent, atMs: Date.now() });
      await store.grantStanding(standing);
      return { approval, standingId: standing.id };
    },
    summarize: ({ task_id: id }, { standingId }) =>
      `approved ${id}${standingId === '' ? '' : ` with standing approval ${standingId}`}`,
  });
}

export function denyApproval(parts: ApprovalToolParts) {
  return defineOperatorTool({
    name: 'approvals.deny',
    description: 'Denies a call that waits for a person. A note tells the agent what to change.',
    mutates: true,
    properties: { task_id: taskProperty, effect_sha256: effectProperty, note: noteProperty },
    required: ['task_id'],
    answers: ApprovalService.method.decideApproval,
    serves: ({ approved }) => approved !== true,
    // A denial has no terms, whatever the request says of them.
    argumentsOf: ({ id, effect_sha256, note }) => ({ task_id: id, effect_sha256, note }),
    run: async (args, { session }) => {
      await findDecidable(parts, args.task_id, session);
      const task = await decideTask(parts, args, session, 0);
      return { approval: describeTask(task, { hideHeld: parts.hideHeld }), standingId: '' };
    },
    summarize: ({ task_id: id }) => `denied ${id}`,
  });
}

async function findDecidable(
  { store, mayDecide }: ApprovalToolParts,
  id: string,
  person: Session,
): Promise<ApprovalTask> {
  const task = await store.findApproval(id);
  if (task === undefined) throw unknownTask(id);
  requireOffice(mayDecide, person, task);
  return task;
}

/** The caller has checked that this person may decide. In the store the first decision wins. No runs: it is denied. */
export async function decideTask(
  { store, watch }: ApprovalToolParts,
  { task_id: taskId, effect_sha256: seen, note }: DenyArguments,
  decider: Session,
  runs: number,
): Promise<ApprovalTask> {
  const task = await store.findApproval(taskId);
  if (task === undefined) throw unknownTask(taskId);
  // A denial needs nothing to have been seen.
  const effectSha256 = seen ?? task.effectSha256;
  const decision = { taskId, approved: runs > 0, runs, by: decider.agent, atMs: Date.now(), effectSha256 };
  const ended = await store.decideApproval({
    ...decision,
    ...(decider.principal === 'agent' ? { byAgent: true } : {}),
    ...(note === undefined ? {} : { note }),
  });
  if (ended !== undefined) {
    watch.tell({ kind: 'decided', task: ended });
    return ended;
  }
  const present = (await store.findApproval(taskId)) ?? task;
  if (present.status !== 'pending' || present.effectSha256 === effectSha256) throw decidedBefore(present);
  const message = 'The effect is not the one that you saw.';
  throw new ToolRefused(refuse('APPROVAL_MISMATCH', 'effect', message, { remedy: 'Look at it again.' }));
}

function readTerms({
  for_session: forSession,
  minutes,
  uses,
}: NonNullable<ApproveArguments['standing']>): StandingTerms {
  return {
    ...dropUndefined({ forSession, minutes, uses }),
  };
}
