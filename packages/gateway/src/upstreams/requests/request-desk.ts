import type { JsonObject } from '@sallyport/contract';
import { signalOf } from '../../call/cancellation.ts';
import type { AbortLike } from '../../call/cancellation.ts';
import type { Asking } from '../../call/tool.ts';
import type { UpstreamConfig } from '../upstream-config.ts';
import { answerRequest, answerRoots, refuseRequest } from './answer-request.ts';
import type { DecidedRequest, RequestParts } from './answer-request.ts';
import type { ServerRequest } from './request-kinds.ts';

/** Throws RequestRefused. */
export type AnswerRequest = (request: ServerRequest) => Promise<JsonObject>;

export interface DeskParts {
  /** A server asked for something while it worked, and this was decided. */
  readonly onRequest: (request: DecidedRequest) => void;
  /** What the rules say about a request without a caller. */
  readonly judgeRequest: Asking['judge'];
}

/** A call that runs, as far as the server may ask back in it. */
export interface AskableCall extends Pick<RequestParts, 'callId' | 'asking'> {
  readonly signal: AbortLike;
}

/** The most requests in one call. */
const mostRequests = 20;
const notAllowed = 'its file does not allow such requests';
const neverAborts = new AbortController().signal;

/** Receives the requests of one server: finds the call that each belongs to, and has it decided. */
export class RequestDesk {
  readonly #upstream: UpstreamConfig;
  readonly #parts: DeskParts;
  readonly #calls = new Set<AnswerRequest>();

  constructor(upstream: UpstreamConfig, parts: DeskParts) {
    this.#upstream = upstream;
    this.#parts = parts;
  }

  get isIdle(): boolean {
    return this.#calls.size === 0;
  }

  /** How requests are answered within this call, until `leave`. */
  enter(call: AskableCall): AnswerRequest {
    let requests = 0;
    const answer: AnswerRequest = async (request) => {
      const signal = signalOf(call.signal);
      const parts: RequestParts = { ...call, signal, upstream: this.#upstream, record: this.#parts.onRequest };
      if (!this.#upstream.mayAsk.includes(request.kind)) throw refuseRequest(request, parts, notAllowed);
      if (++requests > mostRequests) throw refuseRequest(request, parts, 'the server asked too often in this call');
      return request.kind === 'roots' ? this.#answerRoots(request, parts) : answerRequest(request, parts);
    };
    this.#calls.add(answer);
    return answer;
  }

  leave(answer: AnswerRequest): void {
    this.#calls.delete(answer);
  }

  /**
   * A server of the older protocol does not say for which call it asks. It is clear while one runs; while several do,
   * a question could reach somebody else's person.
   */
  readonly answer: AnswerRequest = async (request) => {
    const [answer, ...others] = this.#calls;
    if (answer !== undefined && others.length === 0) return answer(request);
    const parts = { upstream: this.#upstream, record: this.#parts.onRequest, signal: neverAborts };
    if (request.kind === 'roots') return this.#answerRoots(request, parts);
    throw refuseRequest(request, parts, 'the gate cannot tell which call it belongs to');
  };

  /** For requests that the gate did not offer to the server. */
  readonly refuseUnknown = (method: string): void => {
    this.#parts.onRequest({ upstream: this.#upstream.name, method, decision: 'refused', reason: notAllowed });
  };

  #answerRoots(request: ServerRequest, parts: RequestParts): JsonObject {
    return answerRoots(request, { ...parts, judge: this.#parts.judgeRequest });
  }
}
