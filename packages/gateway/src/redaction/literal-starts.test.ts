import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { LiteralStarts } from './literal-starts.ts';

test('no place where a literal begins is passed over, whatever its case and what stands before it', () => {
  const letters = fc.string({ unit: fc.constantFrom('a', 'B', '-', '0', '\\', 'é', '…', '\ud800'), maxLength: 30 });
  const many = fc.array(letters, { minLength: 1, maxLength: 4 });
  fc.assert(
    fc.property(fc.constantFrom(3, 6), many, letters, letters, (length, literals, before, after) => {
      const starts = new LiteralStarts({ length });
      const usable = literals.filter((literal) => literal.length >= length);
      for (const literal of usable) starts.add(literal);
      for (const literal of usable) {
        const text = `${before}${literal.toUpperCase()}${after}`;
        const found: number[] = [];
        for (let at = starts.next(text, 0); at !== -1; at = starts.next(text, at + 1)) found.push(at);
        assert.ok(found.includes(before.length), JSON.stringify({ text, found }));
      }
    }),
  );
});

test('ordinary text has no place to look at', () => {
  const starts = new LiteralStarts();
  starts.add('ghp_');
  assert.equal(starts.next('src/main.ts', 0), -1);
  assert.equal(starts.next('', 0), -1);
  assert.equal(starts.next('gh', 0), -1);
});
