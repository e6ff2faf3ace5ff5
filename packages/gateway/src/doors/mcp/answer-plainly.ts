import type { IncomingHttpHeaders } from 'node:http';
import { SERVER_INFO_META_KEY, SUPPORTED_PROTOCOL_VERSIONS } from '@modelcontextprotocol/server';
import type { ClientCapabilities, Implementation } from '@modelcontextprotocol/server';
import { codes } from '@sallyport/contract';
import type { HttpReply } from '../transport/http-route.ts';
import { answersOf } from './ask-client.ts';
import { callTool } from './call-tool.ts';
import type { CallAnswer, CallParts } from './call-tool.ts';
import type { Caller } from './caller.ts';
import type { KnownEnvelopes } from './known-envelopes.ts';
import type { LegacySessions } from './legacy-sessions.ts';
import type { OfferedTools } from './offered-tools.ts';
import { PlainReply } from './plain-reply.ts';
import { capabilitiesKey, hasPlainForm, isPlainLegacy, isPlainModern } from './read-plain-request.ts';
import type { PlainCall, PlainRequest } from './read-plain-request.ts';
import type { ErrorParts } from './redact-errors.ts';
import type { CallingClient } from './tool-call.ts';

export interface PlainParts extends Pick<ErrorParts, 'onFault'> {
  readonly calls: CallParts;
  readonly tools: Pick<OfferedTools, 'has'>;
  readonly envelopes: Pick<KnownEnvelopes, 'has'>;
  readonly serverInfo: Implementation;
}

const modernRevision = '2026-07-28';
const internalError = -32603;

/**
 * Answers a request that is exactly of the usual shape, without the SDK. Undefined: it is for the SDK after all, and
 * nothing has happened yet. Calls go the same way as those that the SDK reads.
 */
export function answerPlainly(
  parts: PlainParts & { readonly legacy: LegacySessions },
  asked: PlainRequest,
  { headers, caller, response }: PlainExchange,
): Promise<void> | undefined {
  const { id, call } = asked;
  if (!hasPlainForm(headers) || (call !== undefined && !parts.tools.has(call.name))) return undefined;
  if (call !== undefined && isPlainModern(headers, call, modernRevision)) {
    if (call.meta === undefined || !parts.envelopes.has(call.meta)) return undefined;
    const capabilities = call.meta[capabilitiesKey] as ClientCapabilities;
    const answers = answersOf(capabilities);
    const showsUrls = capabilities.elicitation?.url !== undefined;
    const client: CallingClient = { isModern: true, showsUrls, ...(answers && { answers }) };
    const reply = new PlainReply(response, {});
    return answer(parts, { id, call, caller, client, connection: undefined }, reply).then((message) =>
      reply.end(message),
    );
  }
  if (!isPlainLegacy(headers, call, SUPPORTED_PROTOCOL_VERSIONS)) return undefined;
  return answerInSession(parts, asked, { headers, caller, response });
}

export interface PlainExchange {
  readonly headers: IncomingHttpHeaders;
  readonly caller: Caller;
  readonly response: HttpReply;
}

function answerInSession(
  parts: PlainParts & { readonly legacy: LegacySessions },
  { id, call }: PlainRequest,
  { headers, caller, response }: PlainExchange,
): Promise<void> | undefined {
  const connection = String(headers['mcp-session-id']);
  const session = parts.legacy.enter(connection, caller.session.id, id);
  if (session === undefined) return undefined;
  if (call !== undefined && parts.calls.folders.isUnasked(session.server)) {
    session.leave(id);
    return undefined;
  }
  const reply = new PlainReply(response, { 'mcp-session-id': connection });
  let isCancelled = false;
  session.onCancelled(id, () => {
    isCancelled = true;
    caller.peer.cancel();
  });
  const { server } = session;
  const client = { isModern: false, showsUrls: server.getClientCapabilities()?.elicitation?.url !== undefined, server };
  const answered =
    call === undefined
      ? Promise.resolve({ result: {}, jsonrpc: '2.0', id })
      : answer(parts, { id, call, caller, client, connection }, reply);
  return answered.then((message) => (isCancelled ? reply.drop() : reply.end(message))).finally(() => session.leave(id));
}

interface AskedCall {
  readonly id: string | number;
  readonly call: PlainCall;
  readonly caller: Caller;
  readonly client: CallingClient;
  readonly connection: string | undefined;
}

/** The whole message. What goes wrong in the door itself is not for the client to know. */
async function answer(
  { calls, serverInfo, onFault }: PlainParts,
  { id, call, caller, client, connection }: AskedCall,
  { notify }: PlainReply,
): Promise<object> {
  try {
    const { cancellation: signal } = caller.peer;
    const result = await callTool(calls, { ...call, id, caller, client, connection, signal, notify });
    return { result: client.isModern ? stamp(result, serverInfo) : result, jsonrpc: '2.0', id };
  } catch (error) {
    onFault(error instanceof Error ? error : new Error(String(error)));
    return { jsonrpc: '2.0', id, error: { code: internalError, message: codes.INTERNAL.meaning } };
  }
}

/** What the newer protocol wants of every result. */
function stamp(result: CallAnswer, serverInfo: Implementation): object {
  const { _meta: meta } = result as { readonly _meta?: object };
  return { resultType: 'complete', ...result, _meta: { ...meta, [SERVER_INFO_META_KEY]: serverInfo } };
}
