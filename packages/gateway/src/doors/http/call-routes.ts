import type { RedactedEnding } from '../redact-ending.ts';
import { doors } from '../../call/call.ts';
import type { HttpRoute } from '../transport/http-route.ts';
import type { Peer } from '../transport/peer.ts';
import { readCall } from '../connect/tool-service.ts';
import { openReceiver, sendJson } from './json-requests.ts';
import type { CallRouteParts } from './json-requests.ts';
import { openApiRoute } from './openapi-route.ts';
import { parseCall } from './parse-call.ts';
import type { Form, HttpCall } from './parse-call.ts';
import { presentExecutionResult } from './present-execution-result.ts';
import { presentToolResult } from './present-tool-result.ts';
import type { Presented } from './presented.ts';

export type { CallRouteParts } from './json-requests.ts';

const presenters: Readonly<Record<Form, (ending: RedactedEnding, endedAtMs: number) => Presented>> = {
  'tool-result': presentToolResult,
  'execution-result': presentExecutionResult,
};

/** Calls as plain HTTP, in the forms that agents already speak, and the document that describes them. */
export function callRoutes(parts: CallRouteParts): readonly HttpRoute[] {
  return [postCalls(parts), openApiRoute()];
}

function postCalls(parts: CallRouteParts): HttpRoute {
  const receive = openReceiver(parts);
  return {
    method: 'POST',
    path: '/v1/calls',
    doors,
    handle: async (request, response, peer) => {
      const call = await receive(request, peer, parseCall);
      const ending = await parts.submit(beginCall(call, peer));
      sendJson(response, presenters[call.form](ending, Date.now()));
    },
  };
}

function beginCall(
  { request, traceparent, callerTraceId, claimedAgent }: HttpCall,
  peer: Peer,
): ReturnType<typeof readCall> {
  return {
    ...readCall(request, peer),
    ...(traceparent === undefined ? {} : { traceparent }),
    ...(callerTraceId === undefined ? {} : { callerTraceId }),
    ...(claimedAgent === undefined ? {} : { claimedAgent }),
  };
}
