/**
 * A chunk holds keys in rising order, each with its places: how many keys, where each begins, then the keys themselves.
 * All chunks have one size, so that a chunk written over another leaves nothing of the old one.
 */
const chunkBytes = 8000;
/** Places of one run are counted from its first. */
export const mostPlaces = 32_768;

const headBytes = 2;
const bitmapBytes = mostPlaces / 8;
/** With more places than this, a bit for every place takes less than a list. */
const mostListed = bitmapBytes / 2 - 1;
const isBitmap = 0xffff;

/** Keys are bytes, as text in Latin-1: their order is that of the bytes. */
export type Key = string;

export class ChunkWriter {
  readonly #write: (bytes: Buffer, first: Key) => void;
  #entries: Buffer[] = [];
  #first: Key = '';
  #bytes = headBytes;

  /** `write` takes each chunk with its first key. */
  constructor(write: (bytes: Buffer, first: Key) => void) {
    this.#write = write;
  }

  /** Keys and places must come in rising order. */
  add(key: Key, places: readonly number[]): void {
    const entry = encodeEntry(key, places);
    if (this.#bytes + 2 + entry.length > chunkBytes) this.end();
    if (this.#entries.length === 0) this.#first = key;
    this.#entries.push(entry);
    this.#bytes += 2 + entry.length;
  }

  end(): void {
    if (this.#entries.length === 0) return;
    const chunk = Buffer.alloc(chunkBytes);
    chunk.writeUInt16LE(this.#entries.length);
    let at = headBytes + 2 * this.#entries.length;
    for (const [nth, entry] of this.#entries.entries()) {
      chunk.writeUInt16LE(at, headBytes + 2 * nth);
      at += entry.copy(chunk, at);
    }
    this.#entries = [];
    this.#bytes = headBytes;
    this.#write(chunk, this.#first);
  }
}

function encodeEntry(key: Key, places: readonly number[]): Buffer {
  const listAt = 1 + key.length;
  const isDense = places.length > mostListed;
  const entry = Buffer.allocUnsafe(listAt + 2 + (isDense ? bitmapBytes : 2 * places.length));
  entry[0] = key.length;
  entry.write(key, 1, 'latin1');
  entry.writeUInt16LE(isDense ? isBitmap : places.length, listAt);
  if (isDense) {
    entry.fill(0, listAt + 2);
    for (const place of places) {
      const at = listAt + 2 + (place >> 3);
      entry[at] = (entry[at] as number) | (1 << (place & 7));
    }
  } else {
    let at = listAt + 2;
    for (const place of places) at = entry.writeUInt16LE(place, at);
  }
  return entry;
}

export class Chunk {
  readonly #bytes: Buffer;
  readonly size: number;

  constructor(bytes: Uint8Array) {
    this.#bytes = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.size = this.#bytes.readUInt16LE(0);
  }

  keyAt(nth: number): Key {
    const at = this.#startOf(nth);
    return this.#bytes.toString('latin1', at + 1, at + 1 + (this.#bytes[at] as number));
  }

  isKeyAt(nth: number, key: Buffer): boolean {
    const at = this.#startOf(nth);
    const end = at + 1 + (this.#bytes[at] as number);
    return this.#bytes.compare(key, 0, key.length, at + 1, end) === 0;
  }

  /** Of the last key that does not come after this one. -1: all of them do. */
  findLast(key: Buffer): number {
    let [low, high] = [0, this.size];
    while (low < high) {
      const middle = (low + high) >> 1;
      const at = this.#startOf(middle) + 1;
      const isAfter = this.#bytes.compare(key, 0, key.length, at, at + (this.#bytes[at - 1] as number)) > 0;
      if (isAfter) high = middle;
      else low = middle + 1;
    }
    return low - 1;
  }

  /** The places of a key, set in `bits`: one bit for each place of the run. */
  mark(nth: number, bits: Uint32Array): void {
    const [count, at] = this.#listOf(nth);
    if (count === isBitmap) {
      for (let word = 0; word < bits.length; word += 1) {
        bits[word] = (bits[word] as number) | this.#bytes.readUInt32LE(at + 4 * word);
      }
      return;
    }
    // Without the checks of Buffer, which take most of the time here.
    const bytes = this.#bytes;
    for (let next = at; next < at + 2 * count; next += 2) {
      const place = (bytes[next] as number) | ((bytes[next + 1] as number) << 8);
      bits[place >> 5] = (bits[place >> 5] as number) | (1 << (place & 31));
    }
  }

  placesOf(nth: number): number[] {
    const [count, at] = this.#listOf(nth);
    const places: number[] = [];
    if (count !== isBitmap) {
      for (let each = 0; each < count; each += 1) places.push(this.#bytes.readUInt16LE(at + 2 * each));
      return places;
    }
    for (let place = 0; place < mostPlaces; place += 1) {
      if (((this.#bytes[at + (place >> 3)] as number) & (1 << (place & 7))) !== 0) places.push(place);
    }
    return places;
  }

  #startOf(nth: number): number {
    return this.#bytes.readUInt16LE(headBytes + 2 * nth);
  }

  #listOf(nth: number): [count: number, at: number] {
    const start = this.#startOf(nth);
    const listAt = start + 1 + (this.#bytes[start] as number);
    return [this.#bytes.readUInt16LE(listAt), listAt + 2];
  }
}
