import { closeSync, writeSync } from 'node:fs';
import { Socket } from 'node:net';

/** The input of a program. Nothing goes wrong here for others: a program need not read what it is given. */
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
    this.#socket = new Socket({ fd, readable: false, writable: true });
    this.#socket.on('error', () => undefined);
    this.#socket.end(rest);
  }

  close(): void {
    this.#socket?.destroy();
    if (this.#fd !== undefined) closeSync(this.#fd);
    this.#fd = undefined;
  }
}

function writeWhatFits(fd: number, bytes: Uint8Array): number {
  let written = 0;
  try {
    while (written < bytes.length) written += writeSync(fd, bytes, written);
  } catch {
    // The pipe is full, or nobody reads it any more; the stream finds out which.
  }
  return written;
}
