import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatDuration, formatTime } from './format-time.ts';

test('a time is written with the date first, in local time', () => {
  assert.equal(formatTime(new Date(2026, 2, 1, 4, 5, 9).getTime()), '2026-03-01 04:05:09');
  assert.equal(formatTime(Number.NaN), '-');
});

test('a duration names its two largest units', () => {
  assert.equal(formatDuration(900), '0 s');
  assert.equal(formatDuration(40_000), '40 s');
  assert.equal(formatDuration(2 * 3_600_000 + 5 * 60_000 + 1000), '2 h 5 min');
  assert.equal(formatDuration(3 * 86_400_000), '3 d');
});
