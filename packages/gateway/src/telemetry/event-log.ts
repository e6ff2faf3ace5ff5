import type { Writable } from 'node:stream';
import { cutText } from '../call/redacted.ts';
import type { Redacted, RedactText } from '../call/redacted.ts';
import { RotatingFile } from './rotating-file.ts';

const levels = ['debug', 'info', 'warn', 'error'] as const;
export type Level = (typeof levels)[number];

const deepestCause = 5;
const longestText = 16_000;

/** The daemon's own log: one JSON object a line. Not evidence; that is the audit log. Writing to it never throws. */
export class EventLog {
  readonly #sink: Writable;
  readonly #lowest: number;
  readonly #redact: RedactText;

  constructor(options: { readonly sink: Writable; readonly level: Level; readonly redact: RedactText }) {
    this.#sink = options.sink;
    this.#lowest = levels.indexOf(options.level);
    this.#redact = options.redact;
  }

  static toFile(path: string, level: Level, redact: RedactText): EventLog {
    const sink = new RotatingFile(path);
    // A log that cannot be written must not end the daemon; the audit log has its own, strict, way of failing.
    sink.on('error', () => undefined);
    return new EventLog({ sink, level, redact });
  }

  readonly debug = (event: string, fields: Record<string, unknown> = {}): void => this.#write('debug', event, fields);
  readonly info = (event: string, fields: Record<string, unknown> = {}): void => this.#write('info', event, fields);
  readonly warn = (event: string, fields: Record<string, unknown> = {}): void => this.#write('warn', event, fields);
  readonly error = (event: string, fields: Record<string, unknown> = {}): void => this.#write('error', event, fields);

  /** Takes lines out of the files. */
  async dropLines(isDropped: (line: string) => boolean): Promise<void> {
    if (this.#sink instanceof RotatingFile) await this.#sink.dropLines(isDropped);
  }

  close(): Promise<void> {
    return new Promise((resolve) => this.#sink.end(() => resolve()));
  }

  #write(level: Level, event: string, fields: Record<string, unknown>): void {
    if (levels.indexOf(level) < this.#lowest) return;
    const head = { time: new Date().toISOString(), level, event };
    this.#sink.write(`${this.#encode(head, fields)}\n`);
  }

  /** What has no JSON, such as a loop of objects, must not cost the event itself. */
  #encode(head: Record<string, string>, fields: Record<string, unknown>): string {
    try {
      return JSON.stringify({ ...head, ...fields }, (_key, value: unknown) => this.#show(value));
    } catch (error) {
      const unreadable = this.#redact(error instanceof Error ? error.message : 'fields');
      return JSON.stringify({ ...head, unreadable });
    }
  }

  /** Each value by itself, before it is encoded. */
  #show(value: unknown): unknown {
    if (typeof value === 'string') return this.#keep(value);
    if (typeof value === 'bigint') return this.#keep(String(value));
    if (typeof value === 'number') return this.#keep(String(value)) === String(value) ? value : '[redacted]';
    if (value instanceof Error) return this.#show(showError(value, deepestCause));
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
    const keys = Object.keys(value);
    // As it is wherever possible: JSON finds a loop only among the same objects.
    if (keys.every((key) => this.#keep(key) === key)) return value;
    return Object.fromEntries(Object.entries(value).map(([key, member]) => [this.#keep(key), member]));
  }

  #keep(text: string): Redacted {
    return cutText(this.#redact(text), longestText);
  }
}

/** Causes may name each other, so they are followed only so far. */
function showError({ name, message, stack, cause }: Error, depth: number): Record<string, unknown> {
  if (cause === undefined || depth === 0) return { name, message, stack };
  return { name, message, stack, cause: cause instanceof Error ? showError(cause, depth - 1) : cause };
}
