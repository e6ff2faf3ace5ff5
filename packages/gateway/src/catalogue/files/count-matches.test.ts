import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { takeBreaks } from './check-signal.ts';
import { countMatches } from './count-matches.ts';
import { endsWith } from './test-workspace.ts';

const noBreak = () => Promise.resolve();

test('matches are counted with overlaps, and the first is where it begins', async () => {
  assert.deepEqual(await countMatches(Buffer.from('xaaa'), Buffer.from('aa'), noBreak), { count: 2, first: 1 });
  assert.deepEqual(await countMatches(Buffer.from('abc'), Buffer.from('d'), noBreak), { count: 0, first: -1 });
});

test('the linear search finds what the plain one finds', async () => {
  // Enough text that the product of the sizes forces the linear way.
  const padding = Buffer.alloc(4_000_000, 0x7a);
  await fc.assert(
    fc.asyncProperty(
      fc.string({ unit: fc.constantFrom('a', 'b'), minLength: 5, maxLength: 8 }),
      fc.string({ unit: fc.constantFrom('a', 'b'), maxLength: 60 }),
      async (wanted, text) => {
        const plain = await countMatches(Buffer.from(text), Buffer.from(wanted), noBreak);
        const linear = await countMatches(Buffer.concat([Buffer.from(text), padding]), Buffer.from(wanted), noBreak);
        assert.deepEqual(linear, plain);
      },
    ),
    { numRuns: 20 },
  );
});

test('text made to slow a search down does not, and the search can be cancelled', async () => {
  const text = Buffer.alloc(4_000_000, 0x61);
  const wanted = Buffer.alloc(100_000, 0x61);
  wanted[10] = 0x62;
  assert.deepEqual(await countMatches(text, wanted, noBreak), { count: 0, first: -1 });
  const controller = new AbortController();
  const search = countMatches(text, wanted, takeBreaks(controller.signal));
  controller.abort();
  await assert.rejects(search, endsWith('CANCELLED'));
});
