import { createContext, useContext, useEffect, useState, useSyncExternalStore } from 'react';
import { daemonNowMs } from '../daemon/connect.ts';
import type { Gate } from './gate.ts';
import type { Observable } from './observable.ts';

export const GateContext = createContext<Gate | undefined>(undefined);

export function useGate(): Gate {
  const gate = useContext(GateContext);
  if (gate === undefined) throw new Error('this part of the page needs somebody who is logged in');
  return gate;
}

export function useValue<Value>(observable: Observable<Value>): Value {
  return useSyncExternalStore(observable.subscribe, observable.get);
}

/** The time at the daemon, told every second. */
export function useNowMs(): number {
  const [nowMs, setNowMs] = useState(daemonNowMs);
  useEffect(() => {
    const timer = setInterval(() => setNowMs(daemonNowMs()), 1000);
    return () => clearInterval(timer);
  }, []);
  return nowMs;
}
