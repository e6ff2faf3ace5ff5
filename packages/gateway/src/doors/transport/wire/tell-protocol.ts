import type { Socket } from 'node:net';

/** How every HTTP/2 connection begins. The first bytes suffice: no HTTP/1.1 method starts with `PRI`. */
const http2Start = Buffer.from('PRI');

export type Protocol = 'http/1.1' | 'http/2';

/**
 * Waits for the first bytes of a connection and tells what it speaks. The bytes stay in the socket for the one who reads
 * next. A connection that stays silent, or closes, is destroyed and never reported.
 */
export function tellProtocol(socket: Socket, timeoutMs: number, report: (protocol: Protocol) => void): void {
  const timer = setTimeout(() => socket.destroy(), timeoutMs);
  let seen: Buffer = Buffer.alloc(0);
  const look = () => {
    const chunk = socket.read() as Buffer | null;
    if (chunk === null) return;
    seen = seen.length === 0 ? chunk : Buffer.concat([seen, chunk]);
    const length = Math.min(seen.length, http2Start.length);
    const maybeHttp2 = seen.compare(http2Start, 0, length, 0, length) === 0;
    if (maybeHttp2 && length < http2Start.length) return;
    settle();
    if (socket.destroyed) return;
    socket.unshift(seen);
    report(maybeHttp2 ? 'http/2' : 'http/1.1');
  };
  const giveUp = () => {
    settle();
    socket.destroy();
  };
  const settle = () => {
    clearTimeout(timer);
    socket.off('readable', look);
    socket.off('end', giveUp);
    socket.off('close', settle);
  };
  socket.on('readable', look);
  socket.on('end', giveUp);
  socket.on('close', settle);
}
