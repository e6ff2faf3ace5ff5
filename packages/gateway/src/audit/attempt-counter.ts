import { ownJson } from '../call/redacted.ts';
import type { Store } from '../storage/stores.ts';

interface Attempts {
  readonly second: number;
  more: number;
}

/**
 * Calls that end before a session is known leave one record per source and second, and one that counts the rest:
 * callers without a credential cannot fill the log.
 */
export class AttemptCounter {
  readonly #store: Pick<Store, 'append'>;
  readonly #bySource = new Map<string, Attempts>();

  constructor(store: Pick<Store, 'append'>) {
    this.#store = store;
  }

  /** True when this attempt deserves a record of its own. */
  isFirst(source: string, nowMs: number): boolean {
    const second = Math.floor(nowMs / 1000);
    const known = this.#bySource.get(source);
    if (known?.second === second) {
      known.more++;
      return false;
    }
    this.#bySource.set(source, { second, more: 0 });
    if (known !== undefined) this.#recordMore(source, known);
    return true;
  }

  /** Records what was counted in seconds that are over. */
  flush(nowMs: number): void {
    const second = Math.floor(nowMs / 1000);
    for (const [source, attempts] of this.#bySource) {
      if (attempts.second >= second) continue;
      this.#bySource.delete(source);
      this.#recordMore(source, attempts);
    }
  }

  #recordMore(source: string, { second, more }: Attempts): void {
    if (more === 0) return;
    const payload = ownJson({ event: 'attempts_without_session', source, count: more });
    // A store that cannot write has sealed itself and says so; this count is then lost with everything else.
    this.#store.append({ kind: 'event', result: 'denied', timeMs: second * 1000, payload }).catch(() => undefined);
  }
}
