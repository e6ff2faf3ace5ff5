export interface EgressLimits {
  /** Connections of the program at once; more are closed as they come. */
  readonly connections: number;
  readonly headerBytes: number;
  /** From the first byte of a request to the end of its headers. */
  readonly headersMs: number;
  /** To resolve a name and to connect. */
  readonly connectMs: number;
  /** Without a byte in either direction. Answers of language models can take minutes. */
  readonly idleMs: number;
  /** Of the whole call, both directions together. Absent: unlimited. */
  readonly bytes?: number;
}

export const defaultEgressLimits: EgressLimits = {
  connections: 64,
  headerBytes: 16 * 1024,
  headersMs: 10_000,
  connectMs: 15_000,
  idleMs: 300_000,
};
