import { useLayoutEffect, useRef } from 'react';

/** Keys for the whole page, except where somebody writes, holds another key, or rests on one. */
export function useKeys(onKey: (key: string) => boolean): void {
  const latest = useRef(onKey);
  // With the drawing, not after it: a key always means what is on the screen.
  useLayoutEffect(() => {
    latest.current = onKey;
  });
  useLayoutEffect(() => {
    const listen = (event: KeyboardEvent): void => {
      if (event.repeat || event.isComposing || event.ctrlKey || event.metaKey || event.altKey) return;
      const target = event.target as HTMLElement;
      if (target.closest('input, textarea, select, dialog, [contenteditable]')) return;
      // Space and Enter belong to the button or link that has the focus.
      if ((event.key === ' ' || event.key === 'Enter') && target.closest('button, a, summary')) return;
      if (latest.current(event.key)) event.preventDefault();
    };
    addEventListener('keydown', listen);
    return () => removeEventListener('keydown', listen);
  }, []);
}
