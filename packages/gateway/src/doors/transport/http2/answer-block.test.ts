import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { requirement } from '../../../../../../test/requirement.ts';
import { encodeFields } from './answer-block.ts';
import { HpackDecoder } from './hpack-decoder.ts';

const decoder = new HpackDecoder({ maxTableBytes: 0, maxListBytes: 1e9 });

describe('encodeFields', () => {
  it('writes what a decoder reads, and leaves its table alone', () => {
    requirement('WIRE-4');
    const name = fc.oneof(
      fc.constantFrom('content-type', 'server', '__proto__'),
      fc.stringMatching(/^[a-z][a-z-]{0,200}$/),
    );
    const value = fc.oneof(
      fc.stringMatching(/^[!-~\x80-\xff]{0,20}$/),
      fc.nat(),
      fc.integer({ min: 120, max: 20_000 }).map((length) => 'x'.repeat(length)),
      fc.array(fc.stringMatching(/^[!-~]{0,9}$/), { maxLength: 3 }),
    );
    fc.assert(
      fc.property(
        fc.integer({ min: 200, max: 599 }),
        fc.array(fc.tuple(name, value), { maxLength: 20 }),
        (status, more) => {
          const { tableVersion } = decoder;
          const fields = Object.fromEntries([
            [':status', status],
            ...more.map(([key, one]) => [`x${key}`, one] as const),
          ]);
          const expected = Object.entries(fields).flatMap(([key, values]) =>
            [values].flat().flatMap((one) => [key, String(one)]),
          );
          assert.deepEqual(decoder.decode(encodeFields(fields)).fields, expected);
          assert.equal(decoder.tableVersion, tableVersion);
        },
      ),
    );
  });

  it('uses the static table', () => {
    assert.equal(encodeFields({ ':status': 200 }).toString('hex'), '88');
    assert.equal(encodeFields({ ':status': '503' }).toString('hex'), '0803353033');
    assert.equal(encodeFields({ 'content-type': 'a' }).toString('hex'), '0f100161');
    assert.equal(encodeFields({ 'grpc-status': 0 }).toString('hex'), '000b677270632d7374617475730130');
    assert.equal(encodeFields({ date: '' }).toString('hex'), '0f1200');
  });

  it('refuses what HTTP/2 does not allow', () => {
    requirement('WIRE-3');
    const refused: Record<string, string | number>[] = [
      ...[{ X: 'a' }, { 'a b': 'a' }, { '': 'a' }, { 'a:': 'a' }, { é: 'a' }, { ':path': '/' }, { ':x': 'a' }],
      ...[{ x: 'a\r\nb' }, { x: 'a\0' }, { x: '\n' }, { x: 'a\u0100' }, { x: ' a' }, { x: 'a\t' }, { x: '\x7f' }],
      ...[{ connection: 'close' }, { 'transfer-encoding': 'chunked' }, { upgrade: 'h2c' }, { 'keep-alive': 'a' }],
      ...[{ ':status': 99 }, { ':status': 101 }, { ':status': 600 }, { ':status': '' }, { x: 'a', ':status': 200 }],
    ];
    for (const fields of refused) assert.throws(() => encodeFields(fields), TypeError, JSON.stringify(fields));
  });
});
