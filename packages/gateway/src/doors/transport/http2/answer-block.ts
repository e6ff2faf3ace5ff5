import { staticTable } from './static-table.ts';

/** By names in lower case; a list stands for one line each. */
export type AnswerFields = Readonly<Record<string, string | number | readonly string[]>>;

const fieldName = /^[!#$%&'*+.^_`|~0-9a-z-]+$/;
const fieldValue = /^(?:[!-~\x80-\xff](?:[\t -~\x80-\xff]*[!-~\x80-\xff])?)?$/;
/** 101 changes the protocol, which HTTP/2 cannot. */
const status = /^(?!101)[1-5][0-9][0-9]$/;
/** These are about the connection of HTTP/1.1. */
const foreignNames: ReadonlySet<string> = new Set([
  'connection',
  'keep-alive',
  'proxy-connection',
  'transfer-encoding',
  'upgrade',
  'http2-settings',
  'te',
]);

const nameIndexes = new Map<string, number>();
const statusIndexes = new Map<string, number>();
staticTable.forEach((field, index) => {
  if (field === undefined) return;
  if (!nameIndexes.has(field.name)) nameIndexes.set(field.name, index);
  if (field.name === ':status') statusIndexes.set(field.value, index);
});

/** For the first bytes of a field, its index and the two lengths, each as long as it may be. */
const mostOverhead = 16;

/**
 * The block of an answer's head, with `:status` in front, or of its trailers. It refers to no dynamic table: it can
 * be sent any number of times on any connection, and behind another block as its continuation. Throws TypeError for
 * what HTTP/2 does not allow.
 */
export function encodeFields(fields: AnswerFields): Buffer {
  const lines: [name: string, value: string][] = [];
  let mostBytes = 0;
  for (const [name, values] of Object.entries(fields)) {
    for (const given of typeof values === 'object' ? values : [values]) {
      const value = String(given);
      checkLine(name, value, lines.length === 0);
      lines.push([name, value]);
      mostBytes += name.length + value.length + mostOverhead;
    }
  }
  const block = Buffer.allocUnsafe(mostBytes);
  let end = 0;
  for (const [name, value] of lines) end = writeLine(block, end, name, value);
  return block.subarray(0, end);
}

function checkLine(name: string, value: string, isFirst: boolean): void {
  if (name === ':status' && isFirst) {
    if (!status.test(value)) throw new TypeError(`${value} is not a status of HTTP/2.`);
    return;
  }
  if (!fieldName.test(name) || foreignNames.has(name)) {
    throw new TypeError(`An answer cannot have the header ${JSON.stringify(name)} here.`);
  }
  // The value may be a secret.
  if (!fieldValue.test(value))
    throw new TypeError(`The value of the header ${name} has characters that cannot be sent.`);
}

/** Returns where it ends. */
function writeLine(block: Buffer, start: number, name: string, value: string): number {
  const whole = name === ':status' ? statusIndexes.get(value) : undefined;
  if (whole !== undefined) return writeNumber(block, start, { number: whole, prefixBits: 7, pattern: 0x80 });
  const index = nameIndexes.get(name) ?? 0;
  const nameAt = writeNumber(block, start, { number: index, prefixBits: 4, pattern: 0 });
  return writeText(block, index === 0 ? writeText(block, nameAt, name) : nameAt, value);
}

function writeText(block: Buffer, start: number, text: string): number {
  const at = writeNumber(block, start, { number: text.length, prefixBits: 7, pattern: 0 });
  return at + block.write(text, at, 'latin1');
}

interface PrefixedNumber {
  readonly number: number;
  readonly prefixBits: number;
  /** What stands in front of it in its first byte. */
  readonly pattern: number;
}

function writeNumber(block: Buffer, start: number, { number, prefixBits, pattern }: PrefixedNumber): number {
  const full = (1 << prefixBits) - 1;
  if (number < full) return block.writeUInt8(pattern | number, start);
  let at = block.writeUInt8(pattern | full, start);
  let rest = number - full;
  for (; rest >= 0x80; rest = Math.floor(rest / 0x80)) at = block.writeUInt8(0x80 | (rest & 0x7f), at);
  return block.writeUInt8(rest, at);
}
