/** What a value must be like. */
export interface Test {
  /** Its name in a violation. */
  readonly rule: string;
  /** Follows the name of the field: `must …`. */
  readonly demand: string;
  readonly holds: (value: never) => boolean;
}

/** A string can hold halves of surrogate pairs. UTF-8 cannot say them, so protobuf would send another text. */
export const wellFormed: Test = {
  rule: 'utf8',
  demand: 'must be valid Unicode',
  holds: (text: string) => text.isWellFormed(),
};

type TestBuilder = (bound: never) => Test;

/** By the name of the protovalidate rule. */
export const ruleTests: Readonly<Record<string, TestBuilder>> = {
  'uint64.lte': (most: bigint) => ({
    rule: 'max',
    demand: `must be at most ${most}`,
    holds: (value: bigint) => value <= most,
  }),
  'string.max_bytes': (most: bigint) => ({
    rule: 'max_length',
    demand: `must be at most ${most} bytes long`,
    holds: (text: string) => fitsBytes(text, Number(most)),
  }),
  'string.in': (known: readonly string[]) => ({
    rule: 'one_of',
    demand: `must be one of ${known.join(', ')}`,
    holds: (text: string) => known.includes(text),
  }),
  'bytes.max_len': (most: bigint) => ({
    rule: 'max_length',
    demand: `must be at most ${most} bytes long`,
    holds: (bytes: Uint8Array) => bytes.length <= most,
  }),
  'bytes.len': (exactly: bigint) => ({
    rule: 'exact_length',
    demand: `must be exactly ${exactly} bytes long`,
    holds: (bytes: Uint8Array) => bytes.length === Number(exactly),
  }),
  'repeated.max_items': (most: bigint) => ({
    rule: 'max_items',
    demand: `must have at most ${most} items`,
    holds: (items: readonly unknown[]) => items.length <= most,
  }),
};

/** By the id of an expression. Each does what the expression in the proto file says. */
export const expressionTests: Readonly<Record<string, (value: never) => boolean>> = {
  null_byte: (text: string) => !text.includes('\0'),
  path_traversal: (path: string) => !path.includes('..') || !path.split('/').includes('..'),
  one_equals: (entry: string) => {
    const at = entry.indexOf('=');
    return at >= 0 && entry.indexOf('=', at + 1) < 0;
  },
};

/** A character takes one to three bytes for each of its UTF-16 units, so most texts need not be counted. */
function fitsBytes(text: string, most: number): boolean {
  return text.length <= most && (text.length * 3 <= most || Buffer.byteLength(text) <= most);
}
