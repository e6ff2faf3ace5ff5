import { createWriteStream } from 'node:fs';
import type { Writable } from 'node:stream';

export const levels = ['debug', 'info', 'warn', 'error'] as const;
export type Level = (typeof levels)[number];

/** The daemon's own log: one JSON object a line. Not evidence; that is the audit log. */
export class EventLog {
  readonly #sink: Writable;
  readonly #lowest: number;
  readonly #redact: (text: string) => string;

  constructor(options: { readonly sink: Writable; readonly level: Level; readonly redact: (text: string) => string }) {
    this.#sink = options.sink;
    this.#lowest = levels.indexOf(options.level);
    this.#redact = options.redact;
  }

  static toFile(path: string, level: Level, redact: (text: string) => string): EventLog {
    const sink = createWriteStream(path, { flags: 'a', mode: 0o600 });
    // A log that cannot be written must not end the daemon; the audit log has its own, strict, way of failing.
    sink.on('error', () => undefined);
    return new EventLog({ sink, level, redact });
  }

  readonly debug = (event: string, fields: Record<string, unknown> = {}): void => this.#write('debug', event, fields);
  readonly info = (event: string, fields: Record<string, unknown> = {}): void => this.#write('info', event, fields);
  readonly warn = (event: string, fields: Record<string, unknown> = {}): void => this.#write('warn', event, fields);
  readonly error = (event: string, fields: Record<string, unknown> = {}): void => this.#write('error', event, fields);

  close(): Promise<void> {
    return new Promise((resolve) => this.#sink.end(() => resolve()));
  }

  #write(level: Level, event: string, fields: Record<string, unknown>): void {
    if (levels.indexOf(level) < this.#lowest) return;
    const line = JSON.stringify({ time: new Date().toISOString(), level, event, ...fields }, showErrors);
    this.#sink.write(`${this.#redact(line)}\n`);
  }
}

function showErrors(_key: string, value: unknown): unknown {
  if (!(value instanceof Error)) return value;
  return {
    name: value.name,
    message: value.message,
    stack: value.stack,
    ...(value.cause === undefined ? {} : { cause: value.cause }),
  };
}
