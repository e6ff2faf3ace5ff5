import type { OutgoingHttpHeaders } from 'node:http';
import { describeCode } from '@sallyport/contract';
import { isRefusal } from '../../call/refusal.ts';
import type { Refusal } from '../../call/refusal.ts';
import type { Session } from '../../call/session.ts';
import type { Submit } from '../../call/submission.ts';
import { authenticate } from '../../sessions/authenticate.ts';
import type { Store } from '../../storage/stores.ts';
import type { HttpRequest, HttpResponse } from '../transport/http-route.ts';
import type { Callers, Peer } from '../transport/peer.ts';
import { harmlessBytes } from '../transport/read-body.ts';
import { RpcError } from '../transport/rpc-error.ts';
import { defaultLimits } from '../transport/transport-limits.ts';
import { findCaller } from '../check-caller.ts';
import { rpcErrorOf } from '../connect/present-answer.ts';
import { readCall } from '../connect/read-call.ts';
import type { CallRequest } from '../connect/read-call.ts';
import type { Presented } from './present-answer.ts';

export interface CallRouteParts {
  readonly store: Pick<Store, 'findSessionByToken'>;
  readonly submit: Submit;
  /** What the gate takes of arguments. */
  readonly maxArgumentBytes: () => number;
}

export type Receive = <Parsed>(request: HttpRequest, peer: Peer, parse: (bytes: Buffer) => Parsed) => Promise<Parsed>;

/** Whatever else a body holds. */
const maxEnvelopeBytes = 2 * 1024 * 1024;

/** Reads bodies with calls in them. What cannot be read is on record before the RpcError about it is thrown. */
export function openReceiver({ store, submit, maxArgumentBytes }: CallRouteParts): Receive {
  return async (request, peer, parse) => {
    try {
      return parse(await receiveBody(request, peer, () => findCaller(store, peer), largestBody(maxArgumentBytes())));
    } catch (error) {
      // Who goes away or is too slow has asked for nothing yet.
      if (!(error instanceof RpcError) || error.code === 'canceled' || error.code === 'deadline_exceeded') throw error;
      throw await recordMalformed(error, peer, submit);
    }
  };
}

/** What the doors ask about credentials. Attempts that are too large to be looked at are on record like any other. */
export function openCallers({ store, submit }: Pick<CallRouteParts, 'store' | 'submit'>): Callers {
  return {
    identify: (door, credential = '') => {
      const session = authenticate(store, { door, credential }, Date.now());
      return isRefusal(session) ? undefined : session.id;
    },
    refuse: (peer) => recordMalformed(unknownAndLarge, peer, submit),
  };
}

const unknownAndLarge = new RpcError(
  'unauthenticated',
  `A request of more than ${harmlessBytes} bytes needs a credential in its headers, or at the start of its message.`,
);

export function sendJson(response: HttpResponse, { status, body, retryAfterMs }: Presented): void {
  const text = JSON.stringify(body);
  const headers: OutgoingHttpHeaders = {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(text),
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
  };
  if (status === 401) headers['www-authenticate'] = 'Bearer';
  if (retryAfterMs !== undefined) headers['retry-after'] = String(Math.ceil(retryAfterMs / 1000));
  response.writeHead(status, headers);
  response.end(text);
}

/** What cannot be read goes the way of every call, so that it is on record before it is answered. */
async function recordMalformed(error: RpcError, peer: Peer, submit: Submit): Promise<RpcError> {
  const { ended, problem } = await submit({
    ...readCall(unreadable, peer),
    violations: [{ field: 'body', rule: 'form', message: error.message }],
  });
  if (problem === undefined || problem.code === 'MALFORMED_CALL') return error;
  const { connect, meaning } = describeCode(problem.code);
  // A caller whose credential is not accepted is told that instead.
  return ended === 'faulted' ? new RpcError(connect, meaning) : rpcErrorOf(problem);
}

const unreadable: CallRequest = {
  name: 'unreadable',
  inputJson: '',
  requestId: '',
  timeoutMs: 0,
  dedupeKey: '',
  confirmBinding: '',
};

/**
 * Room for arguments with every character escaped, and no more than that: here they are parsed before the gate looks at
 * their size, and what other doors take would hold up every other caller for seconds.
 */
function largestBody(maxArgumentBytes: number): number {
  return Math.min(2 * maxArgumentBytes + maxEnvelopeBytes, defaultLimits.maxMessageBytes);
}

async function receiveBody(
  request: HttpRequest,
  peer: Peer,
  identify: () => Session | Refusal,
  maxKnownBytes: number,
): Promise<Buffer> {
  const { 'content-type': type = '', 'content-encoding': encoding = 'identity' } = request.headers;
  const { 'content-length': contentLength } = request.headers;
  if (!/^application\/json\s*(?:;\s*charset="?utf-8"?\s*)?$/i.test(type)) {
    throw new RpcError('invalid_argument', 'The content type must be application/json.');
  }
  if (encoding !== 'identity') throw new RpcError('unimplemented', 'Compressed messages are not accepted.');
  // The form cannot be told before the body is parsed, so from callers who are not known only a small one is taken. Who
  // sends one that is small anyway, only the gate asks.
  const isSmall = Number(contentLength) <= harmlessBytes;
  const maxBytes = !isSmall && isRefusal(identify()) ? harmlessBytes : maxKnownBytes;
  try {
    return await peer.readBody(request, { maxBytes, contentLength });
  } catch (error) {
    // That the credential is missing helps more than how little would have been read without one.
    const caller = identify();
    throw isRefusal(caller) ? rpcErrorOf(caller) : error;
  }
}
