/**
 * The bytes of a program for x86_64 Linux that exits with 42. With `interrupt` it first makes a system call in the way
 * of 32-bit programs.
 */
export function makeExecutable({ interrupt }: { readonly interrupt: boolean }): Uint8Array {
  const getpid32 = [0xb8, 20, 0, 0, 0, 0xcd, 0x80];
  const exit = [0xbf, 42, 0, 0, 0, 0xb8, 60, 0, 0, 0, 0x0f, 0x05];
  const code = Buffer.from([...(interrupt ? getpid32 : []), ...exit]);
  const [address, headerBytes] = [0x40_0000n, 0x78];
  const header = Buffer.alloc(headerBytes);
  header.set([0x7f, 0x45, 0x4c, 0x46, 2, 1, 1]);
  header.writeUInt16LE(2, 0x10); // executable
  header.writeUInt16LE(62, 0x12); // x86_64
  header.writeUInt32LE(1, 0x14);
  header.writeBigUInt64LE(address + BigInt(headerBytes), 0x18); // first instruction
  header.writeBigUInt64LE(0x40n, 0x20); // the one segment is described here
  header.writeUInt16LE(0x40, 0x34);
  header.writeUInt16LE(0x38, 0x36);
  header.writeUInt16LE(1, 0x38);
  header.writeUInt32LE(1, 0x40); // to be loaded
  header.writeUInt32LE(5, 0x44); // to be read and executed
  header.writeBigUInt64LE(address, 0x50);
  header.writeBigUInt64LE(BigInt(headerBytes + code.length), 0x60);
  header.writeBigUInt64LE(BigInt(headerBytes + code.length), 0x68);
  return Buffer.concat([header, code]);
}
