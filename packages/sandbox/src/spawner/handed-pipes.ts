import type { Socket } from 'node:net';

/** How much may wait for a program that does not read. */
const mostWaitingBytes = 16 * 1024 * 1024;
/** How long an open but silent pipe is read when every process of the program is gone. */
const graceMs = 100;

/** The input of a program whose pipes the daemon has. Errors here harm nobody: a program need not read. */
export class HandedInput {
  readonly #pipe: Socket;

  constructor(pipe: Socket) {
    this.#pipe = pipe.on('error', () => undefined);
  }

  /** False: so much waits to be read that the program seems to read nothing. */
  write(bytes: Uint8Array): boolean {
    if (!this.#pipe.destroyed) this.#pipe.write(bytes);
    return this.#pipe.writableLength <= mostWaitingBytes;
  }

  /** Writes everything, however slowly the program reads, then ends the input. */
  end(bytes: Uint8Array): void {
    // To end a stream that could be read as well does not close it.
    if (!this.#pipe.destroyed) this.#pipe.write(bytes, () => this.#pipe.destroy());
  }

  close(): void {
    this.#pipe.destroy();
  }
}

/** The output of such a program, read no faster than it is consumed: the pipe fills, and the program waits. */
export class HandedOutput {
  readonly #pipe: Socket;
  readonly #ended: Promise<void>;
  #isWaiting = false;
  #takenAtMs = 0;

  /** `consume` uses the bytes at once, or says when it has. */
  constructor(pipe: Socket, consume: (bytes: Uint8Array) => Promise<void> | undefined) {
    this.#pipe = pipe.on('error', () => undefined);
    this.#ended = new Promise((resolve) => {
      pipe.once('end', resolve);
      pipe.once('close', () => resolve());
    });
    pipe.on('data', (bytes: Uint8Array) => {
      this.#takenAtMs = performance.now();
      const consumed = consume(bytes);
      if (consumed === undefined) return;
      this.#isWaiting = true;
      pipe.pause();
      const goOn = (): void => {
        this.#isWaiting = false;
        pipe.resume();
      };
      consumed.then(goOn, goOn);
    });
    pipe.resume();
  }

  /**
   * Resolves when everything that was written has been consumed. Call it when every process of the program is gone:
   * then a pipe that stays open is held by somebody outside, and is left after a moment of silence.
   */
  async drain(): Promise<void> {
    const timer = setInterval(() => {
      if (!this.#isWaiting && performance.now() - this.#takenAtMs > graceMs) this.close();
    }, graceMs);
    await this.#ended;
    clearInterval(timer);
  }

  close(): void {
    this.#pipe.destroy();
  }
}
