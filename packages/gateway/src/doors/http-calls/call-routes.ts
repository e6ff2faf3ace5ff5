import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http';
import type { GatewayEnding } from '../../gateway.ts';
import { doors } from '../../model/call.ts';
import { isRefusal } from '../../model/refusal.ts';
import type { Refusal } from '../../model/refusal.ts';
import type { Session } from '../../model/session.ts';
import { authenticate } from '../../stages/open-session.ts';
import type { HttpRoute } from '../rpc/http-route.ts';
import type { Peer } from '../rpc/peer.ts';
import { BodyRoom, checkClaimedLength, readBody } from '../rpc/read-body.ts';
import { RpcError } from '../rpc/rpc-error.ts';
import { defaultLimits } from '../rpc/transport-limits.ts';
import { credentialOf, readCall, rpcErrorOf } from '../tool-service.ts';
import type { ToolServiceParts } from '../tool-service.ts';
import { openApiRoute } from './openapi-route.ts';
import { parseCall } from './parse-call.ts';
import type { Form, HttpCall } from './parse-call.ts';
import { presentExecutionResult } from './present-execution-result.ts';
import { presentToolResult } from './present-tool-result.ts';
import type { Presented } from './presented.ts';

export type CallRouteParts = Pick<ToolServiceParts, 'submit'> & {
  readonly store: Pick<ToolServiceParts['store'], 'findSessionByToken'>;
};

/**
 * As much as the gate takes of arguments as shipped, 16 MiB, with every character escaped, and the envelope. Below the
 * limit of the other doors, because here the arguments are parsed before the gate looks at their size, and 136 MiB of
 * escapes would hold up every other caller for seconds.
 */
const maxKnownBytes = 34 * 1024 * 1024;
/** The form cannot be told before the body is parsed, so from callers who are not known only a small one is taken. */
const maxUnknownBytes = 64 * 1024;

const presenters: Readonly<Record<Form, (ending: GatewayEnding, endedAtMs: number) => Presented>> = {
  'tool-result': presentToolResult,
  'execution-result': presentExecutionResult,
};

/** Calls as plain HTTP, in the forms that agents already speak, and the document that describes them. */
export function callRoutes(parts: CallRouteParts): readonly HttpRoute[] {
  return [postCalls(parts), openApiRoute()];
}

function postCalls({ store, submit }: CallRouteParts): HttpRoute {
  const room = new BodyRoom(defaultLimits.maxBufferedBytes);
  const identify = (peer: Peer) => authenticate(store, { door: peer.door, ...credentialOf(peer) }, Date.now());
  return {
    method: 'POST',
    path: '/v1/calls',
    doors,
    handle: async (request, response, peer) => {
      const call = parseCall(await receiveBody(request, identify(peer), room));
      const ending = await submit(beginCall(call, peer));
      send(response, presenters[call.form](ending, Date.now()));
    },
  };
}

function beginCall({ request, traceparent, claimedAgent }: HttpCall, peer: Peer): ReturnType<typeof readCall> {
  return {
    ...readCall(request, peer),
    ...(traceparent === undefined ? {} : { traceparent }),
    ...(claimedAgent === undefined ? {} : { claimedAgent }),
  };
}

async function receiveBody(request: IncomingMessage, caller: Session | Refusal, room: BodyRoom): Promise<Buffer> {
  const { 'content-type': type = '', 'content-encoding': encoding = 'identity' } = request.headers;
  if (!/^application\/json\s*(?:;\s*charset="?utf-8"?\s*)?$/i.test(type)) {
    throw new RpcError('invalid_argument', 'The content type must be application/json.');
  }
  if (encoding !== 'identity') throw new RpcError('unimplemented', 'Compressed messages are not accepted.');
  const maxBytes = isRefusal(caller) ? maxUnknownBytes : maxKnownBytes;
  try {
    checkClaimedLength(request.headers['content-length'], maxBytes);
    return await readBody(request, { room, maxBytes });
  } catch (error) {
    // That the credential is missing helps more than how little would have been read without one.
    throw isRefusal(caller) ? rpcErrorOf(caller) : error;
  }
}

function send(response: ServerResponse, { status, body, trouble }: Presented): void {
  const text = JSON.stringify(body);
  const headers: OutgoingHttpHeaders = {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(text),
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
  };
  if (status === 401) headers['www-authenticate'] = 'Bearer';
  if (trouble?.retryAfterMs !== undefined) headers['retry-after'] = String(Math.ceil(trouble.retryAfterMs / 1000));
  response.writeHead(status, headers);
  response.end(text);
}
