import { useCallback, useEffect, useRef, useState } from 'react';
import { troubleOf } from './parts.tsx';
import type { Trouble } from './parts.tsx';

export interface Loaded<Value> {
  /** Undefined until it is there for the first time; then the last one that was. */
  readonly value: Value | undefined;
  readonly trouble: Trouble | undefined;
  readonly reload: () => void;
}

/**
 * Loads something when the page opens, and again whenever `version` changes. `load` must not change. One answer is under
 * way at a time, and each is shown: a daemon that needs longer than it takes for the next version keeps nobody waiting.
 */
export function useLoaded<Value>(load: () => Promise<Value>, version: unknown = 0): Loaded<Value> {
  const [value, setValue] = useState<Value>();
  const [trouble, setTrouble] = useState<Trouble>();
  const [attempt, setAttempt] = useState(0);
  const underWay = useRef<UnderWay>(undefined);
  useEffect(() => {
    if (underWay.current?.load === load) {
      underWay.current.isOutdated = true;
      return;
    }
    const mine: UnderWay = { load, isOutdated: false };
    underWay.current = mine;
    const run = async (): Promise<void> => {
      do {
        mine.isOutdated = false;
        try {
          const loaded = await load();
          if (underWay.current !== mine) return;
          setValue(loaded);
          setTrouble(undefined);
        } catch (error) {
          if (underWay.current === mine) setTrouble(troubleOf(error));
        }
      } while (underWay.current === mine && mine.isOutdated);
      if (underWay.current === mine) underWay.current = undefined;
    };
    void run();
  }, [load, version, attempt]);
  useEffect(() => () => void (underWay.current = undefined), []);
  const reload = useCallback(() => setAttempt((count) => count + 1), []);
  return { value, trouble, reload };
}

interface UnderWay {
  readonly load: () => Promise<unknown>;
  /** Something has changed since it was asked for: it is asked for once more. */
  isOutdated: boolean;
}
