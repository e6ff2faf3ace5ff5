// Loaded before everything else, in each thread: the clock of a demonstration, which can stand in the past.
import { getEnvironmentData, isMainThread, setEnvironmentData } from 'node:worker_threads';

const name = 'sallyport-demo-clock';
const known: unknown = getEnvironmentData(name);
const shared = known instanceof SharedArrayBuffer ? known : new SharedArrayBuffer(8);
if (isMainThread) setEnvironmentData(name, shared);
/** How far it is ahead of the real one, in milliseconds. */
const ahead = new Float64Array(shared);
const RealDate = Date;
const realNow = RealDate.now.bind(RealDate);

const now = (): number => realNow() + (ahead[0] ?? 0);

/** Time goes on from there as it always does. It never goes back. */
export function setClock(timeMs: number): void {
  ahead[0] = Math.max(Math.round(timeMs), now()) - realNow();
}

/** Where a demonstration begins: the only step back. */
export function beginAt(timeMs: number): void {
  ahead[0] = Math.round(timeMs) - realNow();
}

export const realNowMs = realNow;

globalThis.Date = new Proxy(RealDate, {
  construct: (target, args: unknown[], newTarget) =>
    Reflect.construct(target, args.length === 0 ? [now()] : args, newTarget) as object,
  get: (target, member, receiver) => (member === 'now' ? now : (Reflect.get(target, member, receiver) as unknown)),
});
