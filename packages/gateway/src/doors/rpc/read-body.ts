import type { Readable } from 'node:stream';
import { RpcError } from './rpc-error.ts';

/** Counts the bytes of unfinished bodies, so that many large requests together cannot fill the memory. */
export class BodyRoom {
  readonly #maxBytes: number;
  #takenBytes = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  take(bytes: number): void {
    if (this.#takenBytes + bytes > this.#maxBytes) {
      throw new RpcError('resource_exhausted', 'Too many large requests are being received; try again later.');
    }
    this.#takenBytes += bytes;
  }

  give(bytes: number): void {
    this.#takenBytes -= bytes;
  }
}

export interface BodyLimits {
  readonly room: BodyRoom;
  readonly maxBytes: number;
  /** For the whole body, however steadily it trickles. Absent: the HTTP server sees to it. */
  readonly timeoutMs?: number;
  /** Looks at the first bytes and throws when they already show that the body is not acceptable. */
  readonly inspect?: (start: Buffer) => void;
}

/** A claim above the limit is refused before a byte is read. */
export function checkClaimedLength(contentLength: string | undefined, maxBytes: number): void {
  if (contentLength !== undefined && Number(contentLength) > maxBytes) throw tooLarge(maxBytes);
}

/** A request of HTTP/1.1, or a stream of HTTP/2. `aborted` says that it was broken off. */
export type BodySource = Readable & { readonly aborted?: boolean };

/** The whole body. Memory is taken only for bytes that have arrived. */
export function readBody(source: BodySource, { room, maxBytes, timeoutMs, inspect }: BodyLimits): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    let first: Buffer | undefined;
    let further: Buffer[] | undefined;
    let size = 0;
    let takenBytes = 0;
    let settled = false;
    const timer = timeoutMs === undefined ? undefined : setTimeout(() => fail(tooSlow()), timeoutMs);

    // The listeners stay on: taking them off costs more than asking whether they still matter.
    const settle = () => {
      settled = true;
      clearTimeout(timer);
      if (takenBytes > 0) room.give(takenBytes);
    };
    const fail = (error: Error) => {
      settle();
      source.pause();
      reject(error);
    };
    const receive = (chunk: Buffer) => {
      size += chunk.length;
      if (size > maxBytes) throw tooLarge(maxBytes);
      if (first === undefined) {
        inspect?.(chunk);
        first = chunk;
        return;
      }
      // A body that came in one piece never gets here, so the common case is not counted.
      room.take(size - takenBytes);
      takenBytes = size;
      further ??= [first];
      further.push(chunk);
    };
    source.on('data', (chunk: Buffer) => {
      if (settled) return;
      try {
        receive(chunk);
      } catch (error) {
        fail(error as Error);
      }
    });
    source.on('end', () => {
      // Node ends a stream that was reset, too. The first half of a protobuf message can be a whole one: it must not run.
      if (settled || source.aborted === true) return;
      settle();
      resolve(further === undefined ? (first ?? Buffer.alloc(0)) : Buffer.concat(further, size));
    });
    source.on('close', () => {
      if (!settled) fail(new RpcError('canceled', 'The caller went away before the request was complete.'));
    });
  });
}

function tooSlow(): RpcError {
  return new RpcError('deadline_exceeded', 'The request did not arrive in time.');
}

export function tooLarge(maxBytes: number): RpcError {
  return new RpcError('resource_exhausted', `The message exceeds the limit of ${maxBytes} bytes.`);
}
