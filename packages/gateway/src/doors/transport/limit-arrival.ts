import type { Http2Stream } from './http2/stream.ts';

/** How long the sender of a body that nobody will read has to notice the answer before it is cut off. */
export const lingerMs = 1000;

/** A request that is not complete in time is cut off, however slowly and steadily it keeps coming. */
export function limitArrival(stream: Http2Stream, timeoutMs: number): void {
  if (stream.complete) return;
  const timer = setTimeout(() => stream.close(), timeoutMs).unref();
  const clear = () => clearTimeout(timer);
  stream.once('end', clear);
  stream.once('close', clear);
}
