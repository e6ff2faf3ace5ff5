/** One line of a header list, as the tables of HPACK keep it. */
export interface HeaderField {
  readonly name: string;
  readonly value: string;
  /** What it counts for in a table and in a list. */
  readonly bytes: number;
}

const overheadBytes = 32;

export function makeField(name: string, value: string): HeaderField {
  return { name, value, bytes: name.length + value.length + overheadBytes };
}
