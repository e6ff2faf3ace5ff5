import assert from 'node:assert/strict';
import { test } from 'node:test';
import { OpenIntents } from './open-intents.ts';

// The end of an id decides where it is looked for: these all meet there.
const [a, b, c] = ['a', 'b', 'c'].map((start) => `${start.repeat(8)}-0000-7000-8000-000000000000`) as [
  string,
  string,
  string,
];

test('calls with ids that end alike stay apart, whichever ends first', () => {
  for (const order of [
    [a, b, c],
    [c, b, a],
    [b, a, c],
  ]) {
    const open = new OpenIntents([]);
    [a, b, c].forEach((callId, at) => open.open(callId, at));
    for (const callId of [a, b, c]) assert.throws(() => open.open(callId, 9), /open intent already/);
    const left = new Set([a, b, c]);
    for (const callId of order) {
      open.close(callId);
      left.delete(callId);
      assert.throws(() => open.close(callId), /no open intent/);
      for (const other of left) assert.throws(() => open.open(other, 9), /open intent already/);
      assert.equal(open.firstPosition(3), left.size === 0 ? 3 : [a, b, c].findIndex((each) => left.has(each)));
      open.committed();
    }
  }
});

test('a transaction that is rolled back leaves every call as it was', () => {
  const open = new OpenIntents([a, b].map((callId, index) => ({ callId, index, sessionId: 's', timeMs: 1 })));
  open.close(a);
  open.open(c, 2);
  open.close(b);
  open.open(a, 3);
  open.close(c);
  open.rolledBack();
  assert.equal(open.firstPosition(2), 0);
  assert.throws(() => open.close(c), /no open intent/);
  for (const callId of [a, b]) assert.throws(() => open.open(callId, 2), /open intent already/);
  open.close(a);
  assert.equal(open.firstPosition(2), 1);
  open.close(b);
  assert.equal(open.firstPosition(2), 2);
});
