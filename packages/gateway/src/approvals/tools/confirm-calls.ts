import { ConfirmTokenSchema, spellCount } from '@sallyport/contract';
import { mustBeSeen } from '../explain-hold.ts';
import { markOf } from '../mask-secrets.ts';
import type { PlannedCall, Rehearsed } from '../rehearsal.ts';
import { showEffect, showTitle } from '../show-effect.ts';
import { isRefusal } from '../../call/refusal.ts';
import type { Session } from '../../call/session.ts';
import { ToolFailure, ToolRefused } from '../../call/tool.ts';
import type { ToolContext } from '../../call/tool.ts';
import { defineOperatorTool } from '../../registry/define-operator-tool.ts';
import { checkShown } from '../../call/check-shown.ts';
import { requireApprover, requireOffice } from './approval-parts.ts';
import type { ApprovalToolParts } from './approval-parts.ts';
import { callProperties } from './propose-plan.ts';
import * as schema from '../../registry/schemas/schema.ts';

interface IssueArguments {
  readonly session_id: string;
  readonly trace_id: string;
  readonly calls: readonly PlannedCall[];
  readonly ttl_seconds: number;
  readonly reusable: boolean;
}

const mostSeconds = 900;
/** No token lasts longer, so that a revoked one need not be remembered longer. */
const longestTokenMs = 8 * 3_600_000;

/** Consent beforehand: a person hands out a token for calls that an agent will make. */
export function issueToken(parts: ApprovalToolParts) {
  const { tokens, circumstances } = parts;
  return defineOperatorTool({
    name: 'confirm.issue',
    description: 'Makes a confirm token, which lets a session make exactly these calls in one trace.',
    mutates: true,
    properties: {
      session_id: schema.id('As sessions.list shows it.'),
      trace_id: schema.string('The trace id that the calls will have.', { pattern: '^[0-9a-f]{32}$' }),
      calls: {
        type: 'array',
        minItems: 1,
        maxItems: 20,
        items: { type: 'object', additionalProperties: false, required: ['tool'], properties: callProperties },
      },
      ttl_seconds: { type: 'integer', minimum: 1, maximum: mostSeconds, default: 60 },
      reusable: schema.flag('Whether the token can be used any number of times. Otherwise it can be used once.'),
    },
    required: ['session_id', 'trace_id', 'calls'],
    answers: ConfirmTokenSchema,
    preview: async (args, context) => {
      const rehearsed = await rehearseCalls(parts, args, context);
      const detail = rehearsed.map((step) => {
        const [summary, whole] = [step.effect.summary, step.effect.detail].map((text) => unmask(text, step)) as [
          string,
          string,
        ];
        return `${step.tool}: ${showTitle(summary)}\n${showEffect(whole)}`.trimEnd();
      });
      const often = args.reusable ? 'any number of times' : 'once';
      const summary = `Let session ${args.session_id} do this, ${often}, within ${args.ttl_seconds} seconds.`;
      return { summary, detail: `${detail.join('\n')}\n`, undoable: false, basis: basisOf(rehearsed) };
    },
    run: async (args, context) => {
      const rehearsed = await rehearseCalls(parts, args, context);
      checkShown(basisOf(rehearsed), 'What the calls would do', context);
      const nowMs = Date.now();
      const expiresAtMs = nowMs + args.ttl_seconds * 1000;
      const { token, claims } = tokens.issue({
        sessionId: args.session_id,
        traceId: args.trace_id,
        calls: rehearsed.map(({ callSha256 }) => callSha256),
        // The second use of a call has another effect than the first.
        ...(args.reusable ? {} : { effects: rehearsed.map(({ boundSha256 }) => boundSha256) }),
        askedBy: rehearsed.map(({ askedBy }) => askedBy),
        tools: [...new Set(rehearsed.map(({ tool }) => tool))],
        ...circumstances(args.session_id),
        issuedBy: context.session.agent,
        issuedAtMs: nowMs,
        expiresAtMs,
        reusable: args.reusable,
      });
      return { tokenId: claims.id, confirmToken: token, expiresAtMs: String(expiresAtMs) };
    },
    summarize: ({ session_id: id, calls }, { tokenId }) =>
      `issued token ${tokenId} to session ${id} for ${spellCount(calls.length, 'call')}`,
  });
}

function basisOf(rehearsed: readonly Rehearsed[]): string {
  return rehearsed.map(({ boundSha256 }) => boundSha256).join(' ');
}

export function revokeToken({ store }: ApprovalToolParts) {
  return defineOperatorTool({
    name: 'confirm.revoke',
    description: 'Revokes a confirm token. For the token of a plan, give the id of the plan.',
    mutates: true,
    properties: { token_id: schema.id('As confirm.issue returned it.') },
    required: ['token_id'],
    answers: { type: 'object', additionalProperties: false },
    run: async ({ token_id: id }) => {
      await store.revokeToken(id, Date.now() + longestTokenMs);
      return {};
    },
    summarize: ({ token_id: id }) => `revoked token ${id}`,
  });
}

export function rotateKey({ tokens, saveConfirmKey }: ApprovalToolParts) {
  return defineOperatorTool({
    name: 'confirm.rotate_key',
    description: 'Rotates the key that signs confirm tokens. Existing tokens stay valid.',
    mutates: true,
    properties: {
      revoke_all: schema.flag('Also revoke all existing confirm tokens.'),
    },
    answers: { type: 'object', additionalProperties: false },
    run: ({ revoke_all: forget }) => {
      tokens.rotate(saveConfirmKey, { forget });
      return {};
    },
    summarize: ({ revoke_all: all }) => `rotated the key of confirm tokens${all ? ' and revoked all of them' : ''}`,
  });
}

/** What the calls would do, if this person may agree to them. Throws for the first that a gate would stop. */
async function rehearseCalls(
  parts: ApprovalToolParts,
  args: IssueArguments,
  { session: person, signal }: Pick<ToolContext, 'session' | 'signal'>,
): Promise<readonly Rehearsed[]> {
  const session = findAgent(parts, args.session_id);
  const rehearsed: Rehearsed[] = [];
  for (const call of args.calls) {
    const step = await parts.rehearse(session, call, signal);
    if (isRefusal(step)) throw new ToolRefused(step);
    rehearsed.push(step);
  }
  const ofCalls = rehearsed.map(({ risk }) => risk);
  const { id: sessionId, agent } = session;
  const approverRole = requireApprover(parts.routeApproval, session, ofCalls);
  requireOffice(parts.mayDecide, person, { sessionId, agent, approverRole });
  if (args.reusable && ofCalls.includes('critical')) {
    throw new ToolFailure('INVALID_ARGUMENTS', 'A token for a call of critical risk is for one use.');
  }
  return rehearsed;
}

/** A person who agrees beforehand has to see all of it. Only secrets that the gate holds stay masked. */
function unmask(text: string, { masked, secrets }: Rehearsed): string {
  // From the last to the first: the rest, which comes last, has marks of its own.
  return masked.reduceRight(
    (shown, secret, at) => (mustBeSeen(secret) ? shown.replaceAll(markOf(secret), () => secrets[at] ?? '') : shown),
    text,
  );
}

function findAgent({ store }: ApprovalToolParts, id: string): Session {
  const session = store.findSession(id);
  if (session?.principal === 'agent' && session.status === 'active') return session;
  throw new ToolFailure('NOT_FOUND', `There is no active session ${id} of an agent.`, {
    forOperators: '`sallyport session list` shows them.',
  });
}
