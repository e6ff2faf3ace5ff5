import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findBytes, spellBytes, spellCount } from './spell-amount.ts';

test('sizes read as people say them', () => {
  const said = [0, 1, 999, 1000, 1_550_000, 12_000_000_000, 5e15].map(spellBytes);
  assert.deepEqual(said, ['0 bytes', '1 byte', '999 bytes', '1.0 KB', '1.6 MB', '12.0 GB', '5000.0 TB']);
});

test('a limit that is a power of two is not rounded', () => {
  const said = [1024, 4 * 1024 ** 3, 1536 * 1024, 64 * 1024 * 1024, 4 * 1024 ** 3 + 1].map(spellBytes);
  assert.deepEqual(said, ['1 KiB', '4 GiB', '1.6 MB', '64 MiB', '4.3 GB']);
});

test('a size that was written can be read again, as exactly as it was written', () => {
  for (const bytes of [1, 12, 4 * 1024 ** 3, 64 * 1024, 1_600_000]) {
    assert.equal(findBytes(`The program used its ${spellBytes(bytes)} of memory.`), bytes);
  }
  assert.equal(findBytes('It used 5 processes.'), undefined);
});

test('one thing is not several', () => {
  assert.deepEqual(
    [0, 1, 2n].map((count) => spellCount(count, 'rule')),
    ['0 rules', '1 rule', '2 rules'],
  );
  assert.equal(spellCount(2, 'entry', 'entries'), '2 entries');
});
