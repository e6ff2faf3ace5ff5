import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { addUp, describeTotals, filterOfSlot, totalsOf } from './series.ts';

describe('activity in numbers', () => {
  it('is added up slot by slot and told in words', () => {
    const one = { name: 'a', succeeded: [1, 2], denied: [0, 1], asked: [0, 0], failed: [0, 0] };
    assert.equal(describeTotals(totalsOf(one)), '3 ok, 1 denied');
    assert.deepEqual(addUp([one, one], 2).succeeded, [2, 4]);
    assert.equal(totalsOf(addUp([one, one], 2)).calls, 8);
  });

  it('leads to the calls of a slot', () => {
    const report = { fromMs: String(Date.UTC(2026, 2, 1, 12)), slotMs: '3600000' } as Parameters<
      typeof filterOfSlot
    >[0];
    assert.equal(
      filterOfSlot(report, 1, 'status:denied'),
      'status:denied since:2026-03-01T13:00:00Z until:2026-03-01T14:00:00Z',
    );
  });
});
