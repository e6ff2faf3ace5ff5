import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { requirement } from '../../../../../../test/requirement.ts';
import { checkJsonShape } from './check-shape.ts';

const check = (text: string) => checkJsonShape(Buffer.from(text));
const refusal = { code: 'invalid_argument' };

describe('checkJsonShape', () => {
  it('refuses long texts of brackets, braces or commas, however they are spaced', () => {
    requirement('NFR-4');
    for (const text of ['[', '{', '{"a":', '[1,', '{},', '[ ', ',\n', '["",']) {
      assert.throws(() => check(text.repeat(100_001)), refusal, text);
    }
  });

  it('counts nothing inside strings, wherever quotes and backslashes stand', () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 20 }), (piece) => {
        const text = JSON.stringify({ load: `${piece}[,{"\\`.repeat(30_000) });
        assert.doesNotThrow(() => check(text));
        assert.throws(() => check(`${text}${',[{'.repeat(40_000)}`), refusal);
      }),
      { numRuns: 10 },
    );
  });

  it('lets a string that never closes pass: the parser will say so', () => {
    assert.doesNotThrow(() => check(`"${'[,'.repeat(200_000)}`));
  });
});
