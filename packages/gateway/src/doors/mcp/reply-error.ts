import { isJsonObject } from '@sallyport/contract';
import type { Json } from '@sallyport/contract';
import type { Redacted } from '../../call/redacted.ts';

/** An error of the transport, in the form of JSON-RPC. `message` is the request that it answers, if it could be read. */
export function replyError(
  status: number,
  code: number,
  text: Redacted,
  message?: Json,
  headers: Readonly<Record<string, string>> = {},
): Response {
  const body = { jsonrpc: '2.0', error: { code, message: text }, id: idOf(message) };
  return Response.json(body, { status, headers: { 'cache-control': 'no-store', ...headers } });
}

function idOf(message: Json | undefined): string | number | null {
  if (message === undefined || !isJsonObject(message)) return null;
  const { id } = message;
  return typeof id === 'string' || typeof id === 'number' ? id : null;
}
