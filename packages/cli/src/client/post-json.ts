import type { IncomingMessage } from 'node:http';
import { exitCodes } from '@sallyport/contract/codes';
import { CommandFailure, interrupted } from './failure.ts';
import type { Target } from './target.ts';

// Importing node:http as a module reads every export, which loads the whole fetch stack behind some of them: 35 ms.
const http = process.getBuiltinModule('node:http');
const net = process.getBuiltinModule('node:net');

const maxAnswerBytes = 64 * 1024 * 1024;

export interface Post {
  readonly target: Target;
  readonly path: string;
  readonly credential: string;
  readonly message: object;
  /** Aborting closes the connection, by which the daemon cancels the call. */
  readonly signal?: AbortSignal;
  /** W3C trace context. Absent: the daemon begins a trace. */
  readonly traceparent?: string;
}

/** One unary Connect call with JSON. Rejects with CommandFailure, or with the error of a connection that never stood. */
export async function postJson(post: Post): Promise<unknown> {
  const { status, body } = await exchange(post);
  let answer: unknown;
  try {
    answer = JSON.parse(body);
  } catch {
    throw new CommandFailure('BAD_ANSWER', exitCodes.toolError, `The daemon gave no readable answer (HTTP ${status}).`);
  }
  if (status === 200) return answer;
  throw readFailure(answer, `The daemon answered HTTP ${status}.`);
}

/** An error of Connect, in its JSON form. */
export function readFailure(answer: unknown, otherwise: string): RpcFailure {
  const { code, message } = (answer ?? {}) as { code?: unknown; message?: unknown };
  const said = typeof message === 'string' && message !== '' ? message : otherwise;
  return new RpcFailure(typeof code === 'string' ? code : 'unknown', said);
}

/** The daemon did not take the request; `connectCode` is the reason in the words of Connect. */
export class RpcFailure extends CommandFailure {
  readonly connectCode: string;

  constructor(connectCode: string, message: string) {
    super(connectCode.toUpperCase(), exitCodeOf(connectCode), message);
    this.connectCode = connectCode;
  }
}

function exitCodeOf(connectCode: string): number {
  if (connectCode === 'invalid_argument') return exitCodes.usage;
  if (connectCode === 'unavailable') return exitCodes.unreachable;
  const refusals = ['unauthenticated', 'permission_denied', 'not_found', 'failed_precondition', 'resource_exhausted'];
  return refusals.includes(connectCode) ? exitCodes.denied : exitCodes.toolError;
}

async function exchange(post: Post): Promise<{ status: number; body: string }> {
  const response = await openResponse(post, 'application/json', Buffer.from(JSON.stringify(post.message)));
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of readChunks(response, post)) {
    chunks.push(chunk);
    length += chunk.length;
    if (length > maxAnswerBytes) throw lostConnection(new Error('the answer is too long'));
  }
  return { status: response.statusCode ?? 0, body: Buffer.concat(chunks).toString('utf8') };
}

/** Sends the request and waits for the head of the answer. Rejects as `postJson` does. */
export function openResponse(post: Post, contentType: string, body: Buffer): Promise<IncomingMessage> {
  const { target, path, credential, signal, traceparent } = post;
  return new Promise((resolve, reject) => {
    let connected = false;
    const request = http.request({
      // Without an agent, which would first compile a large expression to see whether `localhost` is an IP address: 7 ms.
      createConnection: () => net.connect(target),
      path,
      method: 'POST',
      headers: {
        // Every door takes this name. By itself node would add a port, which is the wrong one.
        host: 'localhost',
        'content-type': contentType,
        'content-length': body.length,
        'connect-protocol-version': '1',
        authorization: `Bearer ${credential}`,
        ...(traceparent === undefined ? {} : { traceparent }),
      },
      ...(signal === undefined ? {} : { signal }),
    });
    request.on('socket', (socket) => socket.once('connect', () => (connected = true)));
    request.on('error', (error) => {
      if (signal?.aborted) reject(interrupted());
      else reject(connected ? lostConnection(error) : error);
    });
    request.on('response', resolve);
    request.end(body);
  });
}

export async function* readChunks(response: IncomingMessage, { signal }: Post): AsyncGenerator<Buffer> {
  try {
    yield* response as AsyncIterable<Buffer>;
  } catch (error) {
    throw signal?.aborted ? interrupted() : lostConnection(error as Error);
  }
}

function lostConnection(cause: Error): CommandFailure {
  return new CommandFailure('CONNECTION_LOST', exitCodes.unreachable, 'The daemon ended before it answered.', {
    cause,
    remedy: 'Whether the call had an effect is in the log: see `audit tail` once the daemon runs again.',
  });
}
