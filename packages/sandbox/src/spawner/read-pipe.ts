import { Socket } from 'node:net';

/** One for all pipes: what is in it is used before the next read. Buffers for each would make this process grow. */
const buffer = Buffer.alloc(64 * 1024);

/** Takes over a descriptor and reads it until its end. `onBytes` must copy what it wants to keep. */
export function readPipe(fd: number, onBytes: (bytes: Uint8Array) => void): Socket {
  const socket = new Socket({
    fd,
    readable: true,
    writable: false,
    onread: {
      buffer,
      callback: (count) => {
        onBytes(buffer.subarray(0, count));
        return true;
      },
    },
  });
  // A pipe closes after every error.
  socket.on('error', () => undefined);
  return socket.resume();
}
