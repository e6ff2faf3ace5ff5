import { ToolFailure } from '../call/tool.ts';
import { LoginNeeded } from './login/login-needed.ts';

const firstPauseMs = 500;
const longestPauseMs = 60_000;

/** Whether a server can be reached: why not, and when it is tried again. */
export class UpstreamHealth {
  readonly #name: string;
  readonly #retry: () => void;
  #failures = 0;
  #retryAtMs = 0;
  #timer: NodeJS.Timeout | undefined;
  /** In words for operators. */
  #trouble = '';
  /** The same for everyone. */
  #reason = '';
  /** Why a retry will not help until somebody has changed something. */
  #failed: ToolFailure | undefined;
  #startTrouble = '';
  #loginNeeded: LoginNeeded | undefined;

  /** `retry` is called after a pause. */
  constructor(name: string, retry: () => void) {
    this.#name = name;
    this.#retry = retry;
  }

  /** Why it was not reached the last time. Empty: it was. */
  get trouble(): string {
    return this.#trouble;
  }

  get isPaused(): boolean {
    return this.#retryAtMs > performance.now();
  }

  /** Undefined: no person has to log in before it is tried again. */
  get loginNeeded(): LoginNeeded | undefined {
    return this.#loginNeeded;
  }

  /** During a pause calls fail at once instead of waiting for it: throws ToolFailure. */
  checkPause(): void {
    const pauseMs = this.#retryAtMs - performance.now();
    if (pauseMs <= 0) return;
    const [code, why] =
      this.#failed === undefined
        ? (['UPSTREAM_UNAVAILABLE', `The upstream server ${this.#name} cannot be reached: ${this.#reason}.`] as const)
        : (['UPSTREAM_FAILED', this.#failed.message] as const);
    throw new ToolFailure(code, `${why} It is tried again in ${Math.ceil(pauseMs / 1000)} s.`, {
      forOperators: '`sallyport upstream list` shows the state of the servers.',
    });
  }

  /** The next attempt is made at once, whatever happened before. */
  endPause(): void {
    this.#retryAtMs = 0;
    this.#loginNeeded = undefined;
  }

  /** The next pause is short again. */
  noteSuccess(): void {
    this.#failures = 0;
  }

  noteConnected(): void {
    this.#failed = undefined;
    this.#trouble = '';
  }

  /** `trouble`: why the program does not start, for operators. */
  noteStartTrouble(trouble: string): void {
    this.#startTrouble = trouble;
  }

  /** The connection failed, and the next attempt waits. */
  noteUnconnected(failure: Error): void {
    this.#failed = failure instanceof ToolFailure && failure.code === 'UPSTREAM_FAILED' ? failure : undefined;
  }

  /** The next attempt comes after a pause, or when a person has logged in. */
  pause(why: Error): void {
    this.stopRetry();
    if (why instanceof LoginNeeded) {
      this.#loginNeeded = why;
      this.#trouble = why.textForOperators;
      return;
    }
    this.#failures += 1;
    const pauseMs = Math.min(firstPauseMs * 2 ** (this.#failures - 1), longestPauseMs);
    this.#retryAtMs = performance.now() + pauseMs;
    const text = why instanceof ToolFailure ? why.textForOperators : why.message;
    this.#trouble = this.#failed === undefined ? text : this.#startTrouble || text;
    this.#reason = why.message.replace(/\.$/, '');
    this.#timer = setTimeout(this.#retry, pauseMs + 10).unref();
  }

  stopRetry(): void {
    clearTimeout(this.#timer);
  }
}
