import { closeSync, writeSync } from 'node:fs';
import { Socket } from 'node:net';

/** How much of an input that goes on may wait for its reader. */
const mostWaitingBytes = 16 * 1024 * 1024;

/** The input of a program. Errors here harm nobody: a program need not read its input. */
export class InputPipe {
  #fd: number | undefined;
  #socket: Socket | undefined;

  /** Takes over the descriptor, which does not block. */
  constructor(fd: number) {
    this.#fd = fd;
  }

  /** Writes everything, however slowly the program reads, then ends the input. To be called once. */
  feed(bytes: Uint8Array): void {
    const fd = this.#fd;
    if (fd === undefined) return;
    // What fits into the pipe needs no stream.
    const rest = bytes.subarray(writeWhatFits(fd, bytes));
    if (rest.length === 0) {
      this.close();
      return;
    }
    this.#fd = undefined;
    this.#socket = openSocket(fd);
    this.#socket.end(rest);
  }

  /**
   * Writes a part and leaves the input open. False: so much waits to be read that the program seems to read nothing.
   */
  write(bytes: Uint8Array): boolean {
    if (this.#fd !== undefined) {
      const rest = bytes.subarray(writeWhatFits(this.#fd, bytes));
      if (rest.length === 0) return true;
      this.#socket = openSocket(this.#fd);
      this.#fd = undefined;
      this.#socket.write(rest);
    } else this.#socket?.write(bytes);
    return (this.#socket?.writableLength ?? 0) <= mostWaitingBytes;
  }

  close(): void {
    this.#socket?.destroy();
    if (this.#fd !== undefined) closeSync(this.#fd);
    this.#fd = undefined;
  }
}

function openSocket(fd: number): Socket {
  const socket = new Socket({ fd, readable: false, writable: true });
  socket.on('error', () => undefined);
  return socket;
}

function writeWhatFits(fd: number, bytes: Uint8Array): number {
  let written = 0;
  try {
    while (written < bytes.length) written += writeSync(fd, bytes, written);
  } catch {
    // The pipe is full, or its reader is gone; the stream finds out which.
  }
  return written;
}
