import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BusyGate } from './busy-gate.ts';

const second = 1000;

/** The log after each second, with this many records at first. */
function grow(perSecond: number, from = 0) {
  const gate = new BusyGate(from, 0);
  return {
    gate,
    at: (seconds: number, indexed = from) =>
      gate.comesFirst(seconds * second, () => ({ log: from + perSecond * seconds, indexed })),
  };
}

test('a gate that writes little does not keep the index waiting', () => {
  const { at } = grow(1999);
  assert.deepEqual([at(1), at(2), at(3)], [false, false, false]);
});

test('a gate that writes much comes first, and calmer times end that', () => {
  const { gate, at } = grow(5000);
  assert.deepEqual([at(1), at(2)], [true, true]);
  assert.equal(
    gate.comesFirst(3 * second, () => ({ log: 10_001, indexed: 0 })),
    false,
  );
});

test('what was put off for long is not put off further', () => {
  const { at } = grow(100_000);
  assert.deepEqual([at(1), at(2), at(3)], [true, true, false]);
});

test('somebody who asks has the index brought up to date for a while', () => {
  const { gate, at } = grow(5000);
  assert.equal(at(1), true);
  gate.noteQuestion(1500);
  assert.deepEqual([at(2), at(31), at(32)], [false, false, true]);
});

test('the log is not looked at between two portions of the index', () => {
  const { gate } = grow(5000);
  assert.equal(
    gate.comesFirst(400, () => assert.fail('looked')),
    false,
  );
});
