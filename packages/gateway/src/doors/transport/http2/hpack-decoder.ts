import { BlockReader } from './block-reader.ts';
import { CompressionError } from './compression-error.ts';
import { DynamicTable } from './dynamic-table.ts';
import { makeField } from './header-field.ts';
import type { HeaderField } from './header-field.ts';
import { staticTable } from './static-table.ts';

export interface HeaderLimits {
  /** Of the dynamic table: what we say in SETTINGS_HEADER_TABLE_SIZE, 4096 when we say nothing. */
  readonly maxTableBytes: number;
  /** Of one list, each field counted with 32 bytes more than its name and value. */
  readonly maxListBytes: number;
}

export interface HeaderList {
  /** Names and values in turn, one character a byte. Nothing of a list that is too large. */
  readonly fields: readonly string[];
  readonly listBytes: number;
  readonly tooLarge: boolean;
}

/** As many as `node:http2` takes. */
const mostFields = 128;
/** A client that shrank the table and let it grow again says both before the next block. */
const mostSizeUpdates = 2;

/** Header compression of what one connection receives, RFC 7541. */
export class HpackDecoder {
  readonly #limits: HeaderLimits;
  readonly #table: DynamicTable;

  constructor(limits: HeaderLimits) {
    this.#limits = limits;
    this.#table = new DynamicTable(limits.maxTableBytes);
  }

  /** Rises whenever a block inserts or resizes: a block that leaves it alone means the same until it rises. */
  get tableVersion(): number {
    return this.#table.version;
  }

  /**
   * Every whole block has to come here, in the order of arrival, also those of streams that are refused. A list that
   * is too large is read to its end, because it may change the table, but not collected: the memory it takes is a
   * small multiple of the block, or maxListBytes. Throws CompressionError; nothing can be decoded after that.
   */
  decode(block: Buffer): HeaderList {
    const reader = new BlockReader(block);
    this.#readSizeUpdates(reader);
    const { maxListBytes } = this.#limits;
    const fields: string[] = [];
    let listBytes = 0;
    let tooLarge = false;
    while (!reader.atEnd) {
      const { name, value, bytes } = this.#readField(reader);
      listBytes += bytes;
      tooLarge ||= listBytes > maxListBytes || fields.length === 2 * mostFields;
      if (!tooLarge) fields.push(name, value);
    }
    return { fields: tooLarge ? [] : fields, listBytes, tooLarge };
  }

  #readSizeUpdates(reader: BlockReader): void {
    for (let count = 0; isSizeUpdate(reader.next); count++) {
      const maxBytes = reader.readNumber(5);
      if (maxBytes > this.#limits.maxTableBytes) throw new CompressionError('The table may not become so large.');
      if (count === mostSizeUpdates) throw new CompressionError('The table changes its size too often.');
      this.#table.resize(maxBytes);
    }
  }

  #readField(reader: BlockReader): HeaderField {
    const first = reader.next;
    if (first >= 0x80) return this.#find(reader.readNumber(7));
    if (first >= 0x40) {
      const field = this.#readLiteral(reader, 6);
      this.#table.add(field);
      return field;
    }
    if (isSizeUpdate(first)) throw new CompressionError('The table changes its size behind a field.');
    return this.#readLiteral(reader, 4);
  }

  #readLiteral(reader: BlockReader, prefixBits: number): HeaderField {
    const index = reader.readNumber(prefixBits);
    const name = index === 0 ? reader.readText() : this.#find(index).name;
    return makeField(name, reader.readText());
  }

  #find(index: number): HeaderField {
    const field = index < staticTable.length ? staticTable[index] : this.#table.at(index - staticTable.length + 1);
    if (field === undefined) throw new CompressionError(`No field has the index ${index}.`);
    return field;
  }
}

function isSizeUpdate(byte: number): boolean {
  return byte >> 5 === 1;
}
