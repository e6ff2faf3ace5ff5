import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { requirement } from '../../../../../../test/requirement.ts';
import { CompressionError } from './compression-error.ts';
import { HeadReader } from './head-reader.ts';
import { HpackDecoder } from './hpack-decoder.ts';
import { parseRequestHead } from './request-head.ts';

const limits = { maxTableBytes: 4096, maxListBytes: 16 * 1024 };
const hex = (text: string): Buffer => Buffer.from(text.replaceAll(/\s/g, ''), 'hex');
/** A request of fields of the static table, with the authority `a`. */
const target = '82 86 84 0101 61';

/** What the blocks say to a reader that remembers nothing. */
function readAfresh(blocks: readonly Buffer[]): unknown[] {
  const decoder = new HpackDecoder(limits);
  return blocks.map((block) => {
    try {
      const { fields, tooLarge } = decoder.decode(block);
      return tooLarge ? 'too large' : (parseRequestHead(fields) ?? 'malformed');
    } catch (error) {
      assert.ok(error instanceof CompressionError);
      return 'lost';
    }
  });
}

function read(reader: HeadReader, block: Buffer): unknown {
  try {
    return reader.readRequest(block);
  } catch (error) {
    assert.ok(error instanceof CompressionError);
    return 'lost';
  }
}

describe('HeadReader', () => {
  it('returns the very same head for the very same block', () => {
    const reader = new HeadReader(limits);
    const head = reader.readRequest(hex(target));
    assert.ok(typeof head === 'object');
    assert.equal(reader.readRequest(hex(target)), head);
    assert.ok(Object.isFrozen(head.headers) && Object.isFrozen(head.raw));
  });

  it('keeps a copy of the block, whose memory is used again', () => {
    const reader = new HeadReader(limits);
    const block = hex(target);
    reader.readRequest(block);
    block[block.length - 1] = 0x62;
    const head = reader.readRequest(block);
    assert.equal(typeof head === 'object' && head.headers[':authority'], 'b');
  });

  it('reads a block again whenever the table is another one', () => {
    requirement('NFR-4');
    const insertsB = '82 86 84 0101 61 4001 6201 62';
    for (const between of [`4001 6101 63 ${target}`, `20 3fe1 1f ${target}`, `3fe1 1f ${target}`, insertsB]) {
      const reader = new HeadReader(limits);
      reader.readRequest(hex(`82 86 84 4101 61`));
      const head = reader.readRequest(hex('82 86 84 be'));
      assert.equal(reader.readRequest(hex('82 86 84 be')), head);
      read(reader, hex(between));
      const blocks = ['82 86 84 4101 61', between, '82 86 84 be'].map(hex);
      const [, , expected] = readAfresh(blocks);
      const again = read(reader, hex('82 86 84 be'));
      assert.deepEqual(again, expected);
      assert.notEqual(again, head);
    }
  });

  it('never takes a block from memory that inserts or resizes', () => {
    const reader = new HeadReader(limits);
    for (const block of [`${target} 4001 6101 62`, `3fe1 1f ${target}`]) {
      assert.notEqual(reader.readRequest(hex(block)), reader.readRequest(hex(block)));
    }
    // Both fields were inserted twice.
    const head = reader.readRequest(hex(`${target} be bf`));
    assert.equal(typeof head === 'object' && head.headers['a'], 'b, b');
  });

  it('remembers trailers as little as heads that are refused, but lets them change the table', () => {
    const reader = new HeadReader(limits);
    assert.equal(reader.readTrailers(hex('4001 6101 62')), undefined);
    const head = reader.readRequest(hex(`${target} be`));
    assert.equal(reader.readTrailers(hex('4001 6101 63')), undefined);
    assert.notDeepEqual(reader.readRequest(hex(`${target} be`)), head);
    assert.equal(reader.readTrailers(hex(target)), 'malformed');
    assert.equal(reader.readRequest(hex('be')), 'malformed');
    assert.equal(reader.readTrailers(Buffer.alloc(1000, 0xbe)), 'too large');
    assert.equal(reader.readRequest(Buffer.alloc(1000, 0xbe)), 'too large');
  });

  it('says the same as a reader without memory, whatever comes', () => {
    requirement('WIRE-3', 'NFR-4');
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...pieces.map(hex)), { maxLength: 60 }), (blocks) => {
        const reader = new HeadReader(limits);
        const expected = readAfresh(blocks);
        const end = expected.indexOf('lost') + 1 || expected.length;
        for (const [at, block] of blocks.slice(0, end).entries()) {
          // As bytes of a larger piece of memory that is used for something else later.
          const memory = Buffer.concat([Buffer.from([1, 2]), block]);
          assert.deepEqual(read(reader, memory.subarray(2)), expected[at]);
          memory.fill(0);
        }
      }),
      { numRuns: 1000 },
    );
  });
});

/** Many of one kind, so that they come again with and without something in between. */
const pieces = [
  ...[target, '82 86 85 0101 61', '83 86 84 0101 61', `${target} 0001 6101 62`, '82 86 84 be', '82 86 84 bf'],
  ...[
    `${target} be`,
    `${target} bf`,
    `${target} bebe`,
    `${target} 4001 6101 62`,
    '82 86 84 4101 61',
    '82 86 84 4101 62',
  ],
  ...[`20 ${target}`, `3fe1 1f ${target}`, `20 3fe1 1f ${target}`, `3f11 ${target}`, '82', '', '82 86 84 7f01 0163'],
];
