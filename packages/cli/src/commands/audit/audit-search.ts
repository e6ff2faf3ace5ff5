import type { AuditEntry, AuditRecord, InJson } from '@sallyport/contract';
import { exitCodes } from '@sallyport/contract/codes';
import { usageFailure } from '../../client/failure.ts';
import type { CommandContext } from '../../command-context.ts';
import { visibleJson } from '../../terminal/visible-text.ts';
import { renderRecord } from './audit-tail.ts';
import { csvHeading, renderCsv } from './entry-csv.ts';
import { openSearch } from './open-search.ts';
import type { Search } from './open-search.ts';

export interface AuditSearchOptions {
  readonly filter: readonly string[];
  readonly lines?: number;
  readonly before?: number;
  readonly follow?: boolean;
  readonly as?: string;
}

type Entry = InJson<AuditEntry>;

const usualLines = 50;
const perRead = 200;
const waitMs = 25_000;

/** Finds calls and events: of the daemon, or in the files of a gate that does not run. */
export async function searchAudit(given: AuditSearchOptions, context: CommandContext): Promise<number> {
  const filter = given.filter.map(quoteAgain).join(' ');
  const search = await openSearch(context);
  try {
    if (given.follow === true) return await follow(filter, search, context, given.as);
    return await showPages(filter, given, search, context);
  } finally {
    search.close();
  }
}

async function showPages(
  filter: string,
  { lines, before, as }: AuditSearchOptions,
  search: Search,
  { terminal, json }: CommandContext,
): Promise<number> {
  const most = lines ?? (as === undefined ? usualLines : Infinity);
  const kept: Entry[] = [];
  let shown = 0;
  let next = before;
  let answer: Awaited<ReturnType<Search['ask']>>;
  if (as === 'csv') terminal.print(csvHeading);
  do {
    answer = await search.ask({ filter, limit: Math.min(perRead, most - shown), before: next });
    if (json && as === undefined) kept.push(...answer.entries);
    else for (const entry of answer.entries) terminal.print(render(entry, as, terminal));
    shown += answer.entries.length;
    next = answer.next;
  } while (next !== undefined && shown < most);
  const { indexedSize, logSize } = answer;
  if (json && as === undefined) {
    const more = next === undefined ? {} : { next: String(next) };
    terminal.print(visibleJson({ entries: kept, ...more, indexedSize: String(indexedSize), logSize: String(logSize) }));
    return exitCodes.success;
  }
  if (shown === 0 && as === undefined) terminal.note('Nothing matches.');
  if (next !== undefined) terminal.note(`There is more: add --before ${next}.`);
  if (indexedSize < logSize) terminal.note(`The index is still being built: ${indexedSize} of ${logSize} records.`);
  return exitCodes.success;
}

async function follow(
  filter: string,
  search: Search,
  context: CommandContext,
  as: string | undefined,
): Promise<number> {
  if (!search.isRunning) throw usageFailure('The daemon is not running, so nothing new can come.');
  const { terminal, json } = context;
  const { logSize } = await search.ask({ filter, limit: 1 });
  for (let after = logSize - 1; ;) {
    const { entries, next } = await search.ask({ filter, limit: perRead, after: Math.max(0, after), waitMs });
    for (const entry of entries) terminal.print(render(entry, json ? 'jsonl' : as, terminal));
    after = next ?? Number(entries.at(-1)?.records.at(-1)?.index ?? after);
  }
}

function render(entry: Entry, as: string | undefined, terminal: CommandContext['terminal']): string {
  if (as === 'jsonl') return visibleJson(entry);
  if (as === 'csv') return renderCsv(entry);
  return renderRecord(entry.records.at(-1) as InJson<AuditRecord>, terminal);
}

/** Of a path with spaces, the shell took the quotation marks away. Nothing else that is asked for has spaces. */
function quoteAgain(part: string): string {
  const [, start = '', value = ''] = /^(-?path:)(.*)$/s.exec(part) ?? [];
  // People also put quotes around the whole filter: then another field follows the first.
  const isWhole = /\s-?[a-z]+:/.test(value) || value.includes('"');
  return /\s/.test(value) && !isWhole ? `${start}"${value}"` : part;
}
