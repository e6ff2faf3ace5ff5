import type { Database, Statement } from '../database.ts';

export type ToolUseRow = [sessionId: string, tool: string, lastMs: number];

/**
 * When each session last used each tool, for rules that ask what it did before. See `Tallies` for when it is written.
 */
export class ToolUses {
  readonly #write: Statement;
  readonly #unwritten = new Map<string, ToolUseRow>();
  /** Usually the same tool comes again, and looking up a text costs more than comparing it. */
  #last: ToolUseRow | undefined;

  constructor(database: Database) {
    this.#write = database.prepare(
      `INSERT INTO tool_uses (session_id, tool, last_ms) VALUES (?, ?, ?)
       ON CONFLICT (session_id, tool) DO UPDATE SET last_ms = max(last_ms, excluded.last_ms)`,
    );
  }

  get unwritten(): number {
    return this.#unwritten.size;
  }

  note(sessionId: string, tool: string, atMs: number): void {
    const row = this.#last?.[0] === sessionId && this.#last[1] === tool ? this.#last : this.#find(sessionId, tool);
    row[2] = Math.max(row[2], atMs);
    this.#last = row;
  }

  flush(): void {
    for (const row of this.#unwritten.values()) this.#write.run(...row);
    this.forget();
  }

  forget(): void {
    this.#unwritten.clear();
    this.#last = undefined;
  }

  listUnwritten(): ToolUseRow[] {
    return [...this.#unwritten.values()];
  }

  restore(rows: readonly ToolUseRow[]): void {
    for (const row of rows) this.note(...row);
  }

  #find(sessionId: string, tool: string): ToolUseRow {
    const place = `${sessionId} ${tool}`;
    const known = this.#unwritten.get(place);
    if (known !== undefined) return known;
    const row: ToolUseRow = [sessionId, tool, 0];
    this.#unwritten.set(place, row);
    return row;
  }
}
