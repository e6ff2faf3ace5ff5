import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { FrameReader, frameText } from './frames.ts';

describe('frames', () => {
  it('come out as they went in, however they were cut on the way', () => {
    fc.assert(
      fc.property(fc.array(fc.string()), fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1 }), (texts, sizes) => {
        const bytes = Uint8Array.from(texts.flatMap((text) => [...frameText(text.toWellFormed())]));
        const reader = new FrameReader();
        const read: string[] = [];
        for (let at = 0, turn = 0; at < bytes.length; turn++) {
          const size = sizes[turn % sizes.length] ?? 1;
          for (const { text } of reader.read(bytes.slice(at, at + size))) read.push(text);
          at += size;
        }
        assert.deepEqual(
          read,
          texts.map((text) => text.toWellFormed()),
        );
      }),
    );
  });

  it('tell the last one from the others', () => {
    const end = frameText('{}');
    end[0] = 0x02;
    assert.deepEqual([...new FrameReader().read(end)], [{ isLast: true, text: '{}' }]);
    assert.equal([...new FrameReader().read(frameText('{}'))][0]?.isLast, false);
  });
});
