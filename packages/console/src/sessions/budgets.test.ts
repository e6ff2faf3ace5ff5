import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Session } from '../daemon/messages.ts';
import { gaugesOf } from './budgets.ts';

test('the limits of a session and of its lease are told in words, with how much is used', () => {
  const session = {
    ...{ agent: 'ada', sessionId: 's', createdAtMs: '0', expiresAtMs: '7200000' },
    budget: { maxCalls: '600' },
    spent: { calls: '540' },
    lease: { status: 'in force', grantedAtMs: '0', budget: { maxTokens: '10' }, spent: { tokens: '20' } },
  } as unknown as Session;
  assert.deepEqual(
    gaugesOf(session, 3_600_000).map(({ text, used }) => [text, used]),
    [
      ['540 of 600 calls', 0.9],
      ['20 of 10 tokens of the lease', 1],
      ['session ends in 60 minutes', 0.5],
    ],
  );
  assert.deepEqual(gaugesOf({ agent: 'b', sessionId: 't', createdAtMs: '0' } as Session, 0), []);
});
