import { randomUUID } from 'node:crypto';

/** A stream that waits at a door for the call that uses it. */
export interface Transfer {
  readonly id: string;
  /** The call has ended: the id is worth nothing any more. */
  readonly close: () => void;
}

/**
 * Streams on their way between a door and a tool. Arguments are JSON, so a door leaves its stream here and the call
 * names it by a random id. Only a call of the session that opened the stream can take it, and only once.
 */
export class Transfers<Stream> {
  readonly #waiting = new Map<string, { readonly sessionId: string; readonly stream: Stream }>();

  register(sessionId: string, stream: Stream): Transfer {
    const id = randomUUID();
    this.#waiting.set(id, { sessionId, stream });
    return { id, close: () => void this.#waiting.delete(id) };
  }

  take(id: string, sessionId: string): Stream | undefined {
    const found = this.#waiting.get(id);
    // One that belongs to someone else is left alone and looks like none.
    if (found?.sessionId !== sessionId) return undefined;
    this.#waiting.delete(id);
    return found.stream;
  }
}

/** Bytes that a caller sends. Throws when they stop before their end. */
export interface UploadStream {
  readonly chunks: AsyncIterable<Uint8Array>;
  readonly onReceived: (bytes: number) => void;
}

/** Where the bytes of content go. */
export interface DownloadStream {
  /** Comes first: what will be sent. */
  readonly begin: (range: {
    readonly sizeBytes: number;
    readonly offset: number;
    readonly lengthBytes: number;
  }) => void;
  /** Resolves when there is room for more. Rejects when nobody takes it any more. */
  readonly write: (chunk: Uint8Array) => Promise<void>;
}
