import { randomUUID } from 'node:crypto';
import { lstatSync, readdirSync, readFileSync, readlinkSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import type { JsonObject } from '@sallyport/contract';
import type { AnyTool, ToolContext } from '../../call/tool.ts';
import { TestWorkspace } from '../../catalogue/files/test-workspace.ts';
import type { JournalEntry, JournalRepository } from '../../storage/stores.ts';
import { filesUndo } from './files-undo.ts';

/** A workspace whose tools write into a journal, and undo. Each call has an id of its own. */
export class UndoBench implements Disposable {
  readonly workspace: TestWorkspace;
  readonly entries: JournalEntry[] = [];
  readonly traceId = randomUUID().replaceAll('-', '');
  readonly journal: Pick<JournalRepository, 'readJournal'> = {
    readJournal: async (filter) =>
      this.entries.filter((entry) =>
        Object.entries(filter).every(([name, value]) => entry[name as keyof JournalEntry] === value),
      ),
  };
  readonly undoTool = filesUndo(this.journal);

  constructor(options: { readonly trashFolder?: string } = {}) {
    this.workspace = new TestWorkspace(options);
  }

  /** Returns the id of the call. */
  async call(tool: AnyTool, args: JsonObject, context: Partial<ToolContext> = {}): Promise<string> {
    const callId = randomUUID();
    await this.workspace.call(tool, args, { ...this.contextOf(callId, tool), ...context });
    return callId;
  }

  undo(callId: string, context: Partial<ToolContext> = {}): Promise<string> {
    return this.call(this.undoTool, { call_id: callId }, context);
  }

  contextOf(callId: string, tool: AnyTool): Partial<ToolContext> {
    const call = { callId, sessionId: this.workspace.session.id, traceId: this.traceId, agent: 'tester', atMs: 0 };
    return {
      callId,
      journal: async (...changes) => {
        for (const change of changes) {
          this.entries.push({ ...call, ...change, tool: tool.definition.name, position: this.entries.length });
        }
      },
    };
  }

  /** A file whose times are long past, so that a write changes them. */
  put(name: string, content: string): void {
    const path = this.workspace.put(name, content);
    utimesSync(path, 1_000_000_000.123456, 1_100_000_000.654321);
  }

  /** Everything that undo promises to restore, by path. The times of a folder tell of its entries only. */
  snapshot(folder = this.workspace.path, prefix = ''): Record<string, string> {
    const found: Record<string, string> = {};
    for (const name of readdirSync(folder).sort()) {
      const path = join(folder, name);
      const stats = lstatSync(path, { bigint: true });
      const mode = (Number(stats.mode) & 0o7777).toString(8);
      const at = prefix + name;
      if (stats.isSymbolicLink()) found[at] = `link ${readlinkSync(path)}`;
      else if (stats.isFile()) found[at] = `file ${mode} ${stats.mtimeNs / 1000n} ${readFileSync(path, 'latin1')}`;
      else Object.assign(found, { [at]: `folder ${mode}` }, this.snapshot(path, `${at}/`));
    }
    return found;
  }

  [Symbol.dispose](): void {
    this.workspace[Symbol.dispose]();
  }
}
