import { isUtf8 } from 'node:buffer';
import { parseStrictJson, StrictJsonError } from '@sallyport/contract';
import type { Json } from '@sallyport/contract';
import { checkJsonShape } from '../transport/wire/check-shape.ts';
import type { HttpRequest, WholeRequest } from '../transport/http-route.ts';
import type { Peer } from '../transport/peer.ts';
import { RpcError } from '../transport/rpc-error.ts';

/** What was posted is no message: the answer of HTTP and of JSON-RPC, and why. */
export class UnreadableMessage extends Error {
  readonly status: number;
  readonly code: number;

  constructor(status: number, code: number, message: string) {
    super(message);
    this.name = 'UnreadableMessage';
    this.status = status;
    this.code = code;
  }
}

const parseError = -32700;
const transportError = -32000;

/**
 * Reads a posted message as strictly as arguments are read, of which it may hold some. Throws UnreadableMessage, and
 * RpcError for a caller who goes away.
 */
export async function receiveMessage(
  request: HttpRequest | WholeRequest,
  peer: Pick<Peer, 'readBody'>,
  maxBytes: number,
): Promise<Json> {
  const { 'content-type': type = '', 'content-encoding': encoding = 'identity' } = request.headers;
  if (!/^application\/json\s*(?:;.*)?$/i.test(type)) {
    throw new UnreadableMessage(415, transportError, 'The content type must be application/json.');
  }
  if (encoding !== 'identity')
    throw new UnreadableMessage(415, transportError, 'Compressed messages are not accepted.');
  // What came whole is small.
  const bytes = 'body' in request ? request.body : await receiveBody(request, peer, maxBytes);
  if (!isUtf8(bytes)) throw new UnreadableMessage(400, parseError, 'The message is not UTF-8.');
  try {
    return parseStrictJson(bytes.toString());
  } catch (error) {
    if (!(error instanceof StrictJsonError)) throw error;
    throw new UnreadableMessage(400, parseError, `The message is not acceptable JSON: ${error.message}.`);
  }
}

async function receiveBody(request: HttpRequest, peer: Pick<Peer, 'readBody'>, maxBytes: number): Promise<Buffer> {
  try {
    const bytes = await peer.readBody(request, { maxBytes, contentLength: request.headers['content-length'] });
    checkJsonShape(bytes);
    return bytes;
  } catch (error) {
    if (!(error instanceof RpcError) || error.code === 'canceled' || error.code === 'deadline_exceeded') throw error;
    throw new UnreadableMessage(413, transportError, error.message);
  }
}
