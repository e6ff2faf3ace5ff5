export interface TransportLimits {
  /** Of one message, as it travels. */
  readonly maxMessageBytes: number;
  /** Of the bodies of all large requests together that are being received or answered. A larger one comes alone. */
  readonly maxBufferedBytes: number;
  /** Of all small requests that are not whole yet: those of known callers, and those of everyone else. */
  readonly maxSmallBytes: number;
  /** How long a large request waits until there is room for it. */
  readonly roomWaitMs: number;
  readonly maxHeaderBytes: number;
  /** At all doors together. */
  readonly maxConnections: number;
  readonly maxExchangesPerConnection: number;
  /** From accepting a connection until enough has arrived to tell its protocol. */
  readonly firstBytesTimeoutMs: number;
  readonly headersTimeoutMs: number;
  /** For a whole request, headers and body; a streaming method is exempt. */
  readonly requestTimeoutMs: number;
  /** For a connection on which nothing is asked. */
  readonly idleTimeoutMs: number;
  /** How often HTTP/1.1 connections are looked over for the timeouts above. */
  readonly timeoutCheckMs: number;
  /**
   * How long after its deadline a handler may still give its own answer, which says what was recorded. After that the
   * transport answers `deadline_exceeded`.
   */
  readonly lateAnswerMs: number;
}

const mebibyte = 1024 * 1024;

export const defaultLimits: TransportLimits = {
  // A file of 100 MiB, the most that may be written, is 133.4 MiB in the base64 of JSON; the rest is for the envelope.
  maxMessageBytes: 136 * mebibyte,
  // A call takes up to five times its body: as bytes, as text, as arguments, in its canonical form and as a file.
  maxBufferedBytes: 64 * mebibyte,
  maxSmallBytes: 64 * mebibyte,
  roomWaitMs: 90_000,
  maxHeaderBytes: 16 * 1024,
  maxConnections: 4000,
  maxExchangesPerConnection: 1024,
  firstBytesTimeoutMs: 10_000,
  headersTimeoutMs: 10_000,
  requestTimeoutMs: 120_000,
  idleTimeoutMs: 120_000,
  timeoutCheckMs: 1000,
  lateAnswerMs: 1000,
};
