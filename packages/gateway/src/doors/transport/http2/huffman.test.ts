import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { decodeHuffman } from './huffman.ts';

/** Some lines of RFC 7541, appendix B, in its own words. */
const codes: [byte: number, code: string][] = [
  [0, '11111111|11000'],
  [9, '11111111|11111111|11101010'],
  [10, '11111111|11111111|11111111|111100'],
  [22, '11111111|11111111|11111111|111110'],
  [32, '010100'],
  [48, '00000'],
  [92, '11111111|11111110|000'],
  [116, '01001'],
  [127, '11111111|11111111|11111111|1100'],
  [199, '11111111|11111111|11110110|0'],
  [220, '11111111|11111111|11111111|1101'],
  [249, '11111111|11111111|11111111|1110'],
  [255, '11111111|11111111|11111011|10'],
];

function encode(code: string): Buffer {
  const bits = code.replaceAll('|', '');
  const padded = bits.padEnd(Math.ceil(bits.length / 8) * 8, '1');
  return Buffer.from(padded.match(/.{8}/g)?.map((byte) => Number.parseInt(byte, 2)) ?? []);
}

function decode(bytes: Buffer): string | undefined {
  return decodeHuffman(bytes, 0, bytes.length);
}

describe('decodeHuffman', () => {
  it('reads the codes of RFC 7541, one by one and in any order', () => {
    for (const [byte, code] of codes) assert.equal(decode(encode(code)), String.fromCharCode(byte));
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...codes), { maxLength: 40 }), (row) => {
        const text = String.fromCharCode(...row.map(([byte]) => byte));
        assert.equal(decode(encode(row.map(([, code]) => code).join(''))), text);
      }),
    );
  });

  it('reads a text longer than the memory it keeps for that', () => {
    assert.equal(decode(Buffer.alloc(50_000)), '0'.repeat(80_000));
  });

  it('takes no other padding than ones, fewer than eight of them, and no end of the string', () => {
    const refused = ['ff', '1fff', '18', '00ffff', 'fffffffc', 'ffffffff', 'fffffffffc'];
    for (const bytes of refused) assert.equal(decode(Buffer.from(bytes, 'hex')), undefined, bytes);
    assert.equal(decode(Buffer.from('1f', 'hex')), 'a');
    assert.equal(decode(Buffer.alloc(0)), '');
  });
});
