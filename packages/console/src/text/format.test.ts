import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { formatCount, formatDuration, formatLeft } from './format.ts';

describe('times', () => {
  it('are as short as they can be said', () => {
    assert.deepEqual([820, 3210, 240_000, 5_400_000].map(formatDuration), ['820 ms', '3.2 s', '4 min', '1.5 h']);
  });

  it('count down to zero and no further', () => {
    assert.deepEqual([299_001, 61_000, 1, 0, -5000].map(formatLeft), ['5:00', '1:01', '0:01', '0:00', '0:00']);
    assert.equal(formatLeft(7_500_000), '2 h 5 min');
  });
});

describe('counts', () => {
  it('agree with their noun', () => {
    assert.equal(formatCount(1, 'line'), '1 line');
    assert.equal(formatCount(1200, 'line'), '1,200 lines');
  });
});
