import type { Socket } from 'node:net';
import { readPipe } from './read-pipe.ts';

/** How much of one program's output may be on its way to the consumer. */
const windowBytes = 256 * 1024;
/** How long an open but silent pipe is read when every process of the program is gone. */
const graceMs = 100;

export type OutputName = 'stdout' | 'stderr';

/**
 * Reads the output of one program no faster than somebody consumes it: the pipe fills and the program waits. Bytes
 * beyond the limit are not passed on.
 */
export class OutputValve {
  readonly #maxBytes: number;
  /** Uses the bytes at once, or copies them. */
  readonly #onChunk: (stream: OutputName, bytes: Uint8Array) => void;
  readonly #onExcess: () => void;
  readonly #sockets: Socket[] = [];
  readonly #ended: Promise<void>[] = [];
  #totalBytes = 0;
  #openBytes = 0;
  #takenAtMs = 0;
  #isDiscarding = false;

  constructor(options: {
    readonly maxBytes: number;
    readonly onChunk: (stream: OutputName, bytes: Uint8Array) => void;
    readonly onExcess: () => void;
  }) {
    this.#maxBytes = options.maxBytes;
    this.#onChunk = options.onChunk;
    this.#onExcess = options.onExcess;
  }

  /** Takes over the descriptor. */
  attach(stream: OutputName, fd: number): void {
    const socket = readPipe(fd, (bytes) => this.#take(stream, bytes));
    this.#sockets.push(socket);
    this.#ended.push(new Promise((resolve) => socket.once('close', () => resolve())));
  }

  acknowledge(bytes: number): void {
    this.#openBytes -= bytes;
    if (this.#openBytes < windowBytes) for (const socket of this.#sockets) socket.resume();
  }

  /** From now on the output is not needed. */
  discard(): void {
    this.#isDiscarding = true;
    for (const socket of this.#sockets) socket.resume();
  }

  /**
   * Resolves when everything that was written has been passed on. Call it when every process of the program is gone:
   * then a pipe that stays open is held by somebody outside, and is left after a moment of silence.
   */
  async drain(): Promise<void> {
    const timer = setInterval(() => {
      const isSilent = performance.now() - this.#takenAtMs > graceMs && this.#openBytes < windowBytes;
      if (isSilent) for (const socket of this.#sockets) socket.destroy();
    }, graceMs);
    await Promise.all(this.#ended);
    clearInterval(timer);
  }

  #take(stream: OutputName, bytes: Uint8Array): void {
    this.#takenAtMs = performance.now();
    if (this.#isDiscarding) return;
    const room = this.#maxBytes - this.#totalBytes;
    this.#totalBytes += bytes.length;
    const passed = bytes.length > room ? bytes.subarray(0, room) : bytes;
    if (passed.length > 0) {
      this.#openBytes += passed.length;
      this.#onChunk(stream, passed);
    }
    if (bytes.length > room) {
      this.discard();
      this.#onExcess();
    } else if (this.#openBytes >= windowBytes) {
      for (const socket of this.#sockets) socket.pause();
    }
  }
}
