const messagesPerSecond = 1000;
const bytesPerSecond = 16 * 1024 * 1024;
const burstSeconds = 2;

/** The largest message from an upstream, and the largest answer. */
export const maxMessageBytes = 8 * 1024 * 1024;

/**
 * Says how long to stop reading from one upstream, so that a server that floods the gate slows down only itself: the
 * daemon reads the messages, and its time belongs to all callers.
 */
export class MessageMeter {
  readonly #nowMs: () => number;
  #atMs: number;
  /** Seconds of work that may still be done at once. */
  #credit = burstSeconds;

  constructor(nowMs: () => number = () => performance.now()) {
    this.#nowMs = nowMs;
    this.#atMs = nowMs();
  }

  /** Milliseconds to wait before reading on. Zero: none. */
  charge({ messages, bytes }: { readonly messages: number; readonly bytes: number }): number {
    const nowMs = this.#nowMs();
    this.#credit = Math.min(burstSeconds, this.#credit + (nowMs - this.#atMs) / 1000);
    this.#atMs = nowMs;
    this.#credit -= messages / messagesPerSecond + bytes / bytesPerSecond;
    return Math.max(0, -this.#credit * 1000);
  }
}
