import type { Exchange, Reply } from './exchange.ts';
import { GateError } from './gate-error.ts';

const prefixBytes = 5;
const endFlag = 0x02;
const maxAnswerBytes = 64 * 1024 * 1024;

/**
 * Calls of the Connect protocol, with JSON. Whatever goes wrong on the way is a GateError, unless the caller gave up:
 * then it is the reason of their signal.
 */
export class GateConnection {
  readonly #exchange: Exchange;
  readonly #authorization: string;

  constructor(exchange: Exchange, token: string) {
    this.#exchange = exchange;
    this.#authorization = `Bearer ${token}`;
  }

  async ask(method: string, message: object, signal?: AbortSignal): Promise<unknown> {
    try {
      const body = Buffer.from(JSON.stringify(message));
      const { status, text } = await readWhole(await this.#post(method, 'application/json', body, signal));
      const answer = parse(text, status);
      if (status !== 200) throw readError(answer, status);
      return answer;
    } catch (error) {
      throw explainError(error, signal);
    }
  }

  /** The messages of an answer that streams. Leaving it before its end cancels the call. */
  async *stream(method: string, message: object, signal?: AbortSignal): AsyncGenerator<unknown> {
    try {
      const body = frame(Buffer.from(JSON.stringify(message)));
      const reply = await this.#post(method, 'application/connect+json', body, signal);
      if (reply.status !== 200) {
        const { text } = await readWhole(reply);
        throw readError(parse(text, reply.status), reply.status);
      }
      let isComplete = false;
      // Read to its end, so that the connection can serve the next call.
      for await (const { flag, bytes } of readFrames(reply.body)) {
        const content = parse(bytes.toString(), reply.status) as { readonly error?: unknown };
        if (flag !== endFlag) yield content;
        else if (content.error !== undefined) throw readError(content.error, reply.status);
        else isComplete = true;
      }
      if (!isComplete) throw new GateError('unreachable', 'The connection was lost before the answer was complete.');
    } catch (error) {
      throw explainError(error, signal);
    }
  }

  close(): void {
    this.#exchange.close();
  }

  #post(method: string, format: string, body: Uint8Array<ArrayBuffer>, signal?: AbortSignal): Promise<Reply> {
    const headers = { 'content-type': format, 'connect-protocol-version': '1', authorization: this.#authorization };
    return this.#exchange.post({ path: `/${method}`, headers, body, ...(signal === undefined ? {} : { signal }) });
  }
}

function explainError(error: unknown, signal: AbortSignal | undefined): unknown {
  if (signal?.aborted === true) return signal.reason;
  if (error instanceof GateError) return error;
  const reason = error instanceof Error ? error.message : String(error);
  const message = `The gate cannot be reached, or the connection was lost: ${reason}`;
  return new GateError('unreachable', message, { cause: error });
}

async function readWhole({ status, body }: Reply): Promise<{ readonly status: number; readonly text: string }> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of body) {
    length += chunk.length;
    if (length > maxAnswerBytes) throw tooLong();
    chunks.push(chunk);
  }
  return { status, text: Buffer.concat(chunks).toString() };
}

function frame(message: Buffer): Buffer<ArrayBuffer> {
  const prefix = Buffer.alloc(prefixBytes);
  prefix.writeUInt32BE(message.length, 1);
  return Buffer.concat([prefix, message]);
}

/** Each message has a flag and its length before it. */
async function* readFrames(body: AsyncIterable<Uint8Array>): AsyncGenerator<{ flag: number; bytes: Buffer }> {
  let waiting: Uint8Array[] = [];
  let size = 0;
  let wanted = prefixBytes;
  for await (const chunk of body) {
    waiting.push(chunk);
    size += chunk.length;
    // Joined only when a prefix or a message is complete: joining at every chunk would copy long messages many times.
    while (size >= wanted) {
      const joined = Buffer.concat(waiting);
      const end = prefixBytes + joined.readUInt32BE(1);
      if (end > maxAnswerBytes) throw tooLong();
      const isWhole = size >= end;
      if (isWhole) yield { flag: joined.readUInt8(0), bytes: joined.subarray(prefixBytes, end) };
      const rest = isWhole ? joined.subarray(end) : joined;
      waiting = [rest];
      size = rest.length;
      wanted = isWhole ? prefixBytes : end;
    }
  }
}

function parse(text: string, status: number): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new GateError('bad_answer', `There was no readable answer (HTTP ${status}).`, { cause: error });
  }
}

function readError(answer: unknown, status: number): GateError {
  const { code, message } = (answer ?? {}) as { readonly code?: unknown; readonly message?: unknown };
  const said = typeof message === 'string' && message !== '' ? message : `The answer was HTTP ${status}.`;
  return new GateError(typeof code === 'string' ? code : 'bad_answer', said);
}

function tooLong(): GateError {
  return new GateError('bad_answer', `The answer is longer than ${maxAnswerBytes} bytes.`);
}
