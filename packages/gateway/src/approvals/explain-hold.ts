import type { ApprovalTask, MaskedSecret, Plan } from '../call/approval.ts';
import type { Mode, Session } from '../call/session.ts';
import { stepSubject } from './unmasked-secrets.ts';
import type { UnmaskedSecrets } from './unmasked-secrets.ts';

export interface HoldParts {
  /** Under which rules and in which mode the calls of a session are decided now. */
  readonly circumstances: (sessionId: string) => { readonly rulesHash: string; readonly mode: Mode };
  readonly unmasked: Pick<UnmaskedSecrets, 'find'>;
  readonly findSession: (id: string) => Pick<Session, 'status' | 'expiresAtMs'> | undefined;
}

/** Why nobody can approve what waits, whatever they look at. Undefined: it can be approved. */
export type ExplainHold = (waiting: ApprovalTask | Plan) => string | undefined;

/**
 * An approval of a call that nobody can make any more, that was asked under other rules, or of which part can be seen by
 * nobody, would be worth nothing.
 */
export function explainHold({ circumstances, unmasked, findSession }: HoldParts): ExplainHold {
  return (waiting) => {
    if (waiting.status !== 'pending') return undefined;
    const session = findSession(waiting.sessionId);
    if (session?.status === 'quarantined') {
      return 'The session that asked is in quarantine, so nothing of it runs. It cannot be approved.';
    }
    const hasExpired = session?.expiresAtMs !== undefined && session.expiresAtMs <= Date.now();
    if (session?.status !== 'active' || hasExpired) {
      return 'The session that asked has ended, so nothing of it runs any more. It cannot be approved.';
    }
    const now = circumstances(waiting.sessionId);
    if (waiting.rulesHash !== now.rulesHash) {
      return 'The rules have changed since this was asked, so it cannot be approved any more. The agent has to ask again.';
    }
    if (waiting.mode !== undefined && waiting.mode !== now.mode) {
      return `This was asked in ${waiting.mode} mode, and the mode is ${now.mode} now. It can be approved in that mode only; otherwise the agent has to ask again.`;
    }
    const isGone = viewsOf(waiting).some(
      ({ subject, masked }) => masked.some(mustBeSeen) && unmasked.find(subject) === undefined,
    );
    return isGone
      ? 'Part of it is masked, and the gate has been restarted since. It no longer has the masked text, so it cannot be approved. The agent has to ask again, with the same call.'
      : undefined;
  };
}

/** One text with marks, under the name by which its values are kept. */
export interface MaskedView {
  readonly subject: string;
  readonly masked: readonly MaskedSecret[];
}

export function viewsOf(waiting: ApprovalTask | Plan): readonly MaskedView[] {
  if (!('steps' in waiting)) return [{ subject: waiting.id, masked: waiting.masked ?? [] }];
  return waiting.steps.map(({ masked = [] }, at) => ({ subject: stepSubject(waiting.id, at), masked }));
}

/** Only behind the mark of a secret that the gate itself holds nothing else can hide. */
export function mustBeSeen({ isHeld }: MaskedSecret): boolean {
  return isHeld !== true;
}
