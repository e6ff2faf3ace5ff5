import { ConnectionError, errorCodes, frameFlags, withoutPadding } from './frames.ts';

/** A block in more pieces is an attack. */
const mostPieces = 8;

/** A whole header block. */
export interface Block {
  readonly streamId: number;
  readonly endsStream: boolean;
  readonly bytes: Buffer;
}

/** Joins the frames of one header block. */
export class BlockJoiner {
  readonly #maxBytes: number;
  #unfinished: { streamId: number; endsStream: boolean; pieces: Buffer[]; size: number } | undefined;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** Of the block whose next piece must be the next frame of the connection. Undefined: there is none. */
  get streamId(): number | undefined {
    return this.#unfinished?.streamId;
  }

  /** Takes HEADERS. Undefined: more is to come. Throws ConnectionError. */
  begin(flags: number, streamId: number, payload: Buffer): Block | undefined {
    let piece = withoutPadding(payload, flags);
    if ((flags & frameFlags.priority) !== 0) {
      if (piece.length < 5) throw new ConnectionError(errorCodes.frameSize, 'no room for the priority');
      piece = piece.subarray(5);
    }
    const endsStream = (flags & frameFlags.endStream) !== 0;
    if ((flags & frameFlags.endHeaders) !== 0) return { streamId, endsStream, bytes: piece };
    this.#unfinished = { streamId, endsStream, pieces: [Buffer.from(piece)], size: piece.length };
    return undefined;
  }

  /** Takes CONTINUATION. Undefined: more is to come. Throws ConnectionError. */
  goOn(flags: number, payload: Buffer): Block | undefined {
    const block = this.#unfinished;
    if (block === undefined) throw new ConnectionError(errorCodes.protocol, 'CONTINUATION of nothing');
    block.pieces.push(Buffer.from(payload));
    block.size += payload.length;
    if (block.pieces.length > mostPieces || block.size > this.#maxBytes) {
      throw new ConnectionError(errorCodes.enhanceYourCalm, 'the headers are too long');
    }
    if ((flags & frameFlags.endHeaders) === 0) return undefined;
    this.#unfinished = undefined;
    return { streamId: block.streamId, endsStream: block.endsStream, bytes: Buffer.concat(block.pieces) };
  }
}
