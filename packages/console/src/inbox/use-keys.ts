import { useLayoutEffect, useRef } from 'react';

/**
 * Keys for the whole page, except where somebody writes, holds another key, or rests on one. A button that has the focus
 * from a click of the mouse is done with: the keys belong to the page again.
 */
export function useKeys(
  onKey: (key: string) => boolean,
  /** Its keys count before those of the page, which then does not see them. */
  { isFirst = false }: { readonly isFirst?: boolean } = {},
): void {
  const latest = useRef(onKey);
  // With the drawing, not after it: a key always means what is on the screen.
  useLayoutEffect(() => {
    latest.current = onKey;
  });
  useLayoutEffect(() => {
    let isByPointer = false;
    const notePointer = (): void => void (isByPointer = true);
    const listen = (event: KeyboardEvent): void => {
      if (event.key === 'Tab') isByPointer = false;
      if (event.repeat || event.isComposing || event.ctrlKey || event.metaKey || event.altKey) return;
      const target = event.target as HTMLElement;
      if (target.closest('input, textarea, select, dialog, [contenteditable]')) return;
      // Space and Enter belong to the button or link that has the focus.
      const button = target.closest<HTMLElement>('button, a, summary');
      const isPress = event.key === ' ' || event.key === 'Enter';
      if (isPress && button !== null && !isByPointer) return;
      if (event.defaultPrevented || !latest.current(event.key)) return;
      event.preventDefault();
      // Some browsers press the button when the key is released.
      if (isPress) button?.blur();
    };
    addEventListener('keydown', listen, isFirst);
    addEventListener('pointerdown', notePointer, true);
    return () => {
      removeEventListener('keydown', listen, isFirst);
      removeEventListener('pointerdown', notePointer, true);
    };
  }, [isFirst]);
}
