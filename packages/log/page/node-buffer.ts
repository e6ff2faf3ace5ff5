// What the code of the package uses of Node's Buffer, for a browser. The build puts it in the place of the real one.

type Encoding = 'utf8' | 'latin1' | 'hex' | 'base64';

class PageBuffer extends Uint8Array {
  equals(other: Uint8Array): boolean {
    return compare(this, other) === 0;
  }

  /** Returns how many bytes were written. */
  write(text: string, offset: number | Encoding = 0, encoding: Encoding = 'utf8'): number {
    const [at, as] = typeof offset === 'string' ? [0, offset] : [offset, encoding];
    const bytes = decode(text, as);
    this.set(bytes, at);
    return bytes.length;
  }

  readUInt8(offset: number): number {
    return this.#view().getUint8(offset);
  }

  readBigUInt64BE(offset = 0): bigint {
    return this.#view().getBigUint64(offset);
  }

  writeBigUInt64BE(value: bigint, offset = 0): number {
    this.#view().setBigUint64(offset, value);
    return offset + 8;
  }

  override toString(encoding: Encoding = 'utf8', start = 0, end = this.length): string {
    const bytes = this.subarray(start, end);
    if (encoding === 'utf8') return new TextDecoder().decode(bytes);
    if (encoding === 'hex') return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
    const characters = Array.from(bytes, (byte) => String.fromCharCode(byte)).join('');
    return encoding === 'latin1' ? characters : btoa(characters);
  }

  #view(): DataView {
    return new DataView(this.buffer, this.byteOffset, this.byteLength);
  }
}

function decode(text: string, encoding: Encoding): Uint8Array<ArrayBuffer> {
  switch (encoding) {
    case 'utf8':
      return new TextEncoder().encode(text);
    case 'hex':
      return Uint8Array.from(text.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));
    case 'base64':
      return Uint8Array.from(decodeBase64(text), (character) => character.charCodeAt(0));
    case 'latin1':
      return Uint8Array.from(text, (character) => character.charCodeAt(0));
  }
}

/** Node ignores characters that are not base64; the comparison with the text afterwards then fails. */
function decodeBase64(text: string): string {
  try {
    return atob(text);
  } catch {
    return '';
  }
}

function compare(a: Uint8Array, b: Uint8Array): number {
  return a.length === b.length && a.every((byte, at) => byte === b[at]) ? 0 : 1;
}

function concat(parts: readonly Uint8Array[]): PageBuffer {
  const whole = new PageBuffer(parts.reduce((length, part) => length + part.length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

const made = {
  alloc: (size: number, fill = 0): PageBuffer => new PageBuffer(size).fill(fill),
  allocUnsafe: (size: number): PageBuffer => new PageBuffer(size),
  from: (source: string | ArrayLike<number>, encoding: Encoding = 'utf8'): PageBuffer =>
    new PageBuffer(typeof source === 'string' ? decode(source, encoding) : source),
  byteLength: (text: string): number => new TextEncoder().encode(text).length,
  compare,
  concat,
};
Object.assign(globalThis, { Buffer: Object.assign(PageBuffer, made) });
