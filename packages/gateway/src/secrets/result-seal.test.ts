import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { ResultSeal } from './result-seal.ts';

test('a result opens for its own call and key only, and its text is not in what is kept', () => {
  const seal = new ResultSeal(randomBytes(32));
  const sealed = seal.seal('call-1', { text: 'marker' });
  assert.deepEqual(seal.open('call-1', sealed), { output: { text: 'marker' } });
  assert.equal(Buffer.from(sealed).includes('marker'), false);
  assert.equal(seal.open('call-2', sealed), undefined);
  assert.equal(new ResultSeal(randomBytes(32)).open('call-1', sealed), undefined);
  assert.deepEqual(seal.open('call-1', seal.seal('call-1', null)), { output: null });
});
