import type { HeaderField } from './header-field.ts';

/** What earlier blocks of a connection have left for later ones to refer to. */
export class DynamicTable {
  /** The oldest first. At 32 bytes and more a field, they are too few to need a ring. */
  readonly #fields: HeaderField[] = [];
  #bytes = 0;
  #maxBytes: number;
  #version = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** Two equal versions of one table hold the same, under the same indexes. */
  get version(): number {
    return this.#version;
  }

  /** The newest field has the index 1. */
  at(index: number): HeaderField | undefined {
    return this.#fields[this.#fields.length - index];
  }

  /** A field that is larger than the whole table empties it. */
  add(field: HeaderField): void {
    this.#version++;
    this.#evictDownTo(this.#maxBytes - field.bytes);
    if (field.bytes > this.#maxBytes) return;
    this.#fields.push(field);
    this.#bytes += field.bytes;
  }

  resize(maxBytes: number): void {
    this.#version++;
    this.#maxBytes = maxBytes;
    this.#evictDownTo(maxBytes);
  }

  #evictDownTo(bytes: number): void {
    while (this.#bytes > bytes) {
      const oldest = this.#fields.shift();
      if (oldest === undefined) return;
      this.#bytes -= oldest.bytes;
    }
  }
}
