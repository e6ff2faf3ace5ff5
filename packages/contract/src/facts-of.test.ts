import assert from 'node:assert/strict';
import { test } from 'node:test';
import { factsOf } from './facts-of.ts';

test('a message is told in words, without what says nothing', () => {
  const message = {
    sessionId: 's',
    expiresAtMs: '5',
    note: '',
    tools: ['a', 'b'],
    masked: [],
    scope: { paths: { names: [] } },
    budget: { maxCalls: '7' },
    spent: { calls: '2', activeMs: '0' },
  };
  assert.deepEqual(
    factsOf(message, (ms) => `at ${ms}`),
    [
      ['session id', 's'],
      ['expires at', 'at 5'],
      ['tools', 'a b'],
      ['paths', ''],
      ['max calls', '7'],
      ['calls used', '2'],
    ],
  );
});
