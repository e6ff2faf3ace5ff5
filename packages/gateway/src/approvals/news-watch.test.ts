import assert from 'node:assert/strict';
import { test } from 'node:test';
import { NewsWatch } from './news-watch.ts';

interface News {
  readonly about: string;
  readonly kind: 'pending' | 'decided';
}

const never = new AbortController().signal;

function openWatch() {
  const watch = new NewsWatch<News>(({ about }) => about);
  let asked = 0;
  const wait = (about: string, more: { timeoutMs?: number; signal?: AbortSignal } = {}) =>
    watch.awaitNews(
      about,
      ({ kind }) => {
        asked += 1;
        return kind === 'decided';
      },
      { timeoutMs: 60_000, signal: never, isOver: async () => false, ...more },
    );
  return { watch, wait, timesAsked: () => asked };
}

test('a caller that waits for one thing is not asked about others, however many wait', async () => {
  const { watch, wait, timesAsked } = openWatch();
  const heard: string[] = [];
  watch.listen(({ about }) => void heard.push(about));
  const waiting = Array.from({ length: 100 }, (_, at) => wait(String(at)));
  watch.tell({ about: '7', kind: 'pending' });
  watch.tell({ about: '7', kind: 'decided' });
  assert.equal(await waiting[7], true);
  assert.equal(timesAsked(), 2);
  watch.tell({ about: '7', kind: 'decided' });
  assert.equal(timesAsked(), 2, 'a wait that ended hears nothing');
  assert.deepEqual(heard, ['7', '7', '7']);
  for (let at = 0; at < 100; at++) watch.tell({ about: String(at), kind: 'decided' });
  assert.ok((await Promise.all(waiting)).every(Boolean));
});

test('several may wait for the same, and one that leaves does not take the others along', async () => {
  const { watch, wait } = openWatch();
  const leaving = new AbortController();
  const [left, late, stays] = [wait('a', { signal: leaving.signal }), wait('a', { timeoutMs: 1 }), wait('a')];
  leaving.abort();
  assert.deepEqual(await Promise.all([left, late]), [false, false]);
  watch.tell({ about: 'a', kind: 'decided' });
  assert.equal(await stays, true);
});
