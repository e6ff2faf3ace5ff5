import { callConfirmed } from '../daemon/call-tool.ts';
import { daemon } from '../daemon/connect.ts';
import type { Approval, Plan } from '../daemon/messages.ts';
import type { DraftedRule } from './always-dialog.tsx';

/** What a person can answer. */
export type Decision =
  | { readonly kind: 'once' }
  | { readonly kind: 'session' }
  | { readonly kind: 'minutes'; readonly minutes: number; readonly uses: number }
  /** Also adds this rule, which the person was shown. */
  | { readonly kind: 'always'; readonly draft: DraftedRule }
  | { readonly kind: 'changes'; readonly note: string }
  | { readonly kind: 'deny' };

export type DecisionKind = Decision['kind'];

export const decisionKeys: Readonly<Record<string, DecisionKind>> = {
  a: 'once',
  s: 'session',
  t: 'minutes',
  A: 'always',
  c: 'changes',
  d: 'deny',
};

/** What has to be typed for a call of critical risk. */
export const criticalWord = 'approve';

/** Why an answer cannot be given for a call of this risk. Undefined: it can. */
export function explainUnavailable(kind: DecisionKind, risk: string): string | undefined {
  if (kind !== 'session' && kind !== 'minutes' && kind !== 'always') return undefined;
  if (risk === 'critical') return 'Calls of critical risk are approved one at a time.';
  return risk === 'high' && kind === 'session' ? 'Calls of high risk are not approved for a whole session.' : undefined;
}

export function isApproving(kind: DecisionKind): boolean {
  return kind === 'once' || kind === 'session' || kind === 'minutes' || kind === 'always';
}

/** Sends the answer together with the hash of the effect, and the number of runs, that were on the screen. */
export async function decideApproval({ id, effectSha256, wanted }: Approval, decision: Decision): Promise<void> {
  await daemon.call('ApprovalService/DecideApproval', {
    id,
    effectSha256,
    approved: isApproving(decision.kind),
    ...(decision.kind === 'changes' ? { note: decision.note } : {}),
    ...(isApproving(decision.kind) ? { runs: wanted } : {}),
    ...standingOf(decision),
  });
}

/** Puts a rule in force that the person was shown. The call itself was approved before. */
export async function addRule({ callId: call, width: widen, shown }: DraftedRule): Promise<void> {
  await callConfirmed('policy.allow', { call, widen, shown });
}

export async function decidePlan({ id }: Plan, approvedSteps: readonly number[], note = ''): Promise<void> {
  await daemon.call('PlanService/DecidePlan', { id, approvedSteps: [...approvedSteps], note });
}

function standingOf(decision: Decision): object {
  if (decision.kind === 'session') return { standing: { forSession: true } };
  if (decision.kind !== 'minutes') return {};
  return { standing: { minutes: decision.minutes, uses: decision.uses } };
}
