import { randomUUID, randomUUIDv7 } from 'node:crypto';
import { PlanService, spellCount } from '@sallyport/contract';
import type { InJson, Plan as PlanMessage } from '@sallyport/contract';
import type { Rehearsed } from '../rehearsal.ts';
import { countCharacters, stepSubject } from '../unmasked-secrets.ts';
import { isWithin } from '@sallyport/sandbox';
import type { NewPlan, Plan, PlanStep } from '../../call/approval.ts';
import type { Redacted } from '../../call/redacted.ts';
import { isRefusal, refuse } from '../../call/refusal.ts';
import type { RedactedRefusal } from '../../call/refusal.ts';
import type { Session } from '../../call/session.ts';
import { ToolRefused } from '../../call/tool.ts';
import { defineOperatorTool } from '../../registry/define-operator-tool.ts';
import { requireApprover } from './approval-parts.ts';
import type { ApprovalToolParts } from './approval-parts.ts';
import { describePlan, noStep } from './describe-approval.ts';
import * as schema from '../../registry/schemas/schema.ts';

export const mostSteps = 50;

export const callProperties = {
  tool: schema.string('Canonical name or alias.', { minLength: 1, maxLength: 256 }),
  arguments: { type: 'object', default: {} },
} as const;

/** An agent shows what it means to do. Each call meets the gates first: nobody is asked about one that cannot run. */
export function proposePlan(parts: ApprovalToolParts) {
  const { store, plans, rehearse, redact } = parts;
  return defineOperatorTool({
    name: 'plans.propose',
    description:
      'Proposes several calls as one plan, which a person approves in whole or part. Nothing runs. Once it is approved, plans.show has a confirm token: send it, with the trace of the plan, with each approved call, in order, each within a minute of the one before.',
    mutates: true,
    audience: 'everyone',
    examples: [
      {
        summary: 'Tidy up the notes',
        calls: [{ tool: 'files.delete', arguments: { path: 'old.txt' }, reason: 'Nobody reads it any more.' }],
      },
    ],
    properties: {
      summary: schema.string('What the plan is for.', { minLength: 1, maxLength: 4000 }),
      calls: {
        type: 'array',
        minItems: 1,
        maxItems: mostSteps,
        items: {
          type: 'object',
          additionalProperties: false,
          required: ['tool'],
          properties: {
            ...callProperties,
            reason: schema.string('What the call is for.', { maxLength: 2000, default: '' }),
          },
        },
      },
      trace_id: schema.string('The trace id that the calls will have. Absent: a new one, which the answer names.', {
        pattern: '^[0-9a-f]{32}$',
      }),
    },
    required: ['summary', 'calls'],
    answers: PlanService.method.proposePlan,
    run: async ({ summary, calls, trace_id: traceId = newTraceId() }, { session, signal }) => {
      await refuseTooMany(parts, session);
      const told = calls.map(({ tool, reason }) => ({ tool: redact(tool), reason: redact(reason) }));
      const shown = { summary: redact(summary), traceId };
      const rehearsed: (Rehearsed | RedactedRefusal)[] = [];
      for (const call of calls) {
        const before = rehearsed.flatMap((step) => (isRefusal(step) ? [] : [step.tool]));
        rehearsed.push(await rehearse(session, call, signal, before));
      }
      if (rehearsed.some(isRefusal)) {
        return { plan: describeRefused(told, rehearsed, { ...shown, session }), confirmToken: '' };
      }
      refuseTooLong(parts, rehearsed as readonly Rehearsed[]);
      const steps = (rehearsed as Rehearsed[]).map((step, at, all) =>
        stepOf(step, findChanging(all, at), told[at]?.reason ?? ''),
      );
      const plan = pendingPlan(parts, session, { ...shown, steps });
      await store.proposePlan(plan);
      (rehearsed as Rehearsed[]).forEach(({ secrets }, at) =>
        parts.unmasked.keep(stepSubject(plan.id, at), secrets, plan.expiresAtMs),
      );
      plans.tell({ kind: 'pending', plan });
      const showing = { nowMs: plan.createdAtMs, forPerson: false, hideHeld: parts.hideHeld };
      return { plan: describePlan(plan, showing), confirmToken: '' };
    },
    summarize: ({ calls }, { plan: { id = '' } = {} }) =>
      id === ''
        ? 'proposed a plan that gates would stop'
        : `proposed plan ${id} of ${spellCount(calls.length, 'call')}`,
  });
}

function pendingPlan(
  { routeApproval, limits, circumstances }: ApprovalToolParts,
  session: Session,
  what: Pick<NewPlan, 'summary' | 'traceId' | 'steps'>,
): Plan {
  const nowMs = Date.now();
  return {
    id: randomUUIDv7(),
    sessionId: session.id,
    agent: session.agent,
    ...what,
    approverRole: requireApprover(
      routeApproval,
      session,
      what.steps.map(({ risk }) => risk),
    ),
    ...circumstances(session.id),
    createdAtMs: nowMs,
    expiresAtMs: nowMs + limits().expireAfterMs,
    status: 'pending',
    approvedSteps: [],
    started: 0,
  };
}

async function refuseTooMany({ store, limits }: ApprovalToolParts, session: Session): Promise<void> {
  const { maxPending } = limits();
  const nowMs = Date.now();
  const waiting = (await store.listPlans({ sessionId: session.id, limit: 200 })).filter(
    ({ status, expiresAtMs }) => status === 'pending' && expiresAtMs > nowMs,
  );
  if (waiting.length < maxPending) return;
  const message = `${waiting.length} plans of this session are already waiting for a decision.`;
  throw new ToolRefused(
    refuse('TOO_MANY_APPROVALS', 'pending-approvals', message, { remedy: 'Wait until some are decided.' }),
  );
}

/** All that is masked or too long for a card has to be kept until somebody looks. */
function refuseTooLong({ unmasked }: ApprovalToolParts, rehearsed: readonly Rehearsed[]): void {
  if (unmasked.hasRoom(countCharacters(rehearsed.flatMap(({ secrets }) => secrets)))) return;
  const message = 'The effects of the plan are too long for a person to look at now.';
  throw new ToolRefused(
    refuse('TOO_MANY_APPROVALS', 'pending-approvals', message, { remedy: 'Propose a smaller plan, or wait.' }),
  );
}

/** Member by member: what the marks stand for is not among them. */
function stepOf(rehearsed: Rehearsed, changedBy: readonly number[], reason: string): PlanStep {
  const { tool, callSha256, shownArguments, risk, effect, masked, boundSha256, askedBy } = rehearsed;
  const { summary: title, detail, undoable } = effect;
  const marks = masked.length === 0 ? {} : { masked };
  const changes = changedBy.length === 0 ? {} : { changedBy };
  const shown = `${detail}${describeChanging(changedBy)}`;
  return {
    ...{ tool, callSha256, shownArguments, risk, title, effect: shown, ...marks, undoable, reason },
    ...{ boundSha256, askedBy, ...changes },
  };
}

/** The steps before one that may change what it works on. Its effect as it is shown holds only without them. */
function findChanging(steps: readonly Rehearsed[], at: number): readonly number[] {
  const { dependsOn } = steps[at] ?? {};
  return [...steps.keys()].slice(0, at).filter((index) => {
    const { changes } = steps[index] ?? {};
    if (changes === undefined || dependsOn === undefined) return changes?.length !== 0;
    return changes.some((changed) => dependsOn.some((path) => isWithin(changed, path) || isWithin(path, changed)));
  });
}

function describeChanging(changedBy: readonly number[]): string {
  if (changedBy.length === 0) return '';
  const steps = changedBy.map((index) => index + 1).join(', ');
  return `Step ${steps} may change this effect, so it is worked out again when this step runs, and not shown again.\n`;
}

/** Which call the gates would stop, and why. Nobody is asked, and nothing is kept. */
function describeRefused(
  told: readonly { readonly tool: Redacted; readonly reason: Redacted }[],
  rehearsed: readonly (Rehearsed | RedactedRefusal)[],
  about: { readonly summary: Redacted; readonly traceId: string; readonly session: Session },
): InJson<PlanMessage> {
  const { summary, traceId, session } = about;
  return {
    ...{ id: '', status: 'refused', agent: session.agent, sessionId: session.id, traceId, summary },
    ...{ approvedSteps: [], started: 0, approverRole: '', createdAtMs: '0', expiresAtMs: '0' },
    ...{ decidedBy: '', decidedAtMs: '0', note: '', hold: '' },
    steps: rehearsed.map((step, at) => {
      const { tool = '', reason = '' } = told[at] ?? {};
      if (!isRefusal(step)) {
        return { ...noStep, tool: step.tool, argumentsJson: step.shownArguments, risk: step.risk, reason };
      }
      const { code, message, remedy, rule } = step;
      const why = remedy === undefined ? message : `${message} ${remedy}`;
      return { ...noStep, tool, reason, refusal: `${code}: ${why}`, code, ruleId: rule.id };
    }),
  };
}

function newTraceId(): string {
  return randomUUID().replaceAll('-', '');
}
