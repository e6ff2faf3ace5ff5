import { CallService, spellCount } from '@sallyport/contract';
import type { InJson, RunningCall } from '@sallyport/contract';
import { ToolFailure } from '../call/tool.ts';
import type { AnyTool } from '../call/tool.ts';
import type { ListedCall, RunningCalls } from './running-calls.ts';
import { defineOperatorTool } from '../registry/define-operator-tool.ts';
import * as schema from '../registry/schemas/schema.ts';

type Calls = Pick<RunningCalls, 'list' | 'cancel'>;

/** Seeing and ending what runs. Governed calls like any other, for operators only. */
export function callTools(running: Calls): readonly AnyTool[] {
  return [listTool(running), cancelTool(running)];
}

function listTool(running: Calls) {
  return defineOperatorTool({
    name: 'calls.list',
    description: 'Lists the calls that run or wait, the oldest first.',
    mutates: false,
    properties: { session_id: schema.id('Only those of this session.') },
    answers: CallService.method.listCalls,
    run: ({ session_id: sessionId }, { callId }) => {
      const others = running.list().filter((call) => call.callId !== callId);
      const shown = others.filter(({ session }) => sessionId === undefined || session.id === sessionId);
      return { calls: shown.map(describeCall) };
    },
    summarize: (_args, { calls }) => spellCount(calls.length, 'call'),
  });
}

function cancelTool(running: Calls) {
  return defineOperatorTool({
    name: 'calls.cancel',
    description: 'Ends a call that runs or waits. Its caller is told who ended it.',
    mutates: true,
    idempotent: true,
    properties: { call_id: schema.id('As calls.list shows it.') },
    required: ['call_id'],
    answers: CallService.method.cancelCall,
    preview: ({ call_id: id }) => {
      const { tool, session } = find(running, id);
      return { summary: `Cancel call ${id} of ${session.agent}.`, detail: `tool: ${tool}\n` };
    },
    run: ({ call_id: id }, context) => {
      const { tool, session } = find(running, id);
      running.cancel(id, context.session.agent);
      return { callId: id, tool, agent: session.agent };
    },
    summarize: ({ call_id: id }) => `cancelled call ${id}`,
  });
}

function find(running: Calls, id: string): ListedCall {
  const found = running.list().find(({ callId }) => callId === id);
  if (found !== undefined) return found;
  throw new ToolFailure('NOT_FOUND', `No call ${id} is running.`, {
    forOperators: '`sallyport call list` shows the running calls.',
  });
}

function describeCall({ callId, tool, session, state, startedAtMs }: ListedCall): InJson<RunningCall> {
  return { callId, tool, agent: session.agent, sessionId: session.id, state, startedAtMs: String(startedAtMs) };
}
