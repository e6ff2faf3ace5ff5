import { indexedPart } from '../daemon/indexed-part.ts';
import type { SearchPage } from '../daemon/search-audit.ts';
import { addRecord } from '../live/call.ts';
import type { Call } from '../live/call.ts';

/** The calls of a search that the page has read, without a gap from the newest on. */
export interface KnownCalls {
  readonly calls: ReadonlyMap<string, Call>;
  /** Where the next page begins. Undefined: there is none. */
  readonly next: string | undefined;
  /** The newest entry that is known. */
  readonly newest: number;
  /** How much of the log can be found by now, from 0 to 1. */
  readonly indexed: number;
  /** There are older ones, and no more are kept. */
  readonly isFull: boolean;
}

export const noCalls: KnownCalls = { calls: new Map(), next: undefined, newest: -1, indexed: 1, isFull: false };

/** So far the list goes when somebody scrolls back. */
export const mostCalls = 20_000;
/** Through what happens it grows to this, so that the memory of a page that stays open stays as it is. */
export const mostFollowed = 1000;

/** With one more page: an older one, or what is new. */
export function addPage(known: KnownCalls, page: SearchPage, isNewer: boolean): KnownCalls {
  const calls = new Map(known.calls);
  for (const { records } of page.entries) {
    const last = records.at(-1);
    if (last === undefined) continue;
    const id = last.callId === '' ? `event ${last.index}` : last.callId;
    const all = new Map([...(calls.get(id)?.records ?? []), ...records].map((record) => [record.index, record]));
    const inOrder = [...all.values()].toSorted((a, b) => Number(a.index) - Number(b.index));
    const call = inOrder.reduce<Call | undefined>((sum, record) => addRecord(sum, record), undefined);
    if (call !== undefined) calls.set(id, { ...call, id });
  }
  const most = isNewer ? Math.max(mostFollowed, known.calls.size) : mostCalls;
  const kept = calls.size > most ? keepNewest(calls, most) : calls;
  const isCut = kept !== calls;
  const newest = Math.max(known.newest, ...page.entries.map(({ records }) => Number(records.at(-1)?.index ?? -1)));
  const indexed = indexedPart(page);
  if (!isNewer) return { calls: kept, next: isCut ? undefined : page.next, newest, indexed, isFull: isCut };
  // What was cut off at the end can be read again.
  const next = isCut && !known.isFull ? String(Math.min(...[...kept.values()].map(lastIndexOf))) : known.next;
  return { calls: kept, next, newest, indexed, isFull: known.isFull };
}

function keepNewest(calls: ReadonlyMap<string, Call>, most: number): ReadonlyMap<string, Call> {
  return new Map([...calls].toSorted(([, a], [, b]) => lastIndexOf(b) - lastIndexOf(a)).slice(0, most));
}

function lastIndexOf({ records }: Call): number {
  return Number(records.at(-1)?.index ?? 0);
}
