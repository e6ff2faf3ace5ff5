import { useCallback, useEffect, useState } from 'react';
import type { MaskedSecret } from '../daemon/messages.ts';
import type { RevealTarget } from './reveal-dialog.tsx';

/** One masked part of what somebody decides about. */
export interface MaskedPlace {
  readonly secret: MaskedSecret;
  readonly target: RevealTarget;
  /** Which step of a plan it is in. Absent: it is no plan. */
  readonly step?: number;
}

export interface RevealedParts {
  /** The value on the screen. Undefined: it is masked. */
  readonly valueOf: (place: MaskedPlace) => string | undefined;
  /** Whether all of it was in view since this was opened. The gate keeps count of what it revealed as well, and decides. */
  readonly wasShown: (place: MaskedPlace) => boolean;
  readonly noteShown: (place: MaskedPlace) => void;
  /** Which was revealed last, by its key. Undefined: nothing is revealed. */
  readonly latest: string | undefined;
  /** Another one whenever something appears or disappears. */
  readonly version: object;
  /** The one that somebody is asked about. Undefined: none. */
  readonly asked: MaskedPlace | undefined;
  readonly ask: (place: MaskedPlace) => void;
  /** Answers the question: with the value, or undefined when it is not shown. */
  readonly show: (value: string | undefined) => void;
  readonly hide: (place: MaskedPlace) => void;
}

/** So long the value of a secret stays on the screen. The rest of a long text is no secret, and stays. */
const shownMs = 30_000;

/** What somebody looks at: on the screen, secrets for a while only, and nowhere else. */
export function useRevealed(): RevealedParts {
  const [values, setValues] = useState<ReadonlyMap<string, string>>(new Map());
  const [shown, setShown] = useState<ReadonlySet<string>>(new Set());
  const [asked, setAsked] = useState<MaskedPlace>();
  useEffect(() => {
    if (!values.keys().some(isSecret)) return undefined;
    const timer = setTimeout(() => setValues(new Map([...values].filter(([key]) => !isSecret(key)))), shownMs);
    return () => clearTimeout(timer);
  }, [values]);
  const show = useCallback(
    (value: string | undefined) => {
      setAsked(undefined);
      if (asked === undefined || value === undefined) return;
      const key = placeKey(asked);
      setValues((present) => new Map(present).set(key, value));
      // It stays, and its rows count like all others.
      if (asked.secret.rest) setShown((present) => new Set(present).add(key));
    },
    [asked],
  );
  const hide = useCallback((place: MaskedPlace) => {
    setValues((present) => new Map([...present].filter(([key]) => key !== placeKey(place))));
  }, []);
  const noteShown = useCallback((place: MaskedPlace) => {
    setShown((present) => new Set(present).add(placeKey(place)));
  }, []);
  return {
    version: values,
    latest: [...values.keys()].filter(isSecret).at(-1),
    noteShown,
    valueOf: (place) => values.get(placeKey(place)),
    wasShown: (place) => shown.has(placeKey(place)),
    asked,
    ask: setAsked,
    show,
    hide,
  };
}

/** One name for each masked part of a card. */
export function placeKey({ secret: { number, rest }, step = -1 }: MaskedPlace): string {
  return `${rest ? 'rest' : 'secret'} ${step} ${number}`;
}

function isSecret(key: string): boolean {
  return key.startsWith('secret');
}
