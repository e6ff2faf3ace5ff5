import { useCallback, useEffect, useRef, useState } from 'react';
import type { RefObject } from 'react';

export interface Seen {
  /** Around the rows. */
  readonly container: RefObject<HTMLDivElement | null>;
  readonly unseenCount: number;
  /** Brings the first row into view that was not. */
  readonly showUnseen: () => void;
}

/**
 * Notes which rows (`[data-row]`) of an effect have been in view as a whole, for as long as the subject is the same.
 * What was jumped over was not.
 */
export function useSeen(subject: string, rowCount: number): Seen {
  const container = useRef<HTMLDivElement>(null);
  const [progress, setProgress] = useState({ subject, unseenCount: rowCount });
  const showFirst = useRef<() => void>(() => undefined);

  useEffect(() => {
    const unseen = new Set(container.current?.querySelectorAll('[data-row]'));
    setProgress({ subject, unseenCount: unseen.size });
    const observer = new IntersectionObserver(
      (entries) => {
        for (const { isIntersecting, intersectionRatio, target } of entries) {
          // Rounding makes a row that is in view a little less than whole.
          if (!isIntersecting || intersectionRatio < 0.9) continue;
          unseen.delete(target);
          observer.unobserve(target);
        }
        setProgress({ subject, unseenCount: unseen.size });
      },
      { threshold: [0.9, 1] },
    );
    for (const row of unseen) observer.observe(row);
    showFirst.current = () => {
      const [first] = unseen;
      first?.scrollIntoView({ block: 'start' });
    };
    return () => observer.disconnect();
  }, [subject, rowCount]);

  const showUnseen = useCallback(() => showFirst.current(), []);
  // Until the rows of a new subject have been looked at, none of them counts as seen.
  const unseenCount = progress.subject === subject ? progress.unseenCount : rowCount;
  return { container, unseenCount, showUnseen };
}
