import type { ClientHttp2Session, ClientHttp2Stream } from 'node:http2';
import type { ExecuteToolRequestJson, ExecuteToolResponseJson, ExecuteToolsResponseJson } from '../index.ts';
import { FrameReader, prefixBytes } from './frames.ts';
import { traceHeaders } from './trace-headers.ts';
import type { TraceOptions } from './trace-headers.ts';
import type { Target } from './http-transport.ts';
import { GateError } from './transport.ts';

const contentType = 'application/connect+json';
/** Fewer than the gate takes, so that it is always told when a call is cancelled. */
const mostOpen = 128;
/** After so long without a call the stream gives its place at the gate back. */
const idleMs = 10_000;
/** Who cannot open it is behind something that does not speak HTTP/2; there the calls go one by one. */
const mostFailures = 3;
/** A larger call goes by itself, so that it does not hold up the others. */
const largestBytes = 256 * 1024;

interface OpenCall {
  readonly resolve: (answer: ExecuteToolResponseJson) => void;
  readonly reject: (error: unknown) => void;
  readonly stopListening: () => void;
}

/** One stream of a connection, once the gate has accepted it. */
interface Wire {
  readonly session: ClientHttp2Session;
  readonly stream: ClientHttp2Stream;
}

/**
 * Sends calls over one stream to the gate. The stream is opened with the second call: a program that makes one needs
 * none. As long as it is not open, and for calls that do not fit, `execute` says so, and the caller sends them by
 * themselves: nothing was sent then.
 */
export class CallStream {
  readonly #target: Target;
  readonly #credential: string;
  #state: 'unused' | 'closed' | 'opening' | Wire = 'unused';
  #failures = 0;
  #lastNumber = 0;
  readonly #open = new Map<number, OpenCall>();
  #waiting: string[] = [];
  #waitingBytes = 0;
  #idle: NodeJS.Timeout | undefined;

  constructor(target: Target, credential: string) {
    this.#target = target;
    this.#credential = credential;
  }

  /** Undefined: send it by itself. Rejects with GateError, or with the reason of the signal. */
  execute(
    call: ExecuteToolRequestJson,
    { signal, ...traced }: TraceOptions & { readonly signal?: AbortSignal | undefined } = {},
  ): Promise<ExecuteToolResponseJson> | undefined {
    if (typeof this.#state === 'string') {
      if (this.#state === 'closed') this.#connect();
      if (this.#state === 'unused') this.#state = 'closed';
      return undefined;
    }
    if (this.#open.size >= mostOpen || signal?.aborted === true) return undefined;
    const number = (this.#lastNumber + 1) % 2 ** 32;
    const text = JSON.stringify({ number, call, ...traceHeaders(traced) });
    if (Buffer.byteLength(text) > largestBytes || this.#open.has(number)) return undefined;
    this.#lastNumber = number;
    return new Promise((resolve, reject) => {
      const cancel = (): void => {
        this.#open.delete(number);
        this.#send(JSON.stringify({ number }));
        reject(signal?.reason as Error);
        this.#rest();
      };
      signal?.addEventListener('abort', cancel, { once: true });
      const stopListening = (): void => signal?.removeEventListener('abort', cancel);
      this.#open.set(number, { resolve, reject, stopListening });
      if (this.#open.size === 1) this.#wake();
      this.#send(text);
    });
  }

  close(): void {
    if (typeof this.#state !== 'string') this.#state.session.close();
    this.#state = 'unused';
  }

  /** What is sent in one turn of the event loop leaves in one piece. */
  #send(text: string): void {
    this.#waitingBytes += prefixBytes + Buffer.byteLength(text);
    if (this.#waiting.push(text) > 1) return;
    queueMicrotask(() => {
      const frames = this.#takeWaiting();
      if (typeof this.#state !== 'string') this.#state.stream.write(frames);
    });
  }

  /** As frames, in one block: a piece of memory for each is slow to make, and slower to take away. */
  #takeWaiting(): Buffer {
    const block = Buffer.allocUnsafe(this.#waitingBytes);
    let at = 0;
    for (const text of this.#waiting) {
      const length = block.write(text, at + prefixBytes);
      block[at] = 0;
      block.writeUInt32BE(length, at + 1);
      at += prefixBytes + length;
    }
    this.#waiting = [];
    this.#waitingBytes = 0;
    return block;
  }

  #connect(): void {
    if (this.#failures >= mostFailures) return;
    this.#state = 'opening';
    const { connect } = process.getBuiltinModule('node:http2');
    const session = connect('http://localhost', { createConnection: () => dial(this.#target) });
    const stream = session.request({
      // Every door takes this name. By itself node would add a port, which is the wrong one.
      ':authority': 'localhost',
      ':method': 'POST',
      ':path': '/sallyport.v1.ToolService/ExecuteTools',
      'content-type': contentType,
      'connect-protocol-version': '1',
      authorization: `Bearer ${this.#credential}`,
    });
    // Until there is a call on it, it keeps no process alive.
    session.unref();
    stream.once('response', (headers) => {
      if (headers[':status'] !== 200 || headers['content-type'] !== contentType) return session.destroy();
      this.#failures = 0;
      this.#state = { session, stream };
      this.#rest();
      this.#receive(stream, (cause) => this.#lose(session, cause));
    });
    for (const emitter of [session, stream]) emitter.on('error', ignore);
    session.once('close', () => {
      if (this.#state !== 'opening') return;
      this.#failures++;
      this.#state = 'closed';
    });
  }

  /** `onEnd` is called once, when nothing more will come. */
  #receive(stream: ClientHttp2Stream, onEnd: (cause: unknown) => void): void {
    const reader = new FrameReader();
    let hasEnded = false;
    const end = (cause?: unknown): void => {
      if (!hasEnded) onEnd(cause);
      hasEnded = true;
    };
    stream.on('data', (chunk: Uint8Array) => {
      if (hasEnded) return;
      try {
        for (const { isLast, text } of reader.take(chunk)) {
          if (isLast) return end();
          this.#take(JSON.parse(text) as ExecuteToolsResponseJson);
        }
      } catch (error) {
        end(error);
      }
    });
    stream.once('error', end);
    for (const event of ['end', 'close']) stream.once(event, () => end());
  }

  #take({ number = 0, response, error }: ExecuteToolsResponseJson): void {
    const call = this.#open.get(number);
    // An answer to a call that was cancelled.
    if (call === undefined) return;
    this.#open.delete(number);
    call.stopListening();
    if (response !== undefined) call.resolve(response);
    else call.reject(new GateError(error?.code ?? 'bad_answer', error?.message ?? 'The daemon gave no outcome.'));
    if (this.#open.size === 0) this.#rest();
  }

  /** Whatever is not answered by now may have run; the log knows. */
  #lose(session: ClientHttp2Session, cause: unknown): void {
    if (typeof this.#state !== 'string' && this.#state.session === session) this.#state = 'closed';
    clearTimeout(this.#idle);
    session.destroy();
    const calls = [...this.#open.values()];
    this.#open.clear();
    for (const { reject, stopListening } of calls) {
      stopListening();
      reject(new GateError('unreachable', 'The connection was lost before the answer was complete.', { cause }));
    }
  }

  #wake(): void {
    clearTimeout(this.#idle);
    if (typeof this.#state !== 'string') this.#state.session.ref();
  }

  /** Nothing is under way: it keeps no process alive, and is closed when that lasts. */
  #rest(): void {
    if (typeof this.#state === 'string' || this.#open.size > 0) return;
    const { session, stream } = this.#state;
    session.unref();
    clearTimeout(this.#idle);
    this.#idle = setTimeout(() => {
      if (this.#open.size > 0) return;
      this.#state = 'closed';
      stream.end();
      session.close();
    }, idleMs).unref();
  }
}

const ignore = (): void => undefined;

function dial(target: Target) {
  const { connect } = process.getBuiltinModule('node:net');
  return 'path' in target ? connect(target.path) : connect({ host: target.host, port: target.port, noDelay: true });
}
