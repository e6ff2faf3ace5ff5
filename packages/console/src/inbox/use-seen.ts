import { useCallback, useEffect, useRef, useState } from 'react';
import type { RefObject } from 'react';

export interface Seen {
  /** Around the rows. */
  readonly container: RefObject<HTMLDivElement | null>;
  readonly unseenCount: number;
  /** Brings the first row into view that was not. */
  readonly showUnseen: () => void;
  /** Whether a part with this `data-of` has been in view, and all of its pieces (`data-copy`) in one place. */
  readonly hasSeen: (of: string) => boolean;
}

/** What flies past in a quick scroll was not seen. */
const dwellMs = 200;

/**
 * Notes which rows of an effect have been in view, each as a whole and for a moment, as long as the subject is the same:
 * by their name (`data-row`), so that one which was away for a while need not be seen again. What was jumped over was
 * not. Where `version` changes, rows came or went.
 */
export function useSeen(subject: string, rowCount: number, version: object): Seen {
  const container = useRef<HTMLDivElement>(null);
  const showFirst = useRef<() => void>(() => undefined);
  const seen = useRef({ subject, rows: new Set<string>() });
  const [progress, setProgress] = useState({ subject, unseenCount: rowCount });

  useEffect(() => {
    if (seen.current.subject !== subject) seen.current = { subject, rows: new Set() };
    const { rows } = seen.current;
    const all = [...(container.current?.querySelectorAll<HTMLElement>('[data-row]') ?? [])];
    const unseen = new Set(all.filter((row) => !rows.has(nameOf(row))));
    setProgress({ subject, unseenCount: unseen.size });
    const stop = watchRows(unseen, rows, () => setProgress({ subject, unseenCount: unseen.size }));
    showFirst.current = () => {
      const [first] = unseen;
      first?.scrollIntoView({ block: 'start' });
    };
    return stop;
  }, [subject, rowCount, version]);

  const showUnseen = useCallback(() => showFirst.current(), []);
  const hasSeen = useCallback((of: string) => {
    const pieces = [...(container.current?.querySelectorAll<HTMLElement>(`[data-of="${of}"]`) ?? [])];
    const isSeen = (piece: HTMLElement): boolean => {
      const row = piece.closest<HTMLElement>('[data-row]');
      return row !== null && seen.current.rows.has(nameOf(row));
    };
    const copies = Map.groupBy(pieces, ({ dataset }) => dataset['copy']);
    return copies.values().some((copy) => copy.every(isSeen));
  }, []);
  // Until the rows of a new subject have been looked at, none of them counts as seen.
  const unseenCount = progress.subject === subject ? progress.unseenCount : rowCount;
  return { container, unseenCount, showUnseen, hasSeen };
}

/** Moves rows from one set to the other as they are seen. Returns how to stop. */
function watchRows(unseen: Set<HTMLElement>, seen: Set<string>, onSeen: () => void): () => void {
  const inViewSinceMs = new Map<HTMLElement, number>();
  let timer: ReturnType<typeof setTimeout> | undefined;

  const sweep = (): void => {
    timer = undefined;
    for (const [row, sinceMs] of inViewSinceMs) {
      if (performance.now() - sinceMs < dwellMs) continue;
      inViewSinceMs.delete(row);
      unseen.delete(row);
      seen.add(nameOf(row));
      observer.unobserve(row);
    }
    onSeen();
    if (inViewSinceMs.size > 0) timer = setTimeout(sweep, dwellMs);
  };

  const observer = new IntersectionObserver(
    (entries) => {
      for (const { isIntersecting, intersectionRatio, target } of entries) {
        // Rounding makes a row that is in view a little less than whole.
        const row = target as HTMLElement;
        if (isIntersecting && intersectionRatio >= 0.9) inViewSinceMs.set(row, performance.now());
        else inViewSinceMs.delete(row);
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

function nameOf({ dataset }: HTMLElement): string {
  return dataset['row'] ?? '';
}
