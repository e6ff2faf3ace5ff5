import { useEffect, useState } from 'react';

export const deadMs = 500;

/**
 * False for half a second after something else came under the keys: another card, another effect, one more run, or the
 * window itself. A key that was on its way for what was there before must not decide about what is there now.
 */
export function useArmed(subject: string): boolean {
  const [armedFor, setArmedFor] = useState<string>();
  const [focusCount, setFocusCount] = useState(0);
  useEffect(() => {
    const onFocus = (): void => setFocusCount((count) => count + 1);
    addEventListener('focus', onFocus);
    return () => removeEventListener('focus', onFocus);
  }, []);
  const wanted = `${subject} ${focusCount}`;
  useEffect(() => {
    const timer = setTimeout(() => setArmedFor(wanted), deadMs);
    return () => clearTimeout(timer);
  }, [wanted]);
  return armedFor === wanted;
}
