import { createContext, useContext, useSyncExternalStore } from 'react';
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

/** One for the whole page: everything that tells the time is drawn together. */
const clock = {
  nowMs: daemonNowMs(),
  listeners: new Set<() => void>(),
  timer: 0 as ReturnType<typeof setInterval> | 0,
};

function onTick(listener: () => void): () => void {
  const { listeners } = clock;
  listeners.add(listener);
  if (clock.timer === 0) {
    clock.timer = setInterval(() => {
      clock.nowMs = daemonNowMs();
      for (const each of listeners) each();
    }, 1000);
  }
  return () => {
    listeners.delete(listener);
    if (listeners.size > 0 || clock.timer === 0) return;
    clearInterval(clock.timer);
    clock.timer = 0;
  };
}

/** The time at the daemon, told every second. */
export function useNowMs(): number {
  return useSyncExternalStore(onTick, readClock);
}

/** While nothing tells the time, the clock stands still. */
function readClock(): number {
  if (clock.timer === 0) clock.nowMs = daemonNowMs();
  return clock.nowMs;
}

/** The beginning of the day at the daemon. For what is told by day, so that it is not drawn every second. */
export function useToday(): number {
  return useSyncExternalStore(onTick, () => new Date(readClock()).setHours(0, 0, 0, 0));
}
