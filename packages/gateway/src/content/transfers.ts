import { randomUUID } from 'node:crypto';
import type { ChunkSource } from './receive-chunks.ts';

/** A stream that waits at a door for the call that uses it. */
export interface Transfer {
  readonly id: string;
  /** The call has ended, and its id is no longer valid. */
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
    // A stream of another session stays, and looks as if it did not exist.
    if (found?.sessionId !== sessionId) return undefined;
    this.#waiting.delete(id);
    return found.stream;
  }
}

/** Bytes that a caller sends. Throws when they stop before their end. */
export interface UploadStream {
  readonly chunks: ChunkSource;
  readonly onReceived: (bytes: number) => void;
}

/** Where the bytes of content go. Both promises reject when the receiver has left, or the signal aborts. */
export interface DownloadStream {
  /** Comes first: what will be sent. */
  readonly begin: (range: DownloadRange, signal: AbortSignal) => Promise<void>;
  /** Resolves when the chunk is no longer needed and there is room for more. */
  readonly write: (chunk: Uint8Array, signal: AbortSignal) => Promise<void>;
}

export interface DownloadRange {
  /** Of the whole content. */
  readonly sizeBytes: number;
  readonly offset: number;
  readonly lengthBytes: number;
}
