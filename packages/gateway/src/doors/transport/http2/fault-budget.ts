import { ConnectionError, errorCodes } from './frames.ts';

const mostAtOnce = 1000;
const perSecond = 33;

/**
 * Counts what is allowed and of no use, such as pings and requests that are broken off at once: each costs us more than the
 * peer. Who does much of it is cut off.
 */
export class FaultBudget {
  #left = mostAtOnce;
  #atMs = performance.now();

  /** Throws ConnectionError. */
  count(): void {
    if (--this.#left > 0) return;
    const nowMs = performance.now();
    this.#left += Math.floor(((nowMs - this.#atMs) / 1000) * perSecond);
    this.#left = Math.min(this.#left, mostAtOnce);
    this.#atMs = nowMs;
    if (this.#left <= 0) throw new ConnectionError(errorCodes.enhanceYourCalm, 'too much of no use');
  }
}
