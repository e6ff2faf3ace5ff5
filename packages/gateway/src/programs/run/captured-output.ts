import type { ContentAccess } from '../../call/tool.ts';

/** What a program wrote to one of its streams. */
export interface CapturedText {
  /** The first bytes; all of them unless `truncated`. */
  readonly bytes: Buffer;
  readonly truncated: boolean;
  readonly totalBytes: number;
  /** Of the whole text in the content store. Absent: it fits into `bytes`. */
  readonly contentHash?: string;
}

/** Holds the first bytes of a stream in memory; once there are more, all of them go to the content store. */
export class CapturedOutput {
  readonly #inlineBytes: number;
  readonly #keep: ContentAccess['keep'];
  readonly #chunks: Uint8Array[] = [];
  #totalBytes = 0;
  #overflow: Overflow | undefined;

  constructor(inlineBytes: number, keep: ContentAccess['keep']) {
    this.#inlineBytes = inlineBytes;
    this.#keep = keep;
  }

  /** Resolves when the store has taken what it must take, so that a slow disk slows the program down. */
  write(chunk: Uint8Array): void | Promise<void> {
    const room = this.#inlineBytes - this.#totalBytes;
    this.#totalBytes += chunk.length;
    if (room > 0) this.#chunks.push(chunk.slice(0, room));
    if (chunk.length <= room) return undefined;
    if (this.#overflow !== undefined) return this.#overflow.write(chunk);
    this.#overflow = new Overflow(this.#keep);
    return this.#overflow.write(Buffer.concat([...this.#chunks, chunk.subarray(Math.max(room, 0))]));
  }

  async finish(): Promise<CapturedText> {
    const bytes = Buffer.concat(this.#chunks);
    const totalBytes = this.#totalBytes;
    if (this.#overflow === undefined) return { bytes, truncated: false, totalBytes };
    return { bytes, truncated: true, totalBytes, contentHash: await this.#overflow.finish() };
  }

  /** Keeps nothing: nobody will be told of it. */
  async discard(): Promise<void> {
    await this.#overflow?.discard();
  }
}

class Overflow {
  readonly #writer: WritableStreamDefaultWriter<Uint8Array>;
  readonly #kept: Promise<{ readonly hash: string }>;

  constructor(keep: ContentAccess['keep']) {
    const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
    this.#writer = writable.getWriter();
    this.#writer.closed.catch(ignore);
    this.#kept = keep(readable);
    this.#kept.catch(ignore);
  }

  async write(chunk: Uint8Array): Promise<void> {
    const written = this.#writer.write(chunk);
    written.catch(ignore);
    // A store that gives up reads no more, so only its own promise tells.
    await Promise.race([written, this.#kept]);
  }

  async finish(): Promise<string> {
    this.#writer.close().catch(ignore);
    return (await this.#kept).hash;
  }

  async discard(): Promise<void> {
    this.#writer.abort(new Error('the program failed')).catch(ignore);
    await this.#kept.catch(ignore);
  }
}

function ignore(): void {
  // The same failure reaches the caller through the promise of the store.
}
