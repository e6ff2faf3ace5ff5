import type { Reservation } from '../../../call/call.ts';
import type { Database, Statement } from '../database.ts';

interface Count {
  readonly key: string;
  readonly windowMs: number;
  windowStartMs: number;
  used: number;
}

/** A count in the order of the columns of its table. */
export type CountRow = readonly [key: string, windowMs: number, windowStartMs: number, used: number];

export type Reserved =
  | { readonly ok: true }
  | { readonly ok: false; readonly rule: string; readonly retryAfterMs: number };

const mostKept = 10_000;
const reserved: Reserved = { ok: true };
/** A small correction of the clock must not reopen a window that is already counted. */
export const clockToleranceMs = 60_000;

/** Fixed windows, counted in the writer's memory. Loaded lazily; see `Tallies` for when they are written. */
export class Counters {
  readonly #read: Statement;
  readonly #write: Statement;
  /** By key, and then one for each length of window. */
  readonly #counts = new Map<string, Count[]>();
  #kept = 0;
  #last: { readonly key: string; readonly counts: Count[] } | undefined;
  readonly #unwritten = new Set<Count>();

  constructor(database: Database) {
    this.#read = database.prepare('SELECT window_start_ms, used FROM counters WHERE key = ? AND window_ms = ?');
    this.#write = database.prepare(
      `INSERT INTO counters (key, window_ms, window_start_ms, used) VALUES (?, ?, ?, ?)
       ON CONFLICT (key, window_ms) DO UPDATE SET window_start_ms = excluded.window_start_ms, used = excluded.used`,
    );
  }

  /** Counts that the table does not have yet. */
  get unwritten(): number {
    return this.#unwritten.size;
  }

  /** All or nothing: when one window is full, no window is charged. */
  reserve(reservations: readonly Reservation[], nowMs: number): Reserved {
    if (reservations.length === 0) return reserved;
    // Only when nothing is unwritten: a call must not hold a count that is no longer the one to be written.
    if (this.#kept >= mostKept && this.#unwritten.size === 0) this.forget();
    const counts = reservations.map((reservation) => this.#current(reservation, nowMs));
    for (const [at, { windowStartMs, used }] of counts.entries()) {
      const { limit, rule, windowMs } = reservations[at] as Reservation;
      if (used >= limit) return { ok: false, rule, retryAfterMs: windowStartMs + windowMs - nowMs };
    }
    for (const count of counts) {
      count.used++;
      this.#unwritten.add(count);
    }
    return reserved;
  }

  flush(): void {
    for (const { key, windowMs, windowStartMs, used } of this.#unwritten)
      this.#write.run(key, windowMs, windowStartMs, used);
    this.#unwritten.clear();
  }

  forget(): void {
    this.#counts.clear();
    this.#kept = 0;
    this.#last = undefined;
    this.#unwritten.clear();
  }

  listUnwritten(): CountRow[] {
    return Array.from(this.#unwritten, ({ key, windowMs, windowStartMs, used }) => [
      key,
      windowMs,
      windowStartMs,
      used,
    ]);
  }

  restore(rows: readonly CountRow[]): void {
    for (const [key, windowMs, windowStartMs, used] of rows) {
      this.#unwritten.add(this.#keep({ key, windowMs, windowStartMs, used }));
    }
  }

  #current({ key, windowMs }: Reservation, nowMs: number): Count {
    const windowStartMs = nowMs - (nowMs % windowMs);
    const count = this.#find(key, windowMs);
    if (windowStartMs > count.windowStartMs) {
      count.windowStartMs = windowStartMs;
      count.used = 0;
    } else if (count.windowStartMs > nowMs + clockToleranceMs) {
      // The clock was ahead and was set back: what was counted then counts now, and ends with the current window.
      count.windowStartMs = windowStartMs;
      // Also when the call is refused: otherwise the window would never end.
      this.#unwritten.add(count);
    }
    return count;
  }

  #find(key: string, windowMs: number): Count {
    const known = this.#countsOf(key).find((count) => count.windowMs === windowMs);
    if (known !== undefined) return known;
    const row = this.#read.get(key, windowMs);
    const [windowStartMs, used] = [Number(row?.['window_start_ms'] ?? 0), Number(row?.['used'] ?? 0)];
    return this.#keep({ key, windowMs, windowStartMs, used });
  }

  #keep(count: Count): Count {
    this.#countsOf(count.key).push(count);
    this.#kept++;
    return count;
  }

  /** Most limits of a call have the same key, and looking up a text costs more than comparing it. */
  #countsOf(key: string): Count[] {
    if (this.#last?.key === key) return this.#last.counts;
    const counts = this.#counts.get(key) ?? [];
    if (counts.length === 0) this.#counts.set(key, counts);
    this.#last = { key, counts };
    return counts;
  }
}
