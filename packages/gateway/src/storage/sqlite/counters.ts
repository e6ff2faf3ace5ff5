import type { Reservation } from '../../call/call.ts';
import type { Database, Statement } from './database.ts';

interface Count {
  windowStartMs: number;
  used: number;
}

export type Reserved =
  | { readonly ok: true }
  | { readonly ok: false; readonly rule: string; readonly retryAfterMs: number };

const mostKept = 10_000;
/** A clock that is corrected by a little must not reopen a window that is already counted. */
export const clockToleranceMs = 60_000;

/**
 * Fixed windows, counted in the writer's memory and flushed with the commit that needs them, so that a count never
 * runs ahead of or behind the log. Loaded lazily; forgotten on rollback.
 */
export class Counters {
  readonly #read: Statement;
  readonly #write: Statement;
  readonly #counts = new Map<string, Count>();
  readonly #dirty = new Map<string, Reservation>();

  constructor(database: Database) {
    this.#read = database.prepare('SELECT window_start_ms, used FROM counters WHERE key = ? AND window_ms = ?');
    this.#write = database.prepare(
      `INSERT INTO counters (key, window_ms, window_start_ms, used) VALUES (?, ?, ?, ?)
       ON CONFLICT (key, window_ms) DO UPDATE SET window_start_ms = excluded.window_start_ms, used = excluded.used`,
    );
  }

  /** All or nothing: when one window is full, no window is charged. */
  reserve(reservations: readonly Reservation[], nowMs: number): Reserved {
    // Only between calls: what one of them holds must stay what is written.
    if (this.#counts.size >= mostKept && this.#dirty.size === 0) this.#counts.clear();
    const counts = reservations.map((reservation) => this.#current(reservation, nowMs));
    for (const [at, reservation] of reservations.entries()) {
      const count = counts[at] as Count;
      if (count.used >= reservation.limit) {
        const retryAfterMs = count.windowStartMs + reservation.windowMs - nowMs;
        return { ok: false, rule: reservation.rule, retryAfterMs };
      }
    }
    for (const [at, reservation] of reservations.entries()) {
      (counts[at] as Count).used++;
      this.#dirty.set(countKey(reservation), reservation);
    }
    return { ok: true };
  }

  flush(): void {
    for (const [key, reservation] of this.#dirty) {
      const count = this.#counts.get(key) as Count;
      this.#write.run(reservation.key, reservation.windowMs, count.windowStartMs, count.used);
    }
    this.#dirty.clear();
  }

  forget(): void {
    this.#counts.clear();
    this.#dirty.clear();
  }

  #current(reservation: Reservation, nowMs: number): Count {
    const key = countKey(reservation);
    const windowStartMs = nowMs - (nowMs % reservation.windowMs);
    let count = this.#counts.get(key);
    if (count === undefined) {
      const row = this.#read.get(reservation.key, reservation.windowMs);
      count = { windowStartMs: Number(row?.['window_start_ms'] ?? 0), used: Number(row?.['used'] ?? 0) };
      this.#counts.set(key, count);
    }
    if (windowStartMs > count.windowStartMs) {
      count.windowStartMs = windowStartMs;
      count.used = 0;
    } else if (count.windowStartMs > nowMs + clockToleranceMs) {
      // The clock was ahead and was set back: what was counted there counts now, and ends with the present window.
      count.windowStartMs = windowStartMs;
      // Also when the call is refused: otherwise it would never end.
      this.#dirty.set(key, reservation);
    }
    return count;
  }
}

function countKey(reservation: Reservation): string {
  return `${reservation.windowMs} ${reservation.key}`;
}
