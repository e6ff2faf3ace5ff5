import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SessionHistory } from './session-history.ts';

test('a session has called what the log says and what came since, each tool at its last time', () => {
  const read: string[] = [];
  const history = new SessionHistory((session) => {
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
  assert.deepEqual(history.of('a'), [
    { tool: 'x', startedAtMs: 5 },
    { tool: 'y', startedAtMs: 7 },
  ]);
  assert.deepEqual(history.of('b'), [{ tool: 'z', startedAtMs: 1 }]);
  assert.deepEqual(history.of('c'), []);
  assert.deepEqual(read, ['a', 'b', 'c']);
});

test('of very many sessions the one that was not used for longest is read again', () => {
  const read: string[] = [];
  const history = new SessionHistory((session) => (read.push(session), []));
  for (let i = 0; i <= 10_000; i++) history.of(`s${i}`);
  history.of('s10000');
  history.of('s1');
  assert.equal(read.length, 10_001);
  history.of('s0');
  assert.equal(read.length, 10_002);
});

test('a log that cannot be read is no empty history', () => {
  const history = new SessionHistory(() => assert.fail('unreadable'));
  assert.throws(() => history.of('a'));
  assert.throws(() => history.of('a'));
});
