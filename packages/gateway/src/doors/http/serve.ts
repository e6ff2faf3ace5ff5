import { doors } from '../../call/call.ts';
import type { HttpRoute } from '../transport/http-route.ts';
import { openReceiver, sendJson } from './json-requests.ts';
import type { CallRouteParts } from './json-requests.ts';
import { openApiRoute } from './openapi-route.ts';
import { presentAnswer } from './present-answer.ts';
import { beginCall, parseCall } from './read-call.ts';

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
      sendJson(response, presentAnswer(await parts.submit(beginCall(call, peer)), call.form));
    },
  };
}
