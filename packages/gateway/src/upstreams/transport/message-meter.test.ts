import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MessageMeter } from './message-meter.ts';

test('a burst passes, a flood waits, and waiting earns credit again', () => {
  let nowMs = 0;
  const meter = new MessageMeter(() => nowMs);
  assert.equal(meter.charge({ messages: 1000, bytes: 0 }), 0);
  assert.equal(meter.charge({ messages: 1000, bytes: 0 }), 0);
  assert.equal(Math.round(meter.charge({ messages: 500, bytes: 0 })), 500);
  nowMs += 500;
  assert.equal(Math.round(meter.charge({ messages: 1, bytes: 0 })), 1);
  nowMs += 60_000;
  assert.equal(meter.charge({ messages: 0, bytes: 32 * 1024 * 1024 }), 0);
  assert.ok(meter.charge({ messages: 0, bytes: 1024 * 1024 }) > 0);
});
