import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { requirement } from '../../../../../../test/requirement.ts';
import { frameMessage, frameMessages, FrameReader, unframeMessage } from './message-frame.ts';

describe('FrameReader', () => {
  it('finds the same messages however the bytes are cut', () => {
    requirement('WIRE-3');
    fc.assert(
      fc.property(
        fc.array(fc.uint8Array({ maxLength: 40 }), { maxLength: 8 }),
        fc.array(fc.integer({ min: 1, max: 30 }), { minLength: 1 }),
        (messages, cuts) => {
          const bytes = Buffer.concat(messages.map((message) => frameMessage(message)));
          const reader = new FrameReader(100);
          const found: Buffer[] = [];
          for (let at = 0, turn = 0; at < bytes.length; turn++) {
            const end = at + (cuts[turn % cuts.length] ?? 1);
            found.push(...reader.push(bytes.subarray(at, end)));
            at = end;
          }
          assert.deepEqual(
            found.map((message) => [...message]),
            messages.map((message) => [...message]),
          );
          assert.equal(reader.midMessage, false);
        },
      ),
    );
  });

  it('refuses a message by its announced length, before any of it has come', () => {
    const reader = new FrameReader(10);
    assert.throws(() => reader.push(Buffer.from([0, 0, 0, 0, 11])), { code: 'resource_exhausted' });
  });

  it('tells how long the unfinished message will be, and what has come of it', () => {
    const reader = new FrameReader(100);
    reader.push(Buffer.from([0, 0, 0, 0]));
    assert.equal(reader.expectedBytes, 0);
    reader.push(Buffer.from([10, 1, 2, 3]));
    assert.deepEqual([reader.expectedBytes, reader.receivedBytes, [...reader.start]], [15, 8, [1, 2, 3]]);
    reader.push(Buffer.from([4, 5, 6, 7, 8, 9, 10]));
    assert.deepEqual([reader.expectedBytes, reader.receivedBytes], [0, 0]);
  });

  it('keeps of an unfinished message its bytes, and not all that was read with them', () => {
    const read = Buffer.allocUnsafeSlow(65_536).fill(0);
    for (const cut of [2, 8]) {
      const reader = new FrameReader(100_000);
      reader.push(read.subarray(0, cut));
      assert.ok(reader.start.buffer.byteLength < 100);
      // A short message, and the beginning of the next one.
      const next = new FrameReader(100_000);
      next.push(read.subarray(0, 5 + cut));
      assert.ok(next.start.buffer.byteLength < 100);
    }
  });
});

describe('unframeMessage', () => {
  it('returns what frameMessage framed, and nothing from any other bytes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 100 }), (message) => {
        assert.deepEqual([...unframeMessage(frameMessage(message), 100)], [...message]);
      }),
    );
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 12 }), (bytes) => {
        const body = Buffer.from(bytes);
        const isWhole = body.length >= 5 && body[0] === 0 && body.readUInt32BE(1) === body.length - 5;
        if (isWhole) assert.equal(unframeMessage(body, 100).length, body.length - 5);
        else assert.throws(() => unframeMessage(body, 100), { name: 'RpcError' });
      }),
    );
  });
});

describe('frameMessages', () => {
  it('says what frames of single messages say, in pieces that no small message makes too large', () => {
    const text = fc.string({ unit: 'grapheme', maxLength: 60 });
    const large = fc.integer({ min: 20_000, max: 150_000 }).map((length) => 'ä'.repeat(length / 2));
    const message = fc.oneof(text, fc.uint8Array({ maxLength: 60 }), { arbitrary: large, weight: 1 });
    fc.assert(
      fc.property(fc.array(message, { maxLength: 20 }), (messages) => {
        const bytesOf = (each: string | Uint8Array): Uint8Array =>
          typeof each === 'string' ? Buffer.from(each) : each;
        const pieces = frameMessages(messages);
        const expected = Buffer.concat(messages.map((each) => frameMessage(bytesOf(each))));
        assert.ok(Buffer.concat(pieces).equals(expected));
        const largest = Math.max(0, ...messages.map((each) => bytesOf(each).length + 5));
        for (const piece of pieces) assert.ok(piece.length <= Math.max(64 * 1024, largest));
      }),
      { numRuns: 60 },
    );
    assert.deepEqual(frameMessages([]), []);
  });
});
