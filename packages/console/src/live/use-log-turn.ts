import { useEffect, useState } from 'react';
import { useGate } from './use-live.ts';

const followEveryMs = 3000;

export interface LogTurnOptions {
  readonly everyMs?: number;
  /** Only what agents do counts. For a look that is on record itself: it must not lead to another look. */
  readonly ofAgents?: boolean;
}

/** Counts up when the log has grown, every few seconds at most: what is on the screen follows without hurry. */
export function useLogTurn({ everyMs = followEveryMs, ofAgents = false }: LogTurnOptions = {}): number {
  const { view } = useGate().log;
  const [turn, setTurn] = useState(0);
  useEffect(() => {
    const readLast = (): string | undefined => {
      const { records, calls } = view.get();
      return ofAgents
        ? calls.find(({ principal }) => principal === 'agent')?.records.at(-1)?.index
        : records.at(-1)?.index;
    };
    let seen = readLast();
    const timer = setInterval(() => {
      const last = readLast();
      if (last === seen) return;
      seen = last;
      setTurn((count) => count + 1);
    }, everyMs);
    return () => clearInterval(timer);
  }, [view, everyMs, ofAgents]);
  return turn;
}
