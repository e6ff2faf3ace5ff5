import type { IncomingHttpHeaders } from 'node:http';
import { SERVER_INFO_META_KEY, SUPPORTED_PROTOCOL_VERSIONS } from '@modelcontextprotocol/server';
import type { ClientCapabilities, Implementation } from '@modelcontextprotocol/server';
import { codes } from '@sallyport/contract';
import type { HttpReply, MessageReply } from '../transport/http-route.ts';
import { answersOf } from './ask-client.ts';
import { callTool } from './call-tool.ts';
import type { CallAnswer, CallParts } from './call-tool.ts';
import type { Caller } from './caller.ts';
import type { KnownEnvelopes } from './known-envelopes.ts';
import type { LegacySessions } from './legacy-sessions.ts';
import type { OfferedTools } from './offered-tools.ts';
import { PlainReply } from './plain-reply.ts';
import { capabilitiesKey, hasPlainForm, isPlainLegacy, isPlainModern, revisionKey } from './read-plain-request.ts';
import type { PlainCall, PlainRequest } from './read-plain-request.ts';
import type { ProgressNews } from './progress-sender.ts';
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

/** The way back for one request. */
export interface RequestReply {
  readonly notify: (news: ProgressNews) => Promise<void>;
  readonly end: (message: object) => void;
  /** Nobody wants the answer any more. */
  readonly drop: () => void;
}

type SessionParts = PlainParts & { readonly legacy: LegacySessions };

export interface PlainExchange {
  readonly headers: IncomingHttpHeaders;
  readonly caller: Caller;
  readonly response: HttpReply;
}

/**
 * Answers a request that is exactly of the usual shape, without the SDK. Undefined: it is for the SDK after all, and
 * nothing has happened yet. Calls go the same way as those that the SDK reads.
 */
export function answerPlainly(
  parts: SessionParts,
  asked: PlainRequest,
  { headers, caller, response }: PlainExchange,
): Promise<void> | undefined {
  const { call } = asked;
  if (!hasPlainForm(headers)) return undefined;
  if (call !== undefined && isPlainModern(headers, call, modernRevision)) {
    return answerAlone(parts, asked, caller, () => new PlainReply(response, {}));
  }
  if (!isPlainLegacy(headers, call, SUPPORTED_PROTOCOL_VERSIONS)) return undefined;
  const connection = String(headers['mcp-session-id']);
  const openReply = () => new PlainReply(response, { 'mcp-session-id': connection });
  return answerInSession(parts, asked, { connection, caller, openReply });
}

export interface MessageExchange {
  /** Of the request that opened the line. No header repeats what a message says, because nobody stands between. */
  readonly headers: IncomingHttpHeaders;
  readonly caller: Caller;
  readonly reply: MessageReply;
}

/** The same for a message on a line. */
export function answerMessage(
  parts: SessionParts,
  asked: PlainRequest,
  { headers, caller, reply }: MessageExchange,
): Promise<void> | undefined {
  const openReply = () => openLineReply(reply);
  if (asked.call?.meta?.[revisionKey] === modernRevision && headers['mcp-session-id'] === undefined) {
    return answerAlone(parts, asked, caller, openReply);
  }
  if (!isPlainLegacy(headers, asked.call, SUPPORTED_PROTOCOL_VERSIONS)) return undefined;
  return answerInSession(parts, asked, { connection: String(headers['mcp-session-id']), caller, openReply });
}

function openLineReply(reply: MessageReply): RequestReply {
  return {
    notify: (news) => {
      reply.tell(JSON.stringify({ ...news, jsonrpc: '2.0' }));
      return Promise.resolve();
    },
    end: (message) => reply.end(JSON.stringify(message)),
    drop: () => undefined,
  };
}

/** A call of the newer protocol. */
function answerAlone(
  parts: PlainParts,
  { id, call }: PlainRequest,
  caller: Caller,
  openReply: () => RequestReply,
): Promise<void> | undefined {
  if (call?.meta === undefined || !parts.tools.has(call.name) || !parts.envelopes.has(call.meta)) return undefined;
  const capabilities = call.meta[capabilitiesKey] as ClientCapabilities;
  const answers = answersOf(capabilities);
  const showsUrls = capabilities.elicitation?.url !== undefined;
  const client: CallingClient = { isModern: true, showsUrls, ...(answers && { answers }) };
  const reply = openReply();
  return answer(parts, { id, call, caller, client, connection: undefined }, reply).then((message) =>
    reply.end(message),
  );
}

interface SessionExchange {
  readonly connection: string;
  readonly caller: Caller;
  readonly openReply: () => RequestReply;
}

function answerInSession(
  parts: SessionParts,
  { id, call }: PlainRequest,
  { connection, caller, openReply }: SessionExchange,
): Promise<void> | undefined {
  if (call !== undefined && !parts.tools.has(call.name)) return undefined;
  const session = parts.legacy.enter(connection, caller.session.id, id);
  if (session === undefined) return undefined;
  if (call !== undefined && parts.calls.folders.isUnasked(session.server)) {
    session.leave(id);
    return undefined;
  }
  const reply = openReply();
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
  { notify }: RequestReply,
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
