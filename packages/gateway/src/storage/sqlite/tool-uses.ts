import type { Database, Statement } from './database.ts';

export type ToolUseRow = readonly [sessionId: string, tool: string, lastMs: number];

/** When each session last used each tool, for rules that ask what it did before. See `Tallies` for when it is written. */
export class ToolUses {
  readonly #write: Statement;
  readonly #unwritten = new Map<string, ToolUseRow>();

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
    const place = `${sessionId} ${tool}`;
    const known = this.#unwritten.get(place);
    if (known === undefined || known[2] < atMs) this.#unwritten.set(place, [sessionId, tool, atMs]);
  }

  flush(): void {
    for (const row of this.#unwritten.values()) this.#write.run(...row);
    this.#unwritten.clear();
  }

  forget(): void {
    this.#unwritten.clear();
  }

  listUnwritten(): ToolUseRow[] {
    return [...this.#unwritten.values()];
  }

  restore(rows: readonly ToolUseRow[]): void {
    for (const row of rows) this.note(...row);
  }
}
