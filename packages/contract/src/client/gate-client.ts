import { frameText, readFrames, readText } from './frames.ts';
import type { AnswerOf, RequestOf, UnaryMethod, WatchMethod } from './methods.ts';
import { GateError } from './transport.ts';
import type { Reply, Transport } from './transport.ts';

export interface SendOptions {
  /** Aborting closes the connection, by which the daemon cancels the call. */
  readonly signal?: AbortSignal | undefined;
  /** Besides those of the protocol. */
  readonly headers?: Readonly<Record<string, string>>;
}

export interface WatchOptions extends SendOptions {
  /** Told once the daemon has taken the request. */
  readonly onOpen?: () => void;
}

/**
 * Calls of the Connect protocol, with JSON. Whatever goes wrong on the way is a GateError, unless the caller gave up:
 * then it is the reason of their signal.
 */
export class GateClient {
  readonly #transport: Transport;
  readonly #credential: () => string | undefined;

  /** The credential is read for each request. Undefined: nobody is logged in. */
  constructor(transport: Transport, credential: () => string | undefined) {
    this.#transport = transport;
    this.#credential = credential;
  }

  call<Method extends UnaryMethod>(
    method: Method,
    request: RequestOf<Method>,
    options?: SendOptions,
  ): Promise<AnswerOf<Method>> {
    return this.post<AnswerOf<Method>>(pathOf(method), request, options);
  }

  /** For a path that is no method: one JSON object there, one back. */
  async post<Answer>(path: string, message: object, options: SendOptions = {}): Promise<Answer> {
    try {
      const body = new TextEncoder().encode(JSON.stringify(message));
      return (await readAnswer(await this.#send(path, 'application/json', body, options))) as Answer;
    } catch (error) {
      throw explainError(error, options);
    }
  }

  /** The messages of an answer that streams. Leaving it before its end cancels the call. */
  async *watch<Method extends WatchMethod>(
    method: Method,
    request: RequestOf<Method>,
    options: WatchOptions = {},
  ): AsyncGenerator<AnswerOf<Method>, void, undefined> {
    try {
      const body = frameText(JSON.stringify(request));
      const reply = await this.#send(pathOf(method), 'application/connect+json', body, options);
      if (reply.status !== 200) await readAnswer(reply);
      options.onOpen?.();
      let isComplete = false;
      // Read to its end, so that the connection can serve the next call.
      for await (const { isLast, text } of readFrames(reply.body)) {
        const content = parse(text, reply.status) as { readonly error?: unknown };
        if (!isLast) yield content as AnswerOf<Method>;
        else if (content.error !== undefined) throw readError(content.error, reply.status);
        else isComplete = true;
      }
      if (!isComplete) throw new GateError('unreachable', 'The connection was lost before the answer was complete.');
    } catch (error) {
      throw explainError(error, options);
    }
  }

  close(): void {
    this.#transport.close();
  }

  #send(path: string, format: string, body: Uint8Array<ArrayBuffer>, options: SendOptions): Promise<Reply> {
    const { signal, headers } = options;
    const credential = this.#credential();
    return this.#transport.post({
      path,
      headers: {
        'content-type': format,
        'connect-protocol-version': '1',
        ...(credential === undefined ? {} : { authorization: `Bearer ${credential}` }),
        ...headers,
      },
      body,
      ...(signal === undefined ? {} : { signal }),
    });
  }
}

function pathOf(method: string): string {
  return `/sallyport.v1.${method}`;
}

function explainError(error: unknown, { signal }: SendOptions): unknown {
  if (signal?.aborted === true) return signal.reason;
  if (error instanceof GateError) return error;
  const reason = error instanceof Error ? error.message : String(error);
  const message = `The gate cannot be reached, or the connection was lost: ${reason}`;
  return new GateError('unreachable', message, { cause: error });
}

/** Throws the error that the answer is, if it is one. */
async function readAnswer({ status, body }: Reply): Promise<unknown> {
  const answer = parse(await readText(body), status);
  if (status !== 200) throw readError(answer, status);
  return answer;
}

function parse(text: string, status: number): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new GateError('bad_answer', `The daemon gave no readable answer (HTTP ${status}).`, { cause: error });
  }
}

/** An error of Connect, in its JSON form. */
function readError(answer: unknown, status: number): GateError {
  const { code, message } = (answer ?? {}) as { readonly code?: unknown; readonly message?: unknown };
  const said = typeof message === 'string' && message !== '' ? message : `The daemon answered HTTP ${status}.`;
  return new GateError(typeof code === 'string' ? code : 'bad_answer', said);
}
