import { useEffect, useLayoutEffect, useRef, useState } from 'react';
import type { ReactNode } from 'react';

export interface VirtualRowsProps {
  readonly label: string;
  readonly count: number;
  /** Of each row, in pixels. */
  readonly rowHeight: number;
  readonly keyOf: (at: number) => string;
  readonly render: (at: number) => ReactNode;
  /** The end of the list came near: there may be more. */
  readonly onNearEnd?: () => void;
  /** This row is brought into view when it changes. Absent: none is. */
  readonly shownAt?: number;
}

const overscan = 8;
const nearRows = 30;
/** Also where the whole page scrolls, and everything would be in view. */
const mostRows = 300;

/**
 * A list of any length, of which only what is in view is drawn. It scrolls within the nearest part of the page that does.
 */
export function VirtualRows({ label, count, rowHeight, keyOf, render, onNearEnd, shownAt = -1 }: VirtualRowsProps) {
  const list = useRef<HTMLUListElement>(null);
  const [range, setRange] = useState({ from: 0, to: 40 });

  useLayoutEffect(() => {
    const box = list.current;
    const scroller = box?.closest<HTMLElement>('[data-scroller], .page');
    if (!box || !scroller) return undefined;
    const look = (): void => {
      const above = scroller.getBoundingClientRect().top - box.getBoundingClientRect().top;
      const from = Math.max(0, Math.floor(above / rowHeight) - overscan);
      const to = Math.min(from + mostRows, Math.ceil((above + scroller.clientHeight) / rowHeight) + overscan);
      setRange((known) => (known.from === from && known.to === to ? known : { from, to }));
    };
    look();
    scroller.addEventListener('scroll', look, { passive: true });
    const observer = new ResizeObserver(look);
    observer.observe(scroller);
    return () => {
      scroller.removeEventListener('scroll', look);
      observer.disconnect();
    };
  }, [rowHeight, count]);

  const isNearEnd = range.to + nearRows >= count;
  useEffect(() => {
    if (isNearEnd) onNearEnd?.();
  }, [isNearEnd, count, onNearEnd]);

  useEffect(() => {
    const scroller = list.current?.closest<HTMLElement>('[data-scroller], .page');
    if (shownAt < 0 || !list.current || !scroller) return;
    const top = list.current.getBoundingClientRect().top - scroller.getBoundingClientRect().top + shownAt * rowHeight;
    if (top < 0) scroller.scrollTop += top;
    else if (top + rowHeight > scroller.clientHeight) scroller.scrollTop += top + rowHeight - scroller.clientHeight;
  }, [shownAt, rowHeight]);

  const from = Math.min(range.from, Math.max(0, count - 1));
  const to = Math.min(count, range.to);
  return (
    <ul ref={list} className="rows virtual" aria-label={label} style={{ height: count * rowHeight }}>
      {Array.from({ length: Math.max(0, to - from) }, (_, offset) => {
        const at = from + offset;
        return (
          <li
            key={keyOf(at)}
            aria-setsize={count}
            aria-posinset={at + 1}
            style={{ top: at * rowHeight, height: rowHeight }}
          >
            {render(at)}
          </li>
        );
      })}
    </ul>
  );
}

/** Whether the screen is at most so wide; without a width, as narrow as a phone. */
export function useIsNarrow(mostWide = 720): boolean {
  const query = `(width <= ${mostWide}px)`;
  const [isNarrow, setIsNarrow] = useState(() => matchMedia(query).matches);
  useEffect(() => {
    const media = matchMedia(query);
    const look = (): void => setIsNarrow(media.matches);
    media.addEventListener('change', look);
    return () => media.removeEventListener('change', look);
  }, [query]);
  return isNarrow;
}
