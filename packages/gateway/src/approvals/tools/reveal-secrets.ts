import { RevealedSecretsSchema } from '@sallyport/contract';
import type { InJson, RevealedSecret } from '@sallyport/contract';
import { showEffect } from '../show-effect.ts';
import { stepSubject } from '../unmasked-secrets.ts';
import type { MaskedSecret } from '../../call/approval.ts';
import type { Session } from '../../call/session.ts';
import { ToolFailure } from '../../call/tool.ts';
import type { Effect } from '../../call/tool.ts';
import { defineOperatorTool } from '../../registry/define-operator-tool.ts';
import { planProperty, requireOffice, taskProperty, unknownPlan, unknownTask } from './approval-parts.ts';
import type { ApprovalToolParts } from './approval-parts.ts';
import * as schema from '../../registry/schemas/schema.ts';

export interface RevealArguments {
  readonly number?: number;
  readonly reason: string;
}

/** What is masked in one view, and what is kept of it. */
export interface View {
  readonly subject: string;
  readonly status: string;
  readonly masked: readonly MaskedSecret[];
  /** Which of them this person or agent may be shown. Absent: all. */
  readonly mayShow?: (secret: MaskedSecret) => boolean;
}

interface Revealed extends MaskedSecret {
  readonly value: string;
}

export const revealProperties = {
  number: schema.integer('As in its mark. Absent: all of them.', { minimum: 1, maximum: 9_999_999 }),
  reason: schema.string('Why you need to see it. It is recorded in the log.', { minLength: 3, maxLength: 500 }),
};

/** Shows the person who decides about a call what is masked in its effect. The log records who looked, at what and why. */
export function revealOfApproval(parts: ApprovalToolParts) {
  const look = async (id: string, person: Session): Promise<View> => {
    const task = await parts.store.findApproval(id);
    if (task === undefined) throw unknownTask(id);
    requireOffice(parts.mayDecide, person, task);
    return { subject: id, status: task.status, masked: task.masked ?? [] };
  };
  return defineOperatorTool({
    name: 'approvals.reveal',
    description:
      'Shows a secret that is masked in the effect of a call that waits, to the person who decides about it.',
    ...revealing,
    properties: { task_id: taskProperty, ...revealProperties },
    required: ['task_id', 'reason'],
    answers: RevealedSecretsSchema,
    preview: async ({ task_id: id, ...args }, { session }) => previewOf(await look(id, session), args),
    run: async ({ task_id: id, ...args }, { session }) => {
      return { revealed: reveal(parts, await look(id, session), args, session) };
    },
    summarize: ({ task_id: id }, { revealed }) => `revealed ${nameAll(revealed)} of approval ${id}`,
  });
}

/** The same for a step of a plan. */
export function revealOfPlan(parts: ApprovalToolParts) {
  const look = async (id: string, step: number, person: Session): Promise<View> => {
    const plan = await parts.store.findPlan(id);
    if (plan === undefined) throw unknownPlan(id);
    requireOffice(parts.mayDecide, person, plan);
    return { subject: stepSubject(id, step), status: plan.status, masked: plan.steps[step]?.masked ?? [] };
  };
  return defineOperatorTool({
    name: 'plans.reveal',
    description: 'Shows a secret that is masked in a step of a plan, to the person who decides about it.',
    ...revealing,
    properties: {
      plan_id: planProperty,
      step: schema.integer('Counted from 0.', { minimum: 0, maximum: 999 }),
      ...revealProperties,
    },
    required: ['plan_id', 'step', 'reason'],
    answers: RevealedSecretsSchema,
    preview: async ({ plan_id: id, step, ...args }, { session }) => previewOf(await look(id, step, session), args),
    run: async ({ plan_id: id, step, ...args }, { session }) => {
      return { revealed: reveal(parts, await look(id, step, session), args, session) };
    },
    summarize: ({ plan_id: id, step }, { revealed }) => `revealed ${nameAll(revealed)} of step ${step} of plan ${id}`,
  });
}

/** What was seen cannot be unseen, so no rule lifts the question. */
const revealing = { mutates: false, risk: 'critical', confirmation: 'always' } as const;

function previewOf(view: View, args: RevealArguments): Partial<Effect> {
  const wanted = choose(view, args).map((secret) => describeMask(describeRevealed({ ...secret, value: '' })));
  return { summary: `Show you ${wanted.join(', ')}.`, detail: `${wanted.join('\n')}\n`, undoable: false };
}

/** The values, and from now on it is known that they were shown. */
export function reveal(
  { unmasked }: ApprovalToolParts,
  view: View,
  args: RevealArguments,
  to: Session,
): InJson<RevealedSecret>[] {
  const chosen = choose(view, args);
  if (view.status !== 'pending') {
    throw new ToolFailure('NOT_FOUND', 'It was decided, so its masked text is no longer kept.');
  }
  const values = unmasked.find(view.subject);
  if (values === undefined) {
    throw new ToolFailure(
      'NOT_FOUND',
      'The gate does not have it any more: it keeps such values in memory only, and has been restarted since. The agent has to ask again, with the same call; then it can be revealed.',
    );
  }
  return chosen.map((secret) => {
    const at = view.masked.indexOf(secret);
    unmasked.noteShown(view.subject, at, to);
    return describeRevealed({ ...secret, value: values[at] ?? '' });
  });
}

function choose({ masked, mayShow = () => true }: View, { number }: RevealArguments): readonly MaskedSecret[] {
  const chosen = masked.filter((secret) => mayShow(secret) && (number === undefined || secret.number === number));
  if (chosen.length > 0) return chosen;
  const which = number === undefined ? 'Nothing' : `No secret ${number}`;
  throw new ToolFailure('NOT_FOUND', `${which} is masked in it${masked.length > 0 ? ' that you may see' : ''}.`);
}

function describeRevealed({ number, name = '', characters, restSha256, value }: Revealed): InJson<RevealedSecret> {
  // A rest was masked itself, and is text from outside like the card before it.
  const rest = restSha256 !== undefined;
  return { number, name, characters, rest, value: rest ? showEffect(value) : value };
}

function describeMask({ number, name, characters, rest }: Omit<InJson<RevealedSecret>, 'value'>): string {
  if (rest) return `the rest of the effect (${number}, ${characters} characters)`;
  return `secret ${number} (${name === '' ? '' : `${name}, `}${characters} characters)`;
}

/** For the log: which ones, and nothing of them. */
export function nameAll(revealed: readonly InJson<RevealedSecret>[]): string {
  return revealed.map(describeMask).join(', ');
}
