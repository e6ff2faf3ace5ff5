import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { foldEffect } from './confirm-effect.ts';

const plain = { columns: 20, paint: (_tone: string, text: string) => text };

test('an effect is shown whole, with what would hide or deceive spelled out', () => {
  assert.deepEqual(foldEffect('Write a.txt\n+\u001b[8mrm -rf\u202e\n', plain), [
    '  Write a.txt',
    String.raw`  +\e[8mrm -rf\u202e`,
  ]);
});

test('a line that goes on is marked where the text itself cannot reach', () => {
  assert.deepEqual(foldEffect(`+${'x'.repeat(17)}-forged`, plain), [`  +${'x'.repeat(17)}`, '↪ -forged']);
  const starts = fc.property(fc.string({ unit: 'binary' }), (effect) =>
    foldEffect(effect, plain).every((row) => row.startsWith('  ') || row.startsWith('↪ ')),
  );
  fc.assert(starts);
});

test('all rows of a changed line have its colour', () => {
  const painted = foldEffect(`-${'x'.repeat(20)}\n plain`, { ...plain, paint: (tone, text) => `${tone}:${text}` });
  assert.deepEqual(
    painted.map((row) => row.slice(0, 4)),
    ['red:', 'red:', '   p'],
  );
});
