import { randomUUID } from 'node:crypto';
import { specTypeSchemas } from '@modelcontextprotocol/server';
import type { JsonObject } from '@sallyport/contract';
import type { Answer } from '../../call/answer.ts';
import { Cancellation } from '../../call/cancellation.ts';
import type { AbortLike } from '../../call/cancellation.ts';
import type { AskCaller, CallerQuestion } from '../../call/tool.ts';
import { RpcError } from '../transport/rpc-error.ts';

/** Whose call it is, and which one: nobody else goes on with it, and not with other arguments. */
export interface CallKey {
  readonly owner: string;
  readonly callName: string;
}

/** A call that goes on while its client looks for answers. */
export interface AskedBack {
  /** What the client has to bring back. */
  readonly state: string;
  readonly questions: Readonly<Record<string, CallerQuestion>>;
}

/** What a call that may ask its client runs with. */
export interface ParkedRun {
  readonly signal: AbortLike;
  readonly askCaller: AskCaller;
}

interface ParkedCall extends CallKey {
  /** Another one for every round. */
  state: string;
  readonly cancellation: Cancellation;
  readonly questions: Map<
    string,
    { readonly question: CallerQuestion; readonly answer: (said: JsonObject | undefined) => void }
  >;
  ended: Promise<Answer>;
  /** Resolves when there is a question. */
  asked: PromiseWithResolvers<void>;
  lastQuestion: number;
  /** Runs while no request waits for the call. */
  timer?: NodeJS.Timeout;
}

const mostOfOwner = 16;
const mostInAll = 512;
/** A person who has not answered by then has gone; so has a client that has not fetched its answer. */
const keepMs = 10 * 60_000;
const prefix = 'call:';

/**
 * Calls of clients of the newer protocol, who are asked between two requests: the first request ends with the questions,
 * and the next one brings the answers. Meanwhile the call itself goes on. It is one call, judged, charged and recorded
 * once.
 */
export class ParkedCalls {
  readonly #calls = new Map<string, ParkedCall>();

  /** Whether a state that a client brings back is that of such a call. */
  static isState(state: unknown): state is string {
    return typeof state === 'string' && state.startsWith(prefix);
  }

  /** Runs a call until it has ended or has a question. `answers`: what the client can be asked. */
  run(
    begin: (run: ParkedRun) => Promise<Answer>,
    {
      answers,
      signal,
      ...key
    }: CallKey & { readonly answers: (question: CallerQuestion) => boolean; readonly signal: AbortLike },
  ): Promise<Answer | AskedBack> {
    const cancellation = new Cancellation();
    const askCaller: AskCaller = async (question, ended) =>
      answers(question) && this.#hasRoom(key.owner) ? this.#ask(parked, question, ended) : undefined;
    const parked: ParkedCall = {
      ...{ ...key, state: '', cancellation, questions: new Map(), lastQuestion: 0 },
      asked: Promise.withResolvers(),
      ended: Promise.race([]),
    };
    parked.ended = begin({ signal: cancellation, askCaller });
    // Whether anybody waits for it or not.
    parked.ended.catch(() => undefined);
    return this.#next(parked, signal);
  }

  /** Goes on with a call. Undefined: there is no such call of this caller, or not any more. */
  resume(
    state: string,
    said: Readonly<Record<string, unknown>>,
    { owner, callName, signal }: CallKey & { readonly signal: AbortLike },
  ): Promise<Answer | AskedBack> | undefined {
    const parked = this.#calls.get(state);
    if (parked?.owner !== owner || parked.callName !== callName) return undefined;
    // One request at a time waits for it, so a state is good for one round.
    this.#calls.delete(state);
    clearTimeout(parked.timer);
    for (const [key, { question, answer }] of [...parked.questions]) {
      if (!Object.hasOwn(said, key)) continue;
      parked.questions.delete(key);
      answer(readAnswer(question, said[key]));
    }
    return this.#next(parked, signal);
  }

  async #next(parked: ParkedCall, signal: AbortLike): Promise<Answer | AskedBack> {
    const { cancellation, ended, questions } = parked;
    const leave = (): void => cancellation.abort(signal.reason);
    if (signal.aborted) leave();
    signal.addEventListener('abort', leave, { once: true });
    try {
      while (questions.size === 0) {
        parked.asked = Promise.withResolvers();
        const answer = await Promise.race([ended, parked.asked.promise]);
        if (answer !== undefined) return answer;
      }
    } finally {
      signal.removeEventListener('abort', leave);
    }
    const state = `${prefix}${randomUUID()}`;
    parked.state = state;
    parked.timer = setTimeout(() => this.#abandon(parked), keepMs).unref();
    this.#calls.set(state, parked);
    return { state, questions: Object.fromEntries([...questions].map(([key, { question }]) => [key, question])) };
  }

  #ask(parked: ParkedCall, question: CallerQuestion, ended: AbortSignal): Promise<JsonObject | undefined> {
    const { promise, resolve, reject } = Promise.withResolvers<JsonObject | undefined>();
    parked.lastQuestion += 1;
    const key = String(parked.lastQuestion);
    const stop = (): void => {
      parked.questions.delete(key);
      reject(ended.reason);
    };
    if (ended.aborted) stop();
    ended.addEventListener('abort', stop, { once: true });
    parked.questions.set(key, { question, answer: resolve });
    parked.asked.resolve();
    return promise.finally(() => ended.removeEventListener('abort', stop));
  }

  #abandon(parked: ParkedCall): void {
    this.#calls.delete(parked.state);
    parked.cancellation.abort(new RpcError('canceled', 'The client did not come back with an answer.'));
  }

  #hasRoom(owner: string): boolean {
    const own = [...this.#calls.values()].filter((parked) => parked.owner === owner);
    return own.length < mostOfOwner && this.#calls.size < mostInAll;
  }
}

/** Undefined: it is no answer to this question. */
function readAnswer({ method }: CallerQuestion, said: unknown): JsonObject | undefined {
  const { ElicitResult, CreateMessageResult } = specTypeSchemas;
  const schema = method === 'elicitation/create' ? ElicitResult : CreateMessageResult;
  const read = schema['~standard'].validate(said);
  return read.issues === undefined ? (read.value as unknown as JsonObject) : undefined;
}
