const bytesPerLine = 32;

/** Bytes as lines of hexadecimal digits, with the characters among them that everybody can read. */
export function dumpBytes(bytes: Buffer): string {
  let lines = '';
  for (let at = 0; at < bytes.length; at += bytesPerLine) {
    const piece = bytes.subarray(at, at + bytesPerLine);
    const readable = piece.toString('latin1').replaceAll(/[^ -~]/g, '.');
    lines += `${at.toString(16).padStart(8, '0')}  ${piece.toString('hex').padEnd(2 * bytesPerLine)}  ${readable}\n`;
  }
  return lines;
}
