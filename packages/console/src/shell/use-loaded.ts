import { useCallback, useEffect, useState } from 'react';
import { troubleOf } from './parts.tsx';
import type { Trouble } from './parts.tsx';

export interface Loaded<Value> {
  /** Undefined until it is there for the first time; then the last one that was. */
  readonly value: Value | undefined;
  readonly trouble: Trouble | undefined;
  readonly reload: () => void;
}

/** Loads something when the page opens, and again whenever `version` changes. `load` must not change. */
export function useLoaded<Value>(load: () => Promise<Value>, version: unknown = 0): Loaded<Value> {
  const [value, setValue] = useState<Value>();
  const [trouble, setTrouble] = useState<Trouble>();
  const [attempt, setAttempt] = useState(0);
  useEffect(() => {
    let isCurrent = true;
    const run = async (): Promise<void> => {
      try {
        const loaded = await load();
        if (!isCurrent) return;
        setValue(loaded);
        setTrouble(undefined);
      } catch (error) {
        if (isCurrent) setTrouble(troubleOf(error));
      }
    };
    void run();
    return () => {
      isCurrent = false;
    };
  }, [load, version, attempt]);
  const reload = useCallback(() => setAttempt((count) => count + 1), []);
  return { value, trouble, reload };
}
