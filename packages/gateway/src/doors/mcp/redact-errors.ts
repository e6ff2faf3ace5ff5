import { ProtocolErrorCode } from '@modelcontextprotocol/server';
import type { JSONRPCErrorResponse, Transport } from '@modelcontextprotocol/server';
import { codes } from '@sallyport/contract';
import type { Json } from '@sallyport/contract';
import type { Redactor } from '../../redaction/redact.ts';

const internalError: number = ProtocolErrorCode.InternalError;

export interface ErrorParts {
  readonly redactor: Pick<Redactor, 'redactText' | 'redactJson'>;
  /** Is told of what went wrong in the door itself, which the client is not told. */
  readonly onFault: (error: Error) => void;
}

/**
 * Takes secrets out of the errors that a server sends. The SDK and the handlers put into them what the client sent, and
 * the SDK even the message of whatever was thrown, of which a client sees only that it happened.
 */
export function redactErrors(transport: Transport, parts: ErrorParts): void {
  const send = transport.send.bind(transport);
  transport.send = (message, options) =>
    send('error' in message ? { ...message, error: redactError(message.error, parts) } : message, options);
}

/** The same for what the SDK answers before it asks a server. */
export async function redactReply(reply: Response, parts: ErrorParts): Promise<Response> {
  const { status, headers } = reply;
  if (status < 400 || !/\bjson\b/.test(headers.get('content-type') ?? '')) return reply;
  const body = JSON.parse(await reply.text()) as { readonly error?: JSONRPCErrorResponse['error'] };
  const told = body.error === undefined ? body : { ...body, error: redactError(body.error, parts) };
  return Response.json(told, { status, headers: { 'cache-control': 'no-store', ...keptHeaders(headers) } });
}

function redactError(error: JSONRPCErrorResponse['error'], { redactor, onFault }: ErrorParts): typeof error {
  const { code, message, data } = error;
  if (code === internalError) {
    onFault(new Error(message));
    return { code, message: codes.INTERNAL.meaning };
  }
  const more = data === undefined ? {} : { data: redactor.redactJson(data as Json) };
  return { code, message: redactor.redactText(message), ...more };
}

/** What the length and the type of the body have to do with is said anew. */
function keptHeaders(headers: Headers): Record<string, string> {
  return Object.fromEntries([...headers].filter(([name]) => !name.startsWith('content-')));
}
