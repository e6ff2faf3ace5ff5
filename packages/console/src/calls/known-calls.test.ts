import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { SearchPage } from '../daemon/search-audit.ts';
import { addPage, mostFollowed, noCalls } from './known-calls.ts';
import type { KnownCalls } from './known-calls.ts';

/** Entries from the newest on, each with one record. */
const page = (from: number, count: number, next?: string): SearchPage => ({
  entries: Array.from({ length: count }, (_, at) => {
    const index = String(from - at);
    const record = { index, timeMs: index, callId: `call ${index}`, kind: 'outcome', result: 'ok', payloadJson: '{}' };
    return { kind: 'call', records: [record] };
  }) as unknown as SearchPage['entries'],
  ...(next === undefined ? {} : { next }),
  indexedSize: '1',
  logSize: '1',
});

const indexesOf = ({ calls }: KnownCalls): number[] =>
  [...calls.values()].map(({ startedAtMs }) => startedAtMs).toSorted((a, b) => a - b);

describe('the calls that a page knows', () => {
  it('grow back in time page by page, as long as there are more', () => {
    const first = addPage(noCalls, page(100, 10, '91'), false);
    assert.deepEqual([first.calls.size, first.next, first.newest], [10, '91', 100]);
    const second = addPage(first, page(90, 10), false);
    assert.deepEqual([second.calls.size, second.next, second.isFull], [20, undefined, false]);
    assert.deepEqual([indexesOf(second)[0], indexesOf(second).at(-1)], [81, 100]);
  });

  it('stay as many while others follow, and what is let go can be read again', () => {
    const full = addPage(noCalls, page(5000, mostFollowed, '4001'), false);
    const later = addPage(full, page(5010, 10), true);
    assert.deepEqual([later.calls.size, later.newest, later.next], [mostFollowed, 5010, '4011']);
    assert.deepEqual([indexesOf(later)[0], indexesOf(later).at(-1)], [4011, 5010]);
    const back = addPage(later, page(4010, 10, '4001'), false);
    assert.deepEqual([back.calls.size, indexesOf(back)[0]], [mostFollowed + 10, 4001]);
  });
});
