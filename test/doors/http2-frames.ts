/** A frame of HTTP/2, for what no client library would send. */
export function writeFrame(type: number, flags: number, streamId: number, payload: Buffer = Buffer.alloc(0)): Buffer {
  const head = Buffer.alloc(9);
  head.writeUIntBE(payload.length, 0, 3);
  head.set([type, flags], 3);
  head.writeUInt32BE(streamId, 5);
  return Buffer.concat([head, payload]);
}

/** What a connection begins with. */
export const greeting = Buffer.concat([Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'), writeFrame(4, 0, 0)]);

/** The header block of a POST. Each field is shorter than 127 bytes. */
export function writeHead(port: number, path: string, more: Readonly<Record<string, string>>): Buffer {
  const text = (value: string): Buffer => Buffer.concat([Buffer.from([value.length]), Buffer.from(value)]);
  const fields = { ':method': 'POST', ':scheme': 'http', ':path': path, ':authority': `127.0.0.1:${port}`, ...more };
  return Buffer.concat(Object.entries(fields).flatMap(([name, value]) => [Buffer.from([0]), text(name), text(value)]));
}
