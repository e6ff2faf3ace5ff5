import { IntentTexts } from '../audit/intent-texts.ts';
import type { Redactor } from '../redaction/redact.ts';
import type { ConsentUse } from '../call/approval.ts';
import { askForLease } from '../policy/judge/lease.ts';
import type { SessionHistory } from '../policy/judge/session-history.ts';
import type * as facts from '../call/call.ts';
import { refuse } from '../call/refusal.ts';
import type { Refusal } from '../call/refusal.ts';
import type { Stage } from '../call/stage.ts';
import type { Admission, Store } from '../storage/stores.ts';
import { askForSession } from '../sessions/authenticate.ts';
import { standingChanged } from './confirm-standing.ts';
import { budgetSpent, rateLimited } from './check-limits.ts';
import { fingerprintOf } from './reuse-result.ts';

type Needs = facts.Begun &
  facts.Decoded &
  facts.Opened &
  facts.Based &
  facts.Leased &
  facts.Resolved &
  facts.ArgumentsChecked &
  facts.ModeRead &
  facts.Judged &
  facts.ReuseChecked &
  facts.WithinLimits &
  facts.Consented &
  facts.TurnTaken;

const keepKeyMs = 3_600_000;

/** Charges budget and limits, claims the dedupe key and writes the durable intent, all in one transaction. */
export function admitCall(
  store: Pick<Store, 'admit'>,
  redactor: Redactor,
  history: Pick<SessionHistory, 'note'>,
): Stage<Needs, facts.Intended & facts.ConsentUsed> {
  const texts = new IntentTexts(redactor);
  return {
    name: 'admit-call',
    run: async (call, context) => {
      const nowMs = context.nowMs();
      call.passedAtMs = performance.now();
      const { session, rules } = call;
      // Before anything is awaited: a call that is judged meanwhile must see this one.
      if (rules.looksAtHistory) history.note(session.id, { tool: call.tool.definition.name, startedAtMs: nowMs });
      let { consent } = call;
      let admitted = await store.admit(describeAdmission(call, consent, texts, nowMs));
      // Another call used it first.
      while (!admitted.admitted && admitted.because === 'consent' && consent?.otherwise !== undefined) {
        consent = consent.otherwise;
        admitted = await store.admit(describeAdmission(call, consent, texts, nowMs));
      }
      if (admitted.admitted) {
        call.intentIndex = admitted.intentIndex;
        call.consent = consent;
        return undefined;
      }
      switch (admitted.because) {
        case 'rate':
          return rateLimited(findLimit(call, admitted.rule), admitted.retryAfterMs);
        case 'budget':
          return budgetSpent(admitted.spent);
        case 'consent':
          return consentGone(consent?.use?.kind);
        case 'session':
          return refuse('SESSION_ENDED', 'session', 'The session ended before the call could run.', askForSession);
        case 'lease':
          return refuse('OUTSIDE_LEASE', 'lease', 'The lease ended before the call could run.', askForLease);
        case 'stale':
          return standingChanged(`The ${admitted.what} changed`);
        case 'dedupe':
          return refuse('DEDUPE_CONFLICT', 'dedupe', 'Another call has claimed this dedupe key.', {
            remedy: 'Use a new key.',
          });
      }
    },
  };
}

function claimKey(call: Needs, nowMs: number): NonNullable<Admission['dedupe']> {
  const { dedupeKey: key, tool } = call;
  const isRepeatable = tool.definition.idempotent;
  return { key, argumentsSha256: fingerprintOf(call), expiresAtMs: nowMs + keepKeyMs, isRepeatable };
}

function describeAdmission(
  call: Needs,
  consent: facts.Consent | undefined,
  texts: IntentTexts,
  nowMs: number,
): Admission {
  const { session, rules, callId, dedupeKey, reused } = call;
  return {
    sessionId: session.id,
    leaseId: call.lease.id,
    basedOn: call.basedOn,
    tool: call.tool.definition.name,
    intent: {
      kind: 'intent',
      result: 'none',
      timeMs: nowMs,
      callId,
      sessionId: session.id,
      rulesHash: rules.hash,
      payload: texts.encode(call, { consent, reusedFrom: reused?.callId }),
    },
    reservations: call.reservations,
    consent: consent?.use,
    dedupe: dedupeKey === '' || reused !== undefined ? undefined : claimKey(call, nowMs),
  };
}

function findLimit(
  { reservations }: Needs,
  rule: string,
): Pick<facts.Reservation, 'rule'> & Partial<facts.Reservation> {
  return reservations.find((reservation) => reservation.rule === rule) ?? { rule };
}

function consentGone(kind: ConsentUse['kind'] | undefined): Refusal {
  const code = kind === 'token' ? 'CONFIRM_TOKEN_USED' : 'APPROVAL_USED';
  return refuse(code, 'approval', 'What a person agreed to was used, revoked or ended meanwhile.', {
    remedy: 'Send the call without approval_task_id or confirm_token to ask again.',
  });
}
