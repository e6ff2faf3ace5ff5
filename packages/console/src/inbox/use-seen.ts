import { useCallback, useEffect, useRef, useState } from 'react';
import type { RefObject } from 'react';

export interface Seen {
  /** Around the rows. */
  readonly container: RefObject<HTMLDivElement | null>;
  readonly unseenCount: number;
  /** Brings the first row into view that was not. */
  readonly showUnseen: () => void;
}

/** What flies past in a quick scroll was not seen. */
const dwellMs = 200;

/**
 * Notes which rows (`[data-row]`) of an effect have been in view, each as a whole and for a moment, as long as the
 * subject is the same. What was jumped over was not. Where `version` changes, rows came to it.
 */
export function useSeen(subject: string, rowCount: number, version: number): Seen {
  const container = useRef<HTMLDivElement>(null);
  const showFirst = useRef<() => void>(() => undefined);
  const seen = useRef({ subject, rows: new WeakSet<Element>() });
  const [progress, setProgress] = useState({ subject, unseenCount: rowCount });

  useEffect(() => {
    if (seen.current.subject !== subject) seen.current = { subject, rows: new WeakSet() };
    const { rows } = seen.current;
    const all = [...(container.current?.querySelectorAll('[data-row]') ?? [])];
    const unseen = new Set(all.filter((row) => !rows.has(row)));
    setProgress({ subject, unseenCount: unseen.size });
    const stop = watchRows(unseen, rows, () => setProgress({ subject, unseenCount: unseen.size }));
    showFirst.current = () => {
      const [first] = unseen;
      first?.scrollIntoView({ block: 'start' });
    };
    return stop;
  }, [subject, rowCount, version]);

  const showUnseen = useCallback(() => showFirst.current(), []);
  // Until the rows of a new subject have been looked at, none of them counts as seen.
  const unseenCount = progress.subject === subject ? progress.unseenCount : rowCount;
  return { container, unseenCount, showUnseen };
}

/** Moves rows from one set to the other as they are seen. Returns how to stop. */
function watchRows(unseen: Set<Element>, seen: WeakSet<Element>, onSeen: () => void): () => void {
  const inViewSinceMs = new Map<Element, number>();
  let timer: ReturnType<typeof setTimeout> | undefined;

  const sweep = (): void => {
    timer = undefined;
    for (const [row, sinceMs] of inViewSinceMs) {
      if (performance.now() - sinceMs < dwellMs) continue;
      inViewSinceMs.delete(row);
      unseen.delete(row);
      seen.add(row);
      observer.unobserve(row);
    }
    onSeen();
    if (inViewSinceMs.size > 0) timer = setTimeout(sweep, dwellMs);
  };

  const observer = new IntersectionObserver(
    (entries) => {
      for (const { isIntersecting, intersectionRatio, target } of entries) {
        // Rounding makes a row that is in view a little less than whole.
        if (isIntersecting && intersectionRatio >= 0.9) inViewSinceMs.set(target, performance.now());
        else inViewSinceMs.delete(target);
      }
      if (inViewSinceMs.size > 0) timer ??= setTimeout(sweep, dwellMs);
    },
    { threshold: [0.9, 1] },
  );
  for (const row of unseen) observer.observe(row);
  return () => {
    clearTimeout(timer);
    observer.disconnect();
  };
}
