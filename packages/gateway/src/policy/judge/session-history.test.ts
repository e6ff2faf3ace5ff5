import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SessionHistory } from './session-history.ts';

test('a session has called what the log says and what came since, each tool at its last time', async () => {
  const read: string[] = [];
  const history = new SessionHistory(async (session) => {
    read.push(session);
    return session === 'a'
      ? [
          { tool: 'x', startedAtMs: 5 },
          { tool: 'x', startedAtMs: 3 },
        ]
      : [];
  });
  history.note('a', { tool: 'y', startedAtMs: 7 });
  history.note('a', { tool: 'y', startedAtMs: 6 });
  history.note('b', { tool: 'z', startedAtMs: 1 });
  assert.deepEqual(await history.of('a'), [
    { tool: 'y', startedAtMs: 7 },
    { tool: 'x', startedAtMs: 5 },
  ]);
  assert.deepEqual(await history.of('b'), [{ tool: 'z', startedAtMs: 1 }]);
  assert.deepEqual(await history.of('c'), []);
  assert.deepEqual(read, ['a', 'b', 'c']);
});

test('of very many sessions one that was not used for long is read again', async () => {
  const read: string[] = [];
  const history = new SessionHistory(async (session) => (read.push(session), []));
  for (let i = 0; i <= 20_000; i++) await history.of(`s${i}`);
  await history.of('s20000');
  await history.of('s10001');
  assert.equal(read.length, 20_001);
  await history.of('s0');
  assert.equal(read.length, 20_002);
});

test('a log that cannot be read is no empty history', async () => {
  const history = new SessionHistory(async () => assert.fail('unreadable'));
  await assert.rejects(history.of('a'));
  await assert.rejects(history.of('a'));
});
