import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { addUp, describeTotals, stackBars, totalsOf } from './tally.ts';

const slots = 6;
const counts = fc.array(fc.oneof(fc.nat(5000), fc.nat(2)), { minLength: slots, maxLength: slots });
const use = fc.record({ tool: fc.string(), succeeded: counts, denied: counts, asked: counts, failed: counts });

describe('the bars of usage', () => {
  it('stand on each other without gaps, within the height, and show everything that occurred', () => {
    fc.assert(
      fc.property(use, (each) => {
        const bars = stackBars(each, slots);
        for (let slot = 0; slot < slots; slot++) {
          const stack = bars.filter((bar) => bar.slot === slot);
          let floor = 100;
          for (const { top, height } of stack) {
            assert.ok(Math.abs(top + height - floor) < 1e-6 && top > -1e-6 && height > 0);
            floor = top;
          }
          const occurred = [each.succeeded, each.denied, each.asked, each.failed].filter(
            (list) => (list[slot] ?? 0) > 0,
          );
          assert.equal(stack.length, occurred.length);
        }
      }),
    );
  });

  it('are told in words too', () => {
    const one = { tool: 'a', succeeded: [1, 2], denied: [0, 1], asked: [0, 0], failed: [0, 0] };
    assert.equal(describeTotals(totalsOf(one)), '3 ok, 1 denied');
    assert.deepEqual(addUp({ tools: [one, one], slots: 2 }).succeeded, [2, 4]);
    assert.equal(totalsOf(addUp({ tools: [one, one], slots: 2 })).calls, 8);
  });
});
