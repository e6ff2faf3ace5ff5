import { hash } from 'node:crypto';
import { describeCode } from '@sallyport/contract';
import type { Code } from '@sallyport/contract';
import type { CallFact } from '../anomalies/call-fact.ts';
import { findSign } from '../anomalies/escalation-signs.ts';
import type { CallFacts } from '../call/call.ts';
import type { Refusal } from '../call/refusal.ts';
import type { Closer, Ending } from '../call/stage.ts';
import type { ToolDefinition } from '../call/tool.ts';
import type { Snapshot } from '../storage/stores.ts';
import { isPending } from './record-outcome.ts';

export interface AnomalyParts {
  /** Takes the fact over and returns at once. */
  readonly note: (fact: CallFact) => void;
  /** Also one that the caller may not know of. Undefined: there is none. */
  readonly findTool: (name: string) => ToolDefinition | undefined;
  readonly findSessionByToken: Snapshot['findSessionByToken'];
}

/** Tells the detectors of anomalies how calls of agents end. They look at it later: no answer waits for them. */
export function noticeAnomalies(parts: AnomalyParts): Closer<CallFacts> {
  return {
    name: 'notice-anomalies',
    required: false,
    run: (ending, context) => {
      const caller = callerOf(ending, parts);
      // A call that waits for a person ends again, and counts then.
      if (caller === undefined || (ending.kind === 'refused' && isPending(ending.refusal))) return;
      const { callId = '', toolName = '' } = ending.call;
      const definition = ending.call.tool?.definition ?? parts.findTool(toolName);
      const { result, failed, sign } = judge(ending, definition);
      parts.note({
        agent: caller.agent,
        sessionId: caller.sessionId,
        callId,
        // A copy, because a part of a text keeps the whole of it in memory.
        tool: definition?.name ?? Buffer.from(toolName).toString(),
        definition,
        result,
        failed,
        sign,
        atMs: context.nowMs(),
        steadyMs: performance.now(),
      });
    },
  };
}

/** Undefined: nobody whose calls are looked at. What operators do is not. */
function callerOf(
  ending: Ending<CallFacts>,
  { findSessionByToken }: AnomalyParts,
): Pick<CallFact, 'agent' | 'sessionId'> | undefined {
  const { session, credential } = ending.call;
  if (session !== undefined) {
    return session.principal === 'agent' ? { agent: session.agent, sessionId: session.id } : undefined;
  }
  if (ending.kind !== 'refused' || !credential) return undefined;
  const { code } = ending.refusal;
  if (code === 'UNAUTHENTICATED') return { agent: '', sessionId: '' };
  if (code !== 'WRONG_DOOR') return undefined;
  const known = findSessionByToken(hash('sha256', credential));
  return known?.principal === 'agent' ? { agent: known.agent, sessionId: known.id } : undefined;
}

function judge(
  ending: Ending<CallFacts>,
  definition: ToolDefinition | undefined,
): Pick<CallFact, 'result' | 'failed' | 'sign'> {
  switch (ending.kind) {
    case 'refused': {
      const { code } = ending.refusal;
      return { result: code, failed: isOfAgent(ending.refusal), sign: findSign(ending.refusal, definition) };
    }
    case 'faulted':
      return { result: 'INTERNAL', failed: false };
    case 'completed': {
      const { outcome } = ending.call;
      return outcome.ok
        ? { result: 'ok', failed: false }
        : { result: outcome.failure.code, failed: !notOfAgent.has(outcome.failure.code) };
    }
  }
}

/** What says nothing about the agent: somebody ended the call, or the gate was closed to everybody. */
const notOfAgent: ReadonlySet<Code> = new Set(['CANCELLED', 'MODE_FORBIDS', 'STANDING_CHANGED', 'SANDBOX_UNAVAILABLE']);

/** That an agent runs into its limits is reported elsewhere, and that the gate is busy is not its doing. */
function isOfAgent({ code }: Refusal): boolean {
  return describeCode(code).category !== 'resource_exhaustion' && !notOfAgent.has(code);
}
