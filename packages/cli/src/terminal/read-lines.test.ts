import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { readLines } from './read-lines.ts';

async function* pieces(text: Buffer, cuts: readonly number[]): AsyncGenerator<Buffer> {
  const at = [0, ...cuts.map((cut) => cut % (text.length + 1)).sort((a, b) => a - b), text.length];
  for (let n = 1; n < at.length; n++) yield text.subarray(at[n - 1], at[n]);
}

test('lines are the same however they are cut', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.string({ unit: 'grapheme' })), fc.array(fc.nat()), async (texts, cuts) => {
      const lines = texts.map((text) => text.replaceAll(/\s/g, '')).filter((text) => text !== '');
      const bytes = Buffer.from(lines.map((line) => `${line}\r\n\n`).join(''));
      assert.deepEqual(await Array.fromAsync(readLines(pieces(bytes, cuts))), lines);
    }),
  );
});

test('what does not end with a line end is no line', async () => {
  assert.deepEqual(await Array.fromAsync(readLines(pieces(Buffer.from('a\nb'), []))), ['a']);
});
