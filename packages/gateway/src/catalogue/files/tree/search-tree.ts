import { isUtf8 } from 'node:buffer';
import { ToolFailure, ToolRefused } from '../../../call/tool.ts';
import type { ToolContext } from '../../../call/tool.ts';
import { hasCode } from '@sallyport/sandbox';
import { openEntryFile } from '../../../paths/open-path.ts';
import type { OpenFolder } from '../../../paths/open-path.ts';
import { takeBreaks } from '../check-signal.ts';
import type { Matches } from '../compile-pattern.ts';
import { readBytes } from '../file-bytes.ts';
import { FolderWalk } from './walk-folder.ts';
import type { WalkedEntry } from './walk-folder.ts';

export interface Query {
  readonly matchesFile: (entry: WalkedEntry) => boolean;
  /** Absent: the files themselves are what is looked for. */
  readonly matchesLine?: Matches;
  readonly includeHidden: boolean;
  readonly maxResults: number;
}

/** A file, or a line of one. */
export interface Match {
  readonly [key: string]: string | number;
  readonly path: string;
}

export const stops = ['end', 'max_results', 'time', 'size'] as const;

const maxFileBytes = 4 * 1024 * 1024;
export const maxShownChars = 300;
/** Longer lines are generated, not written; patterns look at their beginning only. */
const maxLineChars = 64 * 1024;
/** Ends before the timeout of the tool does, so that what was found by then is not lost. */
const maxSearchMs = 8000;

/** One search below one folder. */
export class TreeSearch {
  readonly matches: Match[] = [];
  /** Files that are not text or too large. */
  skipped = 0;
  stoppedBy: (typeof stops)[number] = 'end';
  readonly #walk: FolderWalk;
  readonly #query: Query;
  readonly #context: ToolContext;
  readonly #takeBreak: () => Promise<void>;
  readonly #endsAtMs = performance.now() + maxSearchMs;

  constructor(query: Query, context: ToolContext) {
    this.#query = query;
    this.#context = context;
    this.#walk = new FolderWalk(context, { access: 'read', recursive: true, includeHidden: query.includeHidden });
    this.#takeBreak = takeBreaks(context.signal);
  }

  get omitted(): number {
    return this.#walk.omitted;
  }

  async run(folder: OpenFolder): Promise<void> {
    for await (const entry of this.#walk.entries(folder)) {
      if (entry.kind === 'file' && this.#query.matchesFile(entry)) await this.#visit(entry);
      this.#watchClock();
      if (this.stoppedBy !== 'end') return;
    }
    if (this.#walk.cut) this.stoppedBy = 'size';
  }

  async #visit(entry: WalkedEntry): Promise<void> {
    const path = entry.relativePath;
    if (this.#query.matchesLine === undefined) return this.#add({ path });
    const text = await this.#readText(entry);
    if (text === undefined) return;
    let line = 1;
    for (let at = 0; at < text.length && this.stoppedBy === 'end'; line++) {
      const end = text.indexOf('\n', at);
      const content = text.slice(at, Math.min(end === -1 ? text.length : end, at + maxLineChars));
      if (this.#query.matchesLine(content)) this.#add({ path, line, text: shorten(content) });
      at = end === -1 ? text.length : end + 1;
      await this.#takeBreak();
      this.#watchClock();
    }
  }

  /** Absent: not to be searched, and counted as such. */
  async #readText({ folder, name }: WalkedEntry): Promise<string | undefined> {
    try {
      using file = openEntryFile(folder, name, this.#context);
      const { size } = file.stats;
      const most = Math.min(maxFileBytes, this.#context.grants.limits.fileBytes ?? Infinity);
      const bytes = size > most ? undefined : await readBytes(file.fd, 0, size, this.#context.signal);
      this.#context.countUsage({ bytesRead: bytes?.length ?? 0 });
      if (bytes !== undefined && isUtf8(bytes) && !bytes.subarray(0, 8192).includes(0)) return bytes.toString();
      this.skipped++;
    } catch (error) {
      const isKeptBack = error instanceof ToolRefused || hasCode(error, 'EACCES', 'EPERM');
      // A file that was deleted or exchanged since the folder was read is no longer part of the tree.
      const isGone = hasCode(error, 'ENOENT') || (error instanceof ToolFailure && error.code === 'NOT_A_FILE');
      if (!isKeptBack && !isGone) throw error;
      if (isKeptBack) this.#walk.omitted++;
    }
    return undefined;
  }

  #add(match: Match): void {
    if (this.matches.length === this.#query.maxResults) this.stoppedBy = 'max_results';
    else this.matches.push(match);
  }

  #watchClock(): void {
    if (this.stoppedBy === 'end' && performance.now() > this.#endsAtMs) this.stoppedBy = 'time';
  }
}

function shorten(line: string): string {
  const text = line.endsWith('\r') ? line.slice(0, -1) : line;
  // Half of a surrogate pair at the cut has no place in an answer.
  return text.length <= maxShownChars ? text : text.slice(0, maxShownChars).toWellFormed();
}
