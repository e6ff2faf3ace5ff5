import type { IncomingHttpHeaders } from 'node:http';
import type { RequestMeta } from '@modelcontextprotocol/server';
import { isJsonObject } from '@sallyport/contract';
import type { Json, JsonObject } from '@sallyport/contract';

/**
 * A request that is exactly of the usual shape: every field is one that is known, and of its one form. The gate answers
 * such requests itself. The SDK reads everything else, and says what is wrong with it.
 */
export interface PlainRequest {
  readonly id: string | number;
  /** Absent: it is a `ping`. */
  readonly call?: PlainCall;
}

export interface PlainCall {
  readonly name: string;
  readonly args: JsonObject | undefined;
  readonly meta: RequestMeta | undefined;
}

const ofProtocol = 'io.modelcontextprotocol/';
export const revisionKey = `${ofProtocol}protocolVersion`;
export const clientInfoKey = `${ofProtocol}clientInfo`;
export const capabilitiesKey = `${ofProtocol}clientCapabilities`;
const envelopeKeys: readonly string[] = [revisionKey, clientInfoKey, capabilitiesKey];

/** Undefined: it is for the SDK. */
export function readPlainRequest(message: Json): PlainRequest | undefined {
  if (!isJsonObject(message)) return undefined;
  for (const key in message) if (!messageFields.has(key)) return undefined;
  const { jsonrpc, id, method, params } = message;
  if (jsonrpc !== '2.0' || !isId(id)) return undefined;
  if (method === 'ping') return params === undefined ? { id } : undefined;
  if (method !== 'tools/call' || params === undefined || !isJsonObject(params)) return undefined;
  const call = readParams(params);
  return call === undefined ? undefined : { id, call };
}

const messageFields: ReadonlySet<string> = new Set(['jsonrpc', 'id', 'method', 'params']);
const callFields: ReadonlySet<string> = new Set(['name', 'arguments', '_meta']);

function readParams(params: JsonObject): PlainCall | undefined {
  for (const key in params) if (!callFields.has(key)) return undefined;
  const { name, arguments: args, _meta: meta } = params;
  if (typeof name !== 'string') return undefined;
  if (args !== undefined && !isJsonObject(args)) return undefined;
  if (meta === undefined) return { name, args, meta };
  if (!isJsonObject(meta)) return undefined;
  for (const key in meta) if (key.startsWith(ofProtocol) && !envelopeKeys.includes(key)) return undefined;
  const { progressToken } = meta;
  if (progressToken !== undefined && !isId(progressToken)) return undefined;
  return { name, args, meta };
}

function isId(value: Json | undefined): value is string | number {
  return typeof value === 'string' || Number.isSafeInteger(value);
}

/** Whether the client takes both forms of an answer, as it must, and sends JSON under its plainest name. */
export function hasPlainForm({ accept, 'content-type': type }: IncomingHttpHeaders): boolean {
  return (
    accept !== undefined &&
    accept.includes('application/json') &&
    accept.includes('text/event-stream') &&
    type !== undefined &&
    (type === 'application/json' || type.startsWith('application/json;'))
  );
}

/** A request of the newer protocol whose headers repeat, in plain letters, what its message says. */
export function isPlainModern(headers: IncomingHttpHeaders, { name, meta }: PlainCall, revision: string): boolean {
  return (
    meta?.[revisionKey] === revision &&
    headers['mcp-protocol-version'] === revision &&
    headers['mcp-method'] === 'tools/call' &&
    headers['mcp-name'] === name &&
    headers['mcp-session-id'] === undefined &&
    plainName.test(name)
  );
}

/** A name that stands in a header as it is. */
const plainName = /^[A-Za-z0-9_.-]+$/;

/** A request of the older protocol, in a session: no header and no field of the newer one. */
export function isPlainLegacy(
  headers: IncomingHttpHeaders,
  call: PlainCall | undefined,
  revisions: readonly string[],
): boolean {
  const { 'mcp-protocol-version': revision } = headers;
  return (
    typeof headers['mcp-session-id'] === 'string' &&
    headers['mcp-method'] === undefined &&
    headers['mcp-name'] === undefined &&
    (revision === undefined || (typeof revision === 'string' && revisions.includes(revision))) &&
    envelopeKeys.every((key) => call?.meta?.[key] === undefined)
  );
}
