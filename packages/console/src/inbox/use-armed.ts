import { useCallback, useEffect, useLayoutEffect, useRef, useState } from 'react';

const deadMs = 500;

export interface Armed {
  /** For drawing. */
  readonly isArmed: boolean;
  /** For acting: true to the millisecond, also when nothing was drawn since. */
  readonly checkArmed: () => boolean;
}

/**
 * Not armed for half a second after something else came under the keys: another card, another effect, one more run, or
 * the window itself. A key that was on its way for what was there before must not decide about what is there now.
 */
export function useArmed(subject: string): Armed {
  const movedAtMs = useRef(Number.POSITIVE_INFINITY);
  const [isArmed, setIsArmed] = useState(false);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);

  const disarm = useCallback(() => {
    movedAtMs.current = performance.now();
    setIsArmed(false);
    clearTimeout(timer.current);
    timer.current = setTimeout(() => setIsArmed(true), deadMs);
  }, []);

  // With the drawing, not after it.
  useLayoutEffect(() => {
    disarm();
    return () => clearTimeout(timer.current);
  }, [subject, disarm]);

  useEffect(() => {
    addEventListener('focus', disarm);
    return () => removeEventListener('focus', disarm);
  }, [disarm]);

  const checkArmed = useCallback(() => performance.now() - movedAtMs.current >= deadMs, []);
  return { isArmed, checkArmed };
}
