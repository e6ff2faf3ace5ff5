import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { FrameReader, frameText, readFrames } from './frames.ts';
import type { Frame } from './frames.ts';

/** What is read when the bytes come in pieces of these sizes, over and over. */
async function read(bytes: Uint8Array, sizes: readonly number[]): Promise<Frame[]> {
  const pieces = async function* () {
    for (let at = 0, turn = 0; at < bytes.length; turn++) {
      const size = sizes[turn % sizes.length] ?? 1;
      yield bytes.slice(at, at + size);
      at += size;
    }
  };
  return Array.fromAsync(readFrames(pieces()));
}

test('frames come out as they went in, however they were cut on the way', async () => {
  const texts = fc.array(fc.string({ unit: 'grapheme' }));
  const sizes = fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1 });
  const property = fc.asyncProperty(texts, sizes, async (sent, cuts) => {
    const bytes = Uint8Array.from(sent.flatMap((text) => [...frameText(text.toWellFormed())]));
    const received = (await read(bytes, cuts)).map(({ text }) => text);
    assert.deepEqual(
      received,
      sent.map((text) => text.toWellFormed()),
    );
  });
  await fc.assert(property);
});

test('the last frame is told from the others', async () => {
  const end = frameText('{}');
  end[0] = 0x02;
  assert.deepEqual(await read(end, [100]), [{ isLast: true, text: '{}' }]);
  assert.equal((await read(frameText('{}'), [100]))[0]?.isLast, false);
});

test('a frame that says it is longer than any answer may be is refused before it has come', async () => {
  await assert.rejects(read(Uint8Array.of(0, 0xff, 0xff, 0xff, 0xff), [100]), { code: 'bad_answer' });
});

test('what came whole before a frame that is too long is read', () => {
  const reader = new FrameReader();
  const received: string[] = [];
  const take = (): void => {
    const chunk = Buffer.concat([frameText('one'), frameText('two'), Uint8Array.of(0, 0xff, 0xff, 0xff, 0xff)]);
    for (const { text } of reader.take(chunk)) received.push(text);
  };
  assert.throws(take, { code: 'bad_answer' });
  assert.deepEqual(received, ['one', 'two']);
});
