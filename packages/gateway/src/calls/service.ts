import { create } from '@bufbuild/protobuf';
import { CallService, CancelCallResponseSchema, ListCallsResponseSchema, RunningCallSchema } from '@sallyport/contract';
import type { JsonObject, RunningCall } from '@sallyport/contract';
import { objectsOf, textOf, timeOf } from '../sessions/service-messages.ts';
import { bindService } from '../doors/transport/service-binding.ts';
import type { ServiceBinding } from '../doors/transport/service-binding.ts';
import { submitTool } from '../doors/submit-tool.ts';
import type { Submit } from '../call/submission.ts';

/** Running calls for programs of operators: each method is the governed call of a tool, in typed words. */
export function callService({ submit }: { readonly submit: Submit }): ServiceBinding {
  return bindService(CallService, ['operator-socket'], {
    listCalls: async ({ sessionId, call }, peer) => {
      const args = sessionId === '' ? {} : { session_id: sessionId };
      const { output, receipt } = await submitTool(submit, 'calls.list', args, call, peer);
      return create(ListCallsResponseSchema, { calls: objectsOf(output['calls']).map(readCall), call: receipt });
    },

    cancelCall: async ({ callId, call }, peer) => {
      const { output, receipt } = await submitTool(submit, 'calls.cancel', { call_id: callId }, call, peer);
      return create(CancelCallResponseSchema, {
        callId: textOf(output['call_id']),
        tool: textOf(output['tool']),
        agent: textOf(output['agent']),
        call: receipt,
      });
    },
  });
}

function readCall(described: JsonObject): RunningCall {
  return create(RunningCallSchema, {
    callId: textOf(described['call_id']),
    tool: textOf(described['tool']),
    agent: textOf(described['agent']),
    sessionId: textOf(described['session_id']),
    state: textOf(described['state']),
    startedAtMs: timeOf(described['started_at']) ?? 0n,
  });
}
