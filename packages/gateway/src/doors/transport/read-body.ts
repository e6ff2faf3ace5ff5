import { spellBytes } from '@sallyport/contract';
import type { BodyRoom, RoomTicket, SmallOwner } from './body-room.ts';
import { keepPiece } from './wire/keep-piece.ts';
import { RpcError } from './rpc-error.ts';

/** What anyone may send, and what takes no room: a request that is larger must come with a credential. */
export const harmlessBytes = 64 * 1024;
/** So much of a large body is read to find out who sends it: a credential stands before the content. */
export const tellingBytes = 1024;
/** A large body comes at least at this pace, so that nobody holds room for what does not come. */
const leastBytesPerMs = 4096;
const headStartMs = 10_000;
/** By how much the room for a body of unknown length grows. */
const stepBytes = 1024 * 1024;

export interface BodyLimits {
  readonly room: BodyRoom;
  /** Against whom bytes count until there is room of their own for them. */
  readonly smallOwner: SmallOwner;
  readonly maxBytes: number;
  /** How long the body will be, when that is known before it is read. Absent: it is not, or `inspect` tells. */
  readonly claimedBytes?: number | undefined;
  /** For the whole body, however steadily it trickles. Absent: the HTTP server sees to it. */
  readonly timeoutMs?: number;
  /** Looks at the first bytes: throws when they show that the body is not acceptable, returns its length if they tell. */
  readonly inspect?: (start: Buffer) => number | undefined | void;
  /** Whose room a large body takes, asked when it turns out to be one. Rejects for whom nobody knows. */
  readonly identify: (start: Buffer) => Promise<string> | string;
  /** Takes the function that gives back the room, once the body has been read. It is called when all is answered. */
  readonly hold: (release: () => void) => void;
}

/** The length of a body by its header. Refuses a claim above the limit before a byte is read. */
export function readClaimedLength(contentLength: string | undefined, maxBytes: number): number | undefined {
  if (contentLength === undefined) return undefined;
  const claimed = Number(contentLength);
  if (claimed > maxBytes) throw tooLarge(maxBytes);
  return claimed;
}

/** A request of HTTP/1.1, or a stream of HTTP/2. */
export interface BodySource {
  /** It was broken off. */
  readonly aborted?: boolean;
  /** Nothing more will be heard of it. */
  readonly destroyed?: boolean;
  /** The body, if all of it is here already and nobody listens. Absent: nobody can tell. */
  readonly takeWhole?: () => Buffer | undefined;
  on(event: 'data', listener: (chunk: Buffer) => void): unknown;
  on(event: 'end' | 'close', listener: () => void): unknown;
  pause(): unknown;
  resume(): unknown;
}

/** The whole body. Nothing of a large one is read before there is room for it. */
export function readBody(source: BodySource, limits: BodyLimits): Promise<Buffer> {
  const arrived = source.takeWhole?.();
  if (arrived !== undefined) return Promise.resolve(checkWhole(arrived, limits));
  // Its `close` has been told already, when it was broken off while the caller was looked up.
  if (source.destroyed === true) return Promise.reject(leftEarly());
  return new Promise((resolve, reject) => {
    const { room, smallOwner, maxBytes, timeoutMs, inspect, identify, hold } = limits;
    let chunks: Buffer[] = [];
    /** A large body of known length, as far as it has come: to join it at the end would hold up everyone. */
    let whole: Buffer | undefined;
    let size = 0;
    let { claimedBytes } = limits;
    let ticket: RoomTicket | undefined;
    let smallBytes = 0;
    let settled = false;
    let timer = timeoutMs === undefined ? undefined : setTimeout(() => fail(tooSlow()), timeoutMs);

    // The listeners stay on: taking them off costs more than asking whether they still matter.
    const settle = () => {
      settled = true;
      clearTimeout(timer);
      giveSmall();
    };
    const giveSmall = () => {
      room.giveSmall(smallOwner, smallBytes);
      smallBytes = 0;
    };
    const fail = (error: Error) => {
      if (settled) return;
      settle();
      ticket?.release();
      source.pause();
      reject(error);
    };
    const makeRoom = async (): Promise<void> => {
      const wanted = claimedBytes ?? Math.min(maxBytes, size + stepBytes);
      const owner = ticket === undefined ? await identify(joined(chunks, size)) : ticket.owner;
      if (settled) return;
      ticket ??= room.open(owner);
      await ticket.grow(wanted);
      if (settled) return ticket.release();
      giveSmall();
      if (claimedBytes !== undefined) {
        whole = Buffer.allocUnsafeSlow(claimedBytes);
        joined(chunks, size).copy(whole);
        chunks = [];
      }
      clearTimeout(timer);
      timer = setTimeout(() => fail(tooSlow()), arrivalMs(wanted));
    };
    const receive = (chunk: Buffer): void => {
      size += chunk.length;
      const mostBytes = Math.min(maxBytes, Math.max(claimedBytes ?? maxBytes, harmlessBytes));
      if (size > mostBytes) throw tooLarge(mostBytes);
      if (ticket === undefined) {
        room.takeSmall(smallOwner, chunk.length);
        smallBytes += chunk.length;
      }
      if (whole !== undefined) return void chunk.copy(whole, size - chunk.length);
      if (size === chunk.length) claimedBytes = inspect?.(chunk) ?? claimedBytes;
      keepPiece(chunks, chunk);
      if ((claimedBytes ?? size) <= harmlessBytes || size < tellingBytes || (ticket?.bytes ?? 0) >= size) return;
      source.pause();
      makeRoom().then(() => settled || source.resume(), fail);
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
      const taken = ticket;
      if (taken !== undefined) hold(() => taken.release());
      resolve(whole === undefined ? joined(chunks, size) : whole.subarray(0, size));
    });
    source.on('close', () => settled || fail(leftEarly()));
  });
}

/** A window of HTTP/2 holds less than the bytes that anybody may send. */
function checkWhole(body: Buffer, { maxBytes, inspect }: BodyLimits): Buffer {
  if (body.length > maxBytes) throw tooLarge(maxBytes);
  if (body.length > 0) inspect?.(body);
  return body;
}

function joined(chunks: readonly Buffer[], size: number): Buffer {
  const [only] = chunks;
  if (only === undefined) return Buffer.alloc(0);
  return chunks.length === 1 ? only : Buffer.concat(chunks, size);
}

/** How long a body, or a message of a stream, may take that room is kept for. */
export function arrivalMs(bytes: number): number {
  return headStartMs + bytes / leastBytesPerMs;
}

function leftEarly(): RpcError {
  return new RpcError('canceled', 'The caller went away before the request was complete.');
}

export function tooSlow(): RpcError {
  return new RpcError('deadline_exceeded', 'The request did not arrive in time.');
}

export function tooLarge(maxBytes: number): RpcError {
  return new RpcError('resource_exhausted', `The message exceeds the limit of ${spellBytes(maxBytes)}.`);
}
