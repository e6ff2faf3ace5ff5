import type { Database, Statement } from './database.ts';

/** When each session last used each tool, for rules that ask what it did before. Flushed with the commit. */
export class ToolUses {
  readonly #write: Statement;
  readonly #dirty = new Map<string, readonly [sessionId: string, tool: string, atMs: number]>();

  constructor(database: Database) {
    this.#write = database.prepare(
      `INSERT INTO tool_uses (session_id, tool, last_ms) VALUES (?, ?, ?)
       ON CONFLICT (session_id, tool) DO UPDATE SET last_ms = max(last_ms, excluded.last_ms)`,
    );
  }

  note(sessionId: string, tool: string, atMs: number): void {
    this.#dirty.set(`${sessionId} ${tool}`, [sessionId, tool, atMs]);
  }

  flush(): void {
    for (const row of this.#dirty.values()) this.#write.run(...row);
    this.#dirty.clear();
  }

  forget(): void {
    this.#dirty.clear();
  }
}
