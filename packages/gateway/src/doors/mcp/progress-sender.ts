import type { ProgressToken } from '@modelcontextprotocol/server';
import { cutToEnd, ownText, say } from '../../call/redacted.ts';
import type { Redacted } from '../../call/redacted.ts';
import type { RedactedProgress } from '../../call/tool.ts';

const pauseMs = 100;
const longestMessage = 4096;
const smallestStep = 0.001;

/** A notification, as clients of both protocols take it. */
export interface ProgressNews {
  readonly method: 'notifications/progress';
  readonly params: {
    readonly progressToken: ProgressToken;
    readonly progress: number;
    readonly total?: number;
    readonly message?: string;
  };
}

/**
 * Tells a client how its call goes on, at most ten times a second: what comes in between is put together. Nothing is
 * kept for a reader that is behind, and nothing is sent after `end`.
 */
export class ProgressSender {
  readonly #notify: (news: ProgressNews) => Promise<void>;
  readonly #token: ProgressToken;
  readonly #isBehind: () => boolean;
  #done: number | undefined;
  #total: number | undefined;
  #message: Redacted = ownText('');
  #timer: NodeJS.Timeout | undefined;
  #hasNews = false;
  #ended = false;

  constructor(notify: (news: ProgressNews) => Promise<void>, token: ProgressToken, isBehind: () => boolean) {
    this.#notify = notify;
    this.#token = token;
    this.#isBehind = isBehind;
  }

  tell(progress: RedactedProgress): void {
    if (this.#ended) return;
    if (progress.kind === 'step') {
      this.#advance(progress.done);
      this.#total = progress.total;
      this.#message = progress.message;
    } else {
      this.#message = cutToEnd(say`${this.#message}${progress.text}`, longestMessage);
    }
    this.#hasNews = true;
    if (this.#timer === undefined) this.#send();
  }

  end(): void {
    this.#ended = true;
    clearTimeout(this.#timer);
  }

  /** The number must rise with every message, whatever the tool counts. */
  #advance(done: number): void {
    this.#done = this.#done === undefined ? done : Math.max(done, this.#done);
  }

  #send(): void {
    this.#timer = undefined;
    if (!this.#hasNews || this.#ended) return;
    this.#timer = setTimeout(() => this.#send(), pauseMs);
    if (this.#isBehind()) return;
    const progress = this.#done ?? 0;
    const total = this.#total !== undefined && this.#total >= progress ? { total: this.#total } : {};
    const said = this.#message.trim() === '' ? {} : { message: this.#message.trim() };
    const params = { progressToken: this.#token, progress, ...total, ...said };
    this.#done = progress + smallestStep;
    this.#message = ownText('');
    this.#hasNews = false;
    // The client may have gone: then the call is being cancelled, and nobody needs to hear this.
    this.#notify({ method: 'notifications/progress', params }).catch(() => undefined);
  }
}
