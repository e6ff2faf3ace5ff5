import type { Answer } from '../../call/answer.ts';
import { doors } from '../../call/call.ts';
import type { RedactText } from '../../call/redacted.ts';
import { openReceiver, sendJson } from '../http/json-requests.ts';
import type { CallRouteParts } from '../http/json-requests.ts';
import { traceparentOf } from '../http/json-fields.ts';
import type { Presented } from '../http/present-answer.ts';
import { awaitPlan } from '../../approvals/plan-service.ts';
import type { PlanServiceParts, ProposedPlan } from '../../approvals/plan-service.ts';
import type { HttpRoute } from '../transport/http-route.ts';
import type { Peer } from '../transport/peer.ts';
import { submitTool } from '../submit-tool.ts';
import { readCall } from '../connect/read-call.ts';
import { presentAnswers } from './present-answer.ts';
import { parseMessage } from './read-call.ts';
import type { ExecuteMessage, PlanMessage } from './read-call.ts';

export type MessageRouteParts = CallRouteParts &
  Pick<PlanServiceParts, 'plans' | 'store' | 'submit'> & { readonly redact: RedactText };

/** Plans and calls as messages, for agents that speak in those. The same calls, through the same gates. */
export function messageRoutes(parts: MessageRouteParts): readonly HttpRoute[] {
  const receive = openReceiver(parts);
  return [
    {
      method: 'POST',
      path: '/v1/messages',
      doors,
      handle: async (request, response, peer) => {
        const message = await receive(request, peer, parseMessage);
        const presented =
          message.type === 'tool.execute' ? await execute(parts, message, peer) : await propose(parts, message, peer);
        sendJson(response, presented);
      },
    },
  ];
}

/** One after the other, until one does not succeed: what follows was planned for after it. */
async function execute(parts: MessageRouteParts, message: ExecuteMessage, peer: Peer): Promise<Presented> {
  const { calls, traceId, callerTraceId } = message;
  const named = callerTraceId === '' ? {} : { callerTraceId };
  const answers: Answer[] = [];
  let traceparent = traceId === '' ? undefined : traceparentOf(traceId, '');
  for (const call of calls) {
    const trace = traceparent === undefined ? {} : { traceparent };
    const answer = await parts.submit({ ...readCall(call, peer), ...trace, ...named });
    answers.push(answer);
    if (answer.status !== 'success') break;
    // Calls of one message belong to one trace, also when the gate chose it.
    traceparent ??= traceparentOf(answer.traceId, '');
  }
  return presentAnswers(answers, calls.slice(answers.length), parts.redact);
}

async function propose(parts: MessageRouteParts, message: PlanMessage, peer: Peer): Promise<Presented> {
  const { summary, calls, traceId, waitMs } = message;
  const args = { summary, calls, ...(traceId === '' ? {} : { trace_id: traceId }) };
  const { output } = await submitTool(parts.submit, 'plans.propose', args, undefined, peer);
  const latest = await awaitPlan(parts, output as unknown as ProposedPlan, waitMs, peer);
  return { status: latest.plan?.status === 'pending' ? 202 : 200, body: presentPlan(latest) };
}

/** Where a proposed plan stands. What does not apply is absent. */
function presentPlan({ plan, confirmToken }: ProposedPlan): Readonly<Record<string, unknown>> {
  const { id, traceId, status, summary, steps = [], approvedSteps, expiresAtMs, decidedBy, note } = plan ?? {};
  const isKept = id !== '';
  return {
    type: 'chat.plan_status',
    trace_id: traceId,
    plan_id: id || undefined,
    status,
    summary,
    steps: steps.map(({ tool, risk, reason, refusal }) => {
      return { tool, risk: risk || undefined, reason, refusal: refusal || undefined };
    }),
    approved_steps: isKept ? approvedSteps : undefined,
    expires_at: isKept ? new Date(Number(expiresAtMs)).toISOString() : undefined,
    decided_by: decidedBy || undefined,
    note: note || undefined,
    confirm_token: confirmToken || undefined,
  };
}
