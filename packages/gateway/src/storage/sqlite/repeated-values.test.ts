import assert from 'node:assert/strict';
import { test } from 'node:test';
import { mostKept, ReceivedValues, SentValues } from './repeated-values.ts';
import type { Repeated } from './repeated-values.ts';

const limitsOf = (limit: number) => [{ key: 'calls', windowMs: 60_000, limit, rule: 'rates' }];

/** As it crosses: the other thread gets copies. */
function cross(sent: SentValues, received: ReceivedValues, value: Repeated): Repeated {
  return received.decode(structuredClone(sent.encode(value)));
}

test('a value crosses once, and then only its number, which reads as the very same value', () => {
  const [sent, received] = [new SentValues(), new ReceivedValues()];
  const list = limitsOf(5);
  for (const value of ['a session', list]) {
    const first = cross(sent, received, value);
    assert.deepEqual(first, value);
    assert.equal(typeof sent.encode(value), 'number');
    assert.equal(cross(sent, received, value), first);
  }
});

test('no number ever stands for another value, however many values there are', () => {
  const [sent, received] = [new SentValues(), new ReceivedValues()];
  const values = Array.from({ length: 3 * mostKept + 7 }, (_, at) => (at % 5 === 0 ? limitsOf(at) : `session ${at}`));
  // Each comes again soon, and again after others have taken its number.
  for (const [at, value] of [...values.entries(), ...values.toReversed().entries()]) {
    const before = values[Math.max(0, at - 3)] as Repeated;
    for (const each of [value, before]) assert.deepEqual(cross(sent, received, each), each);
    received.checkCount(sent.count);
  }
});

test('who has missed values is told so, before a number is read', () => {
  const [sent, received] = [new SentValues(), new ReceivedValues()];
  cross(sent, received, 'known to both');
  sent.encode('lost on its way');
  assert.throws(() => received.checkCount(sent.count), /do not know the same values/);
  assert.throws(() => received.checkCount(undefined), /do not know the same values/);
  assert.throws(() => received.decode(1), /no value has crossed/);
});

test('limits that have crossed cannot be changed on one side only', () => {
  const [sent, list] = [new SentValues(), limitsOf(5)];
  sent.encode(list);
  assert.throws(() => Object.assign(list[0] ?? {}, { limit: 500 }), TypeError);
  assert.throws(() => list.push(...limitsOf(1)), TypeError);
  assert.notEqual(typeof sent.encode(limitsOf(500)), 'number', 'an equal list is another one');
});
