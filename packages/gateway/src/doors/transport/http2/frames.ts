import { ownPiece } from '../wire/keep-piece.ts';

/** Of HTTP/2, RFC 9113. */
export const frameTypes = {
  data: 0,
  headers: 1,
  priority: 2,
  reset: 3,
  settings: 4,
  pushPromise: 5,
  ping: 6,
  goAway: 7,
  windowUpdate: 8,
  continuation: 9,
} as const;

export const frameFlags = { endStream: 0x1, ack: 0x1, endHeaders: 0x4, padded: 0x8, priority: 0x20 } as const;

export const errorCodes = {
  none: 0,
  protocol: 1,
  internal: 2,
  flowControl: 3,
  streamClosed: 5,
  frameSize: 6,
  refused: 7,
  cancel: 8,
  compression: 9,
  enhanceYourCalm: 11,
} as const;

export type ErrorCode = (typeof errorCodes)[keyof typeof errorCodes];

export const settingIds = {
  tableBytes: 1,
  enablePush: 2,
  maxStreams: 3,
  windowBytes: 4,
  frameBytes: 5,
  maxListBytes: 6,
} as const;

/** What both ends take unless they say otherwise: nobody here does. */
export const defaultFrameBytes = 16_384;
export const defaultWindowBytes = 65_535;
export const defaultTableBytes = 4096;
export const largestWindowBytes = 2 ** 31 - 1;
export const largestFrameBytes = 2 ** 24 - 1;

export const frameHeadBytes = 9;
export const clientPreface = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n');

/** A fault of the other end that costs it the whole connection. */
export class ConnectionError extends Error {
  readonly code: ErrorCode;

  constructor(code: ErrorCode, message: string) {
    super(message);
    this.code = code;
  }
}

/** Cuts what comes on a connection into frames. */
export class FrameCutter {
  #rest: Buffer | undefined;

  /** Gives each frame that is whole now to `take`, until that says that no more is wanted. Throws ConnectionError. */
  push(chunk: Buffer, take: (type: number, flags: number, streamId: number, payload: Buffer) => boolean): void {
    const bytes = this.#rest === undefined ? chunk : Buffer.concat([this.#rest, chunk]);
    this.#rest = undefined;
    let at = 0;
    while (bytes.length - at >= frameHeadBytes) {
      const length = bytes.readUIntBE(at, 3);
      if (length > defaultFrameBytes) throw new ConnectionError(errorCodes.frameSize, 'a frame is too long');
      const end = at + frameHeadBytes + length;
      if (end > bytes.length) break;
      const streamId = bytes.readUInt32BE(at + 5) & 0x7fff_ffff;
      const goOn = take(bytes[at + 3] ?? 0, bytes[at + 4] ?? 0, streamId, bytes.subarray(at + frameHeadBytes, end));
      at = end;
      if (!goOn) return;
    }
    if (at < bytes.length) this.#rest = ownPiece(bytes.subarray(at));
  }
}

/** The payload without its padding. Throws ConnectionError. */
export function withoutPadding(payload: Buffer, flags: number): Buffer {
  if ((flags & frameFlags.padded) === 0) return payload;
  const padding = payload[0];
  if (padding === undefined || padding >= payload.length) {
    throw new ConnectionError(errorCodes.protocol, 'a frame has more padding than bytes');
  }
  return payload.subarray(1, payload.length - padding);
}
