import assert from 'node:assert/strict';
import { setImmediate } from 'node:timers/promises';
import { test } from 'node:test';
import { followNews } from './follow-news.ts';

interface News {
  readonly kind: string;
  readonly id: string;
}

function follow(pending: readonly News[]) {
  const reader = new AbortController();
  let tell: (news: News) => void = () => undefined;
  let stopped = false;
  let refusal: Error | undefined;
  const news = followNews<News>({
    listen: (hear) => {
      tell = hear;
      return () => (stopped = true);
    },
    idOf: ({ id }) => id,
    readPending: async function* () {
      // It was stored just before somebody looked, and is told just after.
      const listed = [...pending];
      for (const each of pending) tell(each);
      yield* listed;
    },
    check: () => {
      if (refusal) throw refusal;
    },
    signal: reader.signal,
  });
  const refuse = (error: Error) => (refusal = error);
  return { news, reader, tell: (each: News) => tell(each), isStopped: () => stopped, refuse };
}

const next = async (news: AsyncGenerator<News>) => (await news.next()).value as News | undefined;

test('what is pending comes first and once, then what happens', async () => {
  const [a, b] = [
    { kind: 'pending', id: 'a' },
    { kind: 'pending', id: 'b' },
  ];
  const { news, reader, tell, isStopped } = follow([a]);
  assert.deepEqual(await next(news), a);
  tell({ kind: 'decided', id: 'a' });
  tell(b);
  assert.deepEqual(await next(news), { kind: 'decided', id: 'a' });
  assert.deepEqual(await next(news), b);
  tell(a);
  assert.deepEqual(await next(news), a, 'asked again after that');
  const ended = next(news);
  await setImmediate();
  reader.abort();
  assert.deepEqual([await ended, isStopped()], [undefined, true]);
});

test('a listener who may not know it any more is told nothing more', async () => {
  const { news, tell, refuse, isStopped } = follow([{ kind: 'pending', id: 'a' }]);
  await news.next();
  refuse(new Error('not you'));
  tell({ kind: 'decided', id: 'a' });
  await assert.rejects(news.next(), /not you/);
  assert.ok(isStopped());
});

test('a reader who is too far behind is told to begin anew', async () => {
  const { news, tell } = follow([{ kind: 'pending', id: 'a' }]);
  await news.next();
  for (let at = 0; at < 5002; at++) tell({ kind: 'decided', id: String(at) });
  await assert.rejects(news.next(), /too far behind/);
});
