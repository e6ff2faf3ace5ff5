import type { DescMessage } from '@bufbuild/protobuf';

const tokenField = 'session_token';
const [varint, bits64, delimited, bits32] = [0, 1, 2, 5];

/** Whether messages of this type bring their credential themselves, as the typed requests do. */
export function bringsToken(message: DescMessage): boolean {
  return message.fields.some(({ name }) => name === tokenField);
}

/**
 * The credential in the first bytes of a message, before the rest is read. It only decides whether the rest is read:
 * the gate takes the one that it finds in the whole message.
 */
export function findToken(message: DescMessage, start: Uint8Array, format: 'binary' | 'json'): string | undefined {
  const field = message.fields.find(({ name }) => name === tokenField);
  if (field === undefined) return undefined;
  if (format === 'binary') return findBinary(field.number, Buffer.from(start.buffer, start.byteOffset, start.length));
  const named = new RegExp(String.raw`"(?:${field.jsonName}|${field.name})"\s*:\s*"([^"\\]{1,256})"`);
  return named.exec(Buffer.from(start.buffer, start.byteOffset, start.length).toString('latin1'))?.[1];
}

function findBinary(number: number, bytes: Buffer): string | undefined {
  let at = 0;
  const readVarint = (): number => {
    let value = 0;
    for (let shift = 0; at < bytes.length; shift += 7) {
      const byte = bytes[at++] ?? 0;
      value += (byte & 0x7f) * 2 ** shift;
      if (byte < 0x80) break;
    }
    return value;
  };
  while (at < bytes.length) {
    const tag = readVarint();
    const wireType = tag % 8;
    if (wireType === varint) readVarint();
    else if (wireType === bits64) at += 8;
    else if (wireType === bits32) at += 4;
    else if (wireType === delimited) {
      const length = readVarint();
      if (Math.floor(tag / 8) === number && at + length <= bytes.length) return bytes.toString('utf8', at, at + length);
      at += length;
    } else return undefined;
  }
  return undefined;
}
