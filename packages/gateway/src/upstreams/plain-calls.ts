import { ProtocolError, SdkError, SdkErrorCode } from '@modelcontextprotocol/client';
import type { CallToolResult, JSONRPCMessage, Progress } from '@modelcontextprotocol/client';
import type { JsonObject } from '@sallyport/contract';
import type { AbortLike } from '../call/cancellation.ts';
import { isPlainResult } from './is-plain-result.ts';

export interface PlainCallOptions {
  readonly signal: AbortLike;
  readonly timeoutMs: number;
  readonly onProgress: (progress: Progress) => void;
  /** Absent: nobody follows the trace. */
  readonly traceparent?: string | undefined;
  /** Whether the server speaks the newer protocol. */
  readonly isModern: boolean;
}

/** An answer without the usual shape. The SDK reads it, when it sends a request with this `_meta`. */
export class OddAnswer {
  readonly meta: JsonObject;

  constructor(mark: number) {
    this.meta = { [markKey]: mark };
  }
}

interface OpenCall extends Pick<PlainCallOptions, 'onProgress'> {
  /** By `performance.now`. */
  readonly untilMs: number;
  readonly giveUp: () => void;
  readonly settle: (answer: Fields) => void;
  readonly fail: (error: Error) => void;
}

type Fields = Readonly<Record<string, unknown>>;

/** The SDK counts its own requests from zero, and will not reach this number. */
const firstId = 1_000_000_000;
/** One timer for all: the gate ends calls to the millisecond, and what is late here is late already. */
const lookEveryMs = 250;
const markKey = 'sallyport/odd-answer';
const envelopePrefix = 'io.modelcontextprotocol/';

/**
 * The calls of tools on one connection, beside the SDK. Everything without the usual shape is left to the SDK: messages
 * that belong to none of these calls, and answers that are not plain results.
 */
export class PlainCalls {
  readonly #write: (line: string) => void;
  readonly #open = new Map<number, OpenCall>();
  readonly #odd = new Map<number, Fields>();
  #lastId = firstId;
  #looking: NodeJS.Timeout | undefined;
  /** What the SDK sends with every request to a server of the newer protocol. */
  #envelope: Fields = {};

  constructor(write: (line: string) => void) {
    this.#write = write;
  }

  /** Rejects as a request of the SDK does, and with the reason of the signal. */
  call(name: string, args: JsonObject, options: PlainCallOptions): Promise<CallToolResult | OddAnswer> {
    const { signal, timeoutMs, onProgress, isModern, traceparent } = options;
    return new Promise((resolve, reject) => {
      if (signal.aborted) throw signal.reason;
      const id = (this.#lastId += 1);
      const leave = (): void => {
        this.#open.delete(id);
        signal.removeEventListener('abort', abort);
      };
      const giveUp = (error: Error, reason: string): void => {
        leave();
        const cancelled = { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: id, reason } };
        this.#write(`${JSON.stringify(cancelled)}\n`);
        reject(error);
      };
      const abort = (): void => giveUp(signal.reason as Error, 'The caller cancelled the call.');
      const late = (): void =>
        giveUp(new SdkError(SdkErrorCode.RequestTimeout, 'Request timed out'), 'The server did not answer in time.');
      signal.addEventListener('abort', abort, { once: true });
      this.#looking ??= setInterval(() => this.#endLate(), lookEveryMs);
      this.#open.set(id, {
        onProgress,
        untilMs: performance.now() + timeoutMs,
        giveUp: late,
        settle: (answer) => {
          leave();
          const { result, error } = answer;
          if (isRecord(error))
            reject(ProtocolError.fromError(error['code'] as number, error['message'] as string, error['data']));
          else if (isPlainResult(result, { isModern })) resolve(result);
          else resolve(this.#keepOdd(id, answer));
        },
        fail: (error) => {
          leave();
          reject(error);
        },
      });
      const trace = traceparent === undefined ? {} : { traceparent };
      const params = { name, arguments: args, _meta: { ...this.#envelope, ...trace, progressToken: id } };
      this.#write(`${JSON.stringify({ jsonrpc: '2.0', id, method: 'tools/call', params })}\n`);
    });
  }

  /** Takes the answer to one of these calls, and what the server says while it works. Undefined: it is for the SDK. */
  take(message: unknown): 'answer' | 'other' | undefined {
    if (!isRecord(message) || message['jsonrpc'] !== '2.0') return undefined;
    const { id, method, params } = message;
    if (method === undefined) {
      const call = typeof id === 'number' ? this.#open.get(id) : undefined;
      if (call === undefined || !isAnswer(message)) return undefined;
      call.settle(message);
      return 'answer';
    }
    if (method !== 'notifications/progress' || id !== undefined || !isRecord(params)) return undefined;
    const { progressToken, ...progress } = params;
    const call = typeof progressToken === 'number' ? this.#open.get(progressToken) : undefined;
    if (call === undefined || !isProgress(progress)) return undefined;
    call.onProgress(progress);
    return 'other';
  }

  /** The answer to a message of the SDK that asks about an odd one. Undefined: the message is for the server. */
  watch(message: JSONRPCMessage): JSONRPCMessage | undefined {
    if (!('method' in message) || !('id' in message)) return undefined;
    const { _meta: meta = {} } = (message.params ?? {}) as { readonly _meta?: Fields };
    const mark = meta[markKey];
    if (typeof mark !== 'number') {
      this.#envelope = Object.fromEntries(Object.entries(meta).filter(([key]) => key.startsWith(envelopePrefix)));
      return undefined;
    }
    const odd = this.#odd.get(mark);
    this.#odd.delete(mark);
    return { ...odd, jsonrpc: '2.0', id: message.id } as JSONRPCMessage;
  }

  /** The connection is gone, so no answer will come. */
  close(error: Error): void {
    for (const { fail } of this.#open.values()) fail(error);
  }

  #endLate(): void {
    const nowMs = performance.now();
    for (const { untilMs, giveUp } of this.#open.values()) if (untilMs <= nowMs) giveUp();
    if (this.#open.size > 0) return;
    clearInterval(this.#looking);
    this.#looking = undefined;
  }

  #keepOdd(mark: number, answer: Fields): OddAnswer {
    this.#odd.set(mark, answer);
    return new OddAnswer(mark);
  }
}

/** Exactly a result, or exactly an error. */
function isAnswer(message: Fields): boolean {
  const { result, error } = message;
  for (const key in message) if (key !== 'jsonrpc' && key !== 'id' && key !== 'result' && key !== 'error') return false;
  if (error === undefined) return isRecord(result);
  return (
    result === undefined &&
    isRecord(error) &&
    Number.isSafeInteger(error['code']) &&
    typeof error['message'] === 'string'
  );
}

function isProgress(news: Fields): news is Fields & Progress {
  const { progress, total, message } = news;
  return (
    typeof progress === 'number' &&
    (total === undefined || typeof total === 'number') &&
    (message === undefined || typeof message === 'string')
  );
}

function isRecord(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
