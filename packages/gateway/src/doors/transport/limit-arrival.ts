import type { ServerHttp2Stream } from 'node:http2';

/** The code of HTTP/2 for a stream that is no longer wanted. */
const cancel = 8;

/** How long the sender of a body that nobody will read has to notice the answer before it is cut off. */
export const lingerMs = 1000;

/** A request that is not complete in time is cut off, however slowly and steadily it keeps coming. */
export function limitArrival(stream: ServerHttp2Stream, timeoutMs: number): void {
  if (stream.endAfterHeaders) return;
  const timer = setTimeout(() => stream.close(cancel), timeoutMs).unref();
  const clear = () => clearTimeout(timer);
  stream.once('end', clear);
  stream.once('close', clear);
}
