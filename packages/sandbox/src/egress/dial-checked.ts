import { connect } from 'node:net';
import type { Socket } from 'node:net';

/** Starts to connect to an address, which is never a name. */
export type Dial = (address: string, port: number) => Socket;

/** The first of the addresses that answers. Rejects with the error of the last one, or with the reason of `signal`. */
export async function dialChecked(
  addresses: readonly string[],
  port: number,
  options: { readonly dial?: Dial; readonly signal: AbortSignal },
): Promise<Socket> {
  const dial = options.dial ?? dialBySystem;
  let failure: unknown = new Error('there is no address');
  for (const address of addresses) {
    options.signal.throwIfAborted();
    try {
      // One after the other, and not at once, because other machines see each connection.
      return await connected(dial(address, port), options.signal);
    } catch (error) {
      failure = error;
    }
  }
  options.signal.throwIfAborted();
  throw failure;
}

function dialBySystem(address: string, port: number): Socket {
  return connect({ host: address, port, allowHalfOpen: true, noDelay: true });
}

function connected(socket: Socket, signal: AbortSignal): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const stop = (): void => void socket.destroy(new Error('connecting was given up'));
    const settle = (): void => {
      signal.removeEventListener('abort', stop);
      socket.removeListener('error', fail);
    };
    const fail = (error: Error): void => {
      settle();
      reject(error);
    };
    signal.addEventListener('abort', stop);
    socket.once('error', fail);
    socket.once('connect', () => {
      settle();
      resolve(socket);
    });
  });
}
