import { HpackDecoder } from './hpack-decoder.ts';
import type { HeaderLimits } from './hpack-decoder.ts';
import { checkTrailers, parseRequestHead } from './request-head.ts';
import type { RequestHead } from './request-head.ts';

/** Why a stream is reset. The connection goes on. */
export type HeadFault = 'malformed' | 'too large';

interface KeptHead {
  readonly block: Uint8Array;
  readonly head: RequestHead;
}

const mostKept = 4;
const longestKeptBlock = 512;
const largestKeptList = 4096;

/**
 * Reads the heads of the requests of one connection. Clients send the very same block with call after call, and then
 * the head that was read before is returned again, frozen. No one may change a head.
 */
export class HeadReader {
  readonly #decoder: HpackDecoder;
  /** Good as long as the table has the version with which they were read. None of them changed it. */
  readonly #kept: KeptHead[] = [];
  #keptVersion = 0;
  #nextPlace = 0;

  constructor(limits: HeaderLimits) {
    this.#decoder = new HpackDecoder(limits);
  }

  /** For every block that begins a stream, in the order of arrival. Throws CompressionError: the connection is lost. */
  readRequest(block: Buffer): RequestHead | HeadFault {
    const version = this.#decoder.tableVersion;
    if (version === this.#keptVersion) {
      for (const kept of this.#kept) if (isSame(kept.block, block)) return kept.head;
    }
    const { fields, listBytes, tooLarge } = this.#decoder.decode(block);
    if (tooLarge) return 'too large';
    const head = parseRequestHead(fields);
    if (head === undefined) return 'malformed';
    const isKeepable = block.length <= longestKeptBlock && listBytes <= largestKeptList;
    if (isKeepable && this.#decoder.tableVersion === version) this.#keep(block, head);
    return head;
  }

  /** For every further block of a stream. Undefined: it is well formed. Throws CompressionError. */
  readTrailers(block: Buffer): HeadFault | undefined {
    const { fields, tooLarge } = this.#decoder.decode(block);
    if (tooLarge) return 'too large';
    return checkTrailers(fields) ? undefined : 'malformed';
  }

  #keep(block: Buffer, head: RequestHead): void {
    const version = this.#decoder.tableVersion;
    if (version !== this.#keptVersion) this.#kept.length = 0;
    this.#keptVersion = version;
    Object.freeze(head.headers);
    Object.freeze(head.raw);
    // A copy: the block is a part of a larger piece of memory, and that will be written to again.
    this.#kept[this.#kept.length < mostKept ? this.#kept.length : this.#nextPlace] = {
      block: new Uint8Array(block),
      head,
    };
    this.#nextPlace = (this.#nextPlace + 1) % mostKept;
  }
}

/** From here on, the call into native code is worth its price. */
const longForLoop = 64;

function isSame(kept: Uint8Array, block: Buffer): boolean {
  if (kept.length !== block.length) return false;
  if (kept.length > longForLoop) return block.equals(kept);
  for (let at = 0; at < kept.length; at++) if (kept[at] !== block[at]) return false;
  return true;
}
