import { ownJson } from '../../../call/redacted.ts';
import type { ModeChange } from '../../stores.ts';
import type { Database, Statement } from '../database.ts';
import type { LogAppender } from '../log/log-appender.ts';
import { readMode } from './mode-reader.ts';

/** The mode, its history and its record in the log, inside the writer's transaction. */
export class ModeWriter {
  readonly #log: LogAppender;
  readonly #read: Statement;
  readonly #set: Statement;
  readonly #remember: Statement;

  constructor(database: Database, log: LogAppender) {
    this.#log = log;
    this.#read = database.prepare(`SELECT value FROM settings WHERE name = 'mode'`);
    this.#set = database.prepare(
      `INSERT INTO settings (name, value) VALUES ('mode', ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value`,
    );
    this.#remember = database.prepare(
      'INSERT INTO mode_changes (from_mode, to_mode, changed_by, cause, at_ms) VALUES (?, ?, ?, ?, ?)',
    );
  }

  change({ from, to, by, cause, atMs }: ModeChange): boolean {
    if (readMode(this.#read.get()?.['value']) !== from) return false;
    this.#set.run(to);
    this.#remember.run(from, to, by ?? null, cause, atMs);
    const payload = ownJson({ event: 'mode_changed', from, to, ...(by === undefined ? {} : { by }), cause });
    this.#log.append({ kind: 'event', result: 'none', timeMs: atMs, payload });
    return true;
  }
}
