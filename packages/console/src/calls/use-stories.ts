import { useCallback, useEffect, useMemo, useRef, useState } from 'react';
import { searchAudit } from '../daemon/search-audit.ts';
import type { Call } from '../live/call.ts';
import { useGate, useValue } from '../live/use-live.ts';
import { troubleOf } from '../shell/parts.tsx';
import type { Trouble } from '../shell/parts.tsx';
import { addPage, noCalls } from './known-calls.ts';
import type { KnownCalls } from './known-calls.ts';
import { groupStories } from './story.ts';
import type { Story } from './story.ts';

export interface Stories {
  readonly stories: readonly Story[];
  readonly isLoading: boolean;
  /** Undefined: there are no more. */
  readonly loadMore: (() => void) | undefined;
  readonly trouble: Trouble | undefined;
  /** There are older ones, which are not listed. */
  readonly isFull: boolean;
  /** How much of the log can be found by now, from 0 to 1. */
  readonly indexed: number;
}

const perPage = 100;
const followEveryMs = 1000;

/**
 * The calls that match a filter of `audit search`, as stories: page after page back in time, and each new one as it
 * happens. What is on the screen stays while the next answer is under way.
 */
export function useStories(filter: string): Stories {
  const { view } = useGate().log;
  const { calls: live } = useValue(view);
  const [known, setKnown] = useState<KnownCalls>(noCalls);
  const [loaded, setLoaded] = useState<string>();
  const [trouble, setTrouble] = useState<Trouble>();
  const [turn, setTurn] = useState(0);
  const isBusy = useRef(false);
  /** More was wanted while an answer was under way. */
  const wantsMore = useRef(false);
  const current = useRef(filter);

  const read = useCallback(async (wanted: string, place: { before?: string; after?: string } = {}) => {
    const isFirst = place.before === undefined && place.after === undefined;
    isBusy.current = true;
    try {
      const answer = await searchAudit(wanted, { limit: perPage, ...place });
      if (current.current !== wanted) return;
      setKnown((before) => addPage(isFirst ? noCalls : before, answer, place.after !== undefined));
      setTrouble(undefined);
      setLoaded(wanted);
    } catch (error) {
      if (current.current === wanted) setTrouble(troubleOf(error));
    } finally {
      isBusy.current = false;
      setTurn((count) => count + 1);
    }
  }, []);

  useEffect(() => {
    current.current = filter;
    void read(filter);
  }, [filter, read]);

  // New entries, every second at most.
  const latest = useRef(known);
  latest.current = known;
  useEffect(() => {
    let seen: string | undefined;
    const timer = setInterval(() => {
      const last = view.get().records.at(-1)?.index;
      const { newest, indexed } = latest.current;
      if ((last === seen && indexed === 1) || isBusy.current || current.current !== filter) return;
      seen = last;
      if (newest >= 0) void read(filter, { after: String(newest) });
      else void read(filter);
    }, followEveryMs);
    return () => clearInterval(timer);
  }, [filter, read, view]);

  const { next } = known;
  const loadMore = useCallback(() => {
    wantsMore.current = isBusy.current;
    if (next !== undefined && !isBusy.current) void read(filter, { before: next });
  }, [next, filter, read]);
  useEffect(() => {
    if (wantsMore.current) loadMore();
  }, [turn, loadMore]);
  const stories = useMemo(() => {
    if (filter !== agentsFilter) return groupStories(known.calls.values());
    // What the page follows anyway is there before the index has answered, and has calls that still run.
    const all = new Map(known.calls);
    for (const call of live.filter(isAboutAgents)) {
      if ((all.get(call.id)?.records.length ?? 0) <= call.records.length) all.set(call.id, call);
    }
    return groupStories(all.values());
  }, [known, live, filter]);
  return {
    stories,
    isLoading: loaded !== filter && stories.length === 0,
    loadMore: next === undefined ? undefined : loadMore,
    trouble,
    isFull: known.isFull,
    indexed: known.indexed,
  };
}

/** What the page shows when nobody asks for anything else: what agents did, not what people looked at. */
export const agentsFilter = 'about:agents';

const isAboutAgents = ({ principal, taskId }: Call): boolean => principal === 'agent' || taskId !== '';
