import { useCallback, useEffect, useState } from 'react';
import type { MaskedSecret } from '../daemon/messages.ts';

export interface RevealedSecrets {
  /** By their numbers. */
  readonly values: ReadonlyMap<number, string>;
  /** The one that somebody is asked about. Undefined: none. */
  readonly asked: MaskedSecret | undefined;
  readonly ask: (secret: MaskedSecret) => void;
  /** Answers the question: with the value, or undefined when it is not shown. */
  readonly show: (value: string | undefined) => void;
  readonly hide: (secret: MaskedSecret) => void;
}

/** So long values stay on the screen. */
const shownMs = 30_000;

/** Secrets that somebody looks at: on the screen for a while, and nowhere else. */
export function useRevealed(): RevealedSecrets {
  const [values, setValues] = useState<ReadonlyMap<number, string>>(new Map());
  const [asked, setAsked] = useState<MaskedSecret>();
  useEffect(() => {
    if (values.size === 0) return undefined;
    const timer = setTimeout(() => setValues(new Map()), shownMs);
    return () => clearTimeout(timer);
  }, [values]);
  const show = useCallback(
    (value: string | undefined) => {
      if (asked !== undefined && value !== undefined) setValues((shown) => new Map(shown).set(asked.number, value));
      setAsked(undefined);
    },
    [asked],
  );
  const hide = useCallback(({ number }: MaskedSecret) => {
    setValues((shown) => new Map([...shown].filter(([each]) => each !== number)));
  }, []);
  return { values, asked, ask: setAsked, show, hide };
}
