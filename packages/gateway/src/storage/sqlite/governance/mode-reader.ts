import { modes } from '../../../call/session.ts';
import type { Mode } from '../../../call/session.ts';
import type { ModeChange } from '../../stores.ts';
import type { Database, Row, Statement } from '../database.ts';
import { ownText } from '../../../call/redacted.ts';

export class ModeReader {
  readonly #mode: Statement;
  readonly #changes: Statement;

  constructor(database: Database) {
    this.#mode = database.prepare(`SELECT value FROM settings WHERE name = 'mode'`);
    this.#changes = database.prepare('SELECT * FROM mode_changes ORDER BY position DESC LIMIT ?');
  }

  current(): Mode {
    return readMode(this.#mode.get()?.['value']);
  }

  list(limit: number): readonly ModeChange[] {
    return this.#changes.all(limit).map(readChange);
  }
}

function readChange(row: Row): ModeChange {
  const by = row['changed_by'];
  return {
    from: readMode(row['from_mode']),
    to: readMode(row['to_mode']),
    ...(by === null ? {} : { by: String(by) }),
    cause: ownText(String(row['cause'])),
    atMs: Number(row['at_ms']),
  };
}

/** A gate without a stored mode begins in NORMAL. An unreadable mode is treated as the strictest one. */
export function readMode(stored: unknown): Mode {
  return stored === undefined ? 'NORMAL' : (modes.find((mode) => mode === stored) ?? 'LOCKDOWN');
}
