import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { LineSplitter } from './line-splitter.ts';

const read = (splitter: LineSplitter, chunk: Uint8Array): (string | undefined)[] =>
  [...splitter.split(chunk)].map((line) => line?.toString());

test('lines come out the same however the bytes are cut', () => {
  const line = fc.string({ unit: fc.constantFrom('a', 'é', '"', '\r'), maxLength: 20 });
  fc.assert(
    fc.property(fc.array(line), fc.array(fc.nat(10)), (lines, cuts) => {
      const splitter = new LineSplitter(1000);
      let rest = Buffer.from(lines.map((each) => `${each}\n`).join(''));
      const found: (string | undefined)[] = [];
      for (const cut of cuts) {
        found.push(...read(splitter, rest.subarray(0, cut)));
        rest = rest.subarray(cut);
      }
      found.push(...read(splitter, rest));
      assert.deepEqual(
        found,
        lines.filter((each) => each !== ''),
      );
    }),
  );
});

test('a line that is too long is told as soon as that is known, whole or not', () => {
  assert.deepEqual(read(new LineSplitter(3), Buffer.from('abc\nabcd\nx\n')), ['abc', undefined]);
  const splitter = new LineSplitter(3);
  assert.deepEqual(read(splitter, Buffer.from('ab')), []);
  assert.deepEqual(read(splitter, Buffer.from('cd')), [undefined]);
});
