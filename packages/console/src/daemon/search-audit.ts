import type { InJson, SearchAuditResponse } from '@sallyport/contract';
import { daemon } from './connect.ts';

export type SearchPage = InJson<SearchAuditResponse>;

export interface SearchOptions {
  readonly limit: number;
  /** Only entries before this one, newest first. */
  readonly before?: string | undefined;
  /** Only entries after this one, oldest first. */
  readonly after?: string | undefined;
}

/** A search that finds nothing for so long is given up for now: `next` of its answer says where it goes on. */
const mostPages = 50;

/**
 * Entries that match a filter. The gate ends a page early that takes it too long, also an empty one, so it is asked until
 * there are as many as were wanted, or no more.
 */
export async function searchAudit(filter: string, { limit, before, after }: SearchOptions): Promise<SearchPage> {
  const entries: SearchPage['entries'][number][] = [];
  let place: Pick<SearchOptions, 'before' | 'after'> = after === undefined ? { before } : { after };
  for (let page = 1; ; page++) {
    const { before: from, after: since } = place;
    const answer = await daemon.call('OperatorService/SearchAudit', {
      filter,
      limit: limit - entries.length,
      ...(from === undefined ? {} : { before: from }),
      ...(since === undefined ? {} : { after: since }),
    });
    entries.push(...answer.entries);
    if (answer.next === undefined || entries.length >= limit || page >= mostPages) return { ...answer, entries };
    place = after === undefined ? { before: answer.next } : { after: answer.next };
  }
}
