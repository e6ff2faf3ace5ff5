import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Transfers } from './transfers.ts';

test('a stream is taken once, by a call of the session that opened it', () => {
  const transfers = new Transfers<string>();
  const { id } = transfers.register('ada', 'stream');
  assert.equal(transfers.take(id, 'bob'), undefined);
  assert.equal(transfers.take('made up', 'ada'), undefined);
  assert.equal(transfers.take(id, 'ada'), 'stream');
  assert.equal(transfers.take(id, 'ada'), undefined);
});

test('a stream whose call has ended cannot be taken', () => {
  const transfers = new Transfers<string>();
  const { id, close } = transfers.register('ada', 'stream');
  close();
  assert.equal(transfers.take(id, 'ada'), undefined);
});
