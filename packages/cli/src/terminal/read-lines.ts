const mostLineBytes = 64 * 1024 * 1024;

/** Lines as they arrive, without their ends; empty ones are left out. Throws when one does not end. */
export async function* readLines(source: AsyncIterable<Buffer>): AsyncGenerator<string> {
  let parts: Buffer[] = [];
  let length = 0;
  for await (const chunk of source) {
    let start = 0;
    for (let end = chunk.indexOf('\n'); end >= 0; end = chunk.indexOf('\n', start)) {
      const line = Buffer.concat([...parts, chunk.subarray(start, end)])
        .toString()
        .trim();
      if (line !== '') yield line;
      parts = [];
      length = 0;
      start = end + 1;
    }
    length += chunk.length - start;
    if (length > mostLineBytes) throw new Error(`a line has more than ${mostLineBytes} bytes`);
    if (start < chunk.length) parts.push(chunk.subarray(start));
  }
}
