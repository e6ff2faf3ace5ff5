import assert from 'node:assert/strict';
import { randomUUIDv7 } from 'node:crypto';
import { test } from 'node:test';
import { recordKinds, recordResults } from '@sallyport/log';
import { ownText } from '../../call/redacted.ts';
import type { LogEntry } from '../stores.ts';
import { flattenAnswer, flattenOperation, readIndex, readOperations } from './flat-operations.ts';
import type { Operation, Written } from './operation.ts';
import { ReceivedValues, SentValues } from './repeated-values.ts';

const ids = { callId: randomUUIDv7(), sessionId: randomUUIDv7() };
const entry: LogEntry & { readonly callId: string } = {
  ...{ kind: 'intent', result: 'none', timeMs: 1, rulesHash: 'ab'.repeat(32), payload: ownText('{"a":"€"}') },
  ...ids,
};
const bare: LogEntry = { kind: 'event', result: 'none', timeMs: 2, payload: ownText('{}') };
const charge = { sessionId: ids.sessionId, leaseId: 'lease', activeMs: 1, tokens: 2, costMicros: 3 };
const misconduct = { sessionId: ids.sessionId, weight: 1, limit: 2, windowMs: 3 };
const admission = { sessionId: ids.sessionId, leaseId: 'lease', basedOn: 4, tool: 'files.read', intent: entry };
const limit = { key: 'key', windowMs: 60_000, limit: 5, rule: 'rule' };

const operations: readonly Operation[] = [
  { name: 'admit', nowMs: 5, admission: { ...admission, reservations: [] } },
  {
    name: 'admit',
    nowMs: 6,
    admission: {
      ...admission,
      reservations: [limit, { ...limit, windowMs: 1 }],
      consent: { kind: 'standing', standingId: 'id' },
      dedupe: { key: 'k', argumentsSha256: 'h', expiresAtMs: 7, isRepeatable: true },
    },
  },
  { name: 'settle', settlement: { outcome: entry } },
  {
    name: 'settle',
    settlement: {
      outcome: entry,
      charge,
      misconduct,
      planId: 'plan',
      dedupe: { sessionId: 's', key: 'k', sealedOutput: Uint8Array.of(1) },
    },
  },
  { name: 'append', entry: bare, misconduct: undefined },
  { name: 'append', entry, misconduct },
  { name: 'endSession', id: ids.sessionId },
  { name: 'catchUp' },
  ...recordKinds.flatMap((kind) =>
    recordResults.map((result): Operation => ({ name: 'append', entry: { ...bare, kind, result }, misconduct })),
  ),
];

/** Absent and undefined are the same to the writer. */
const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

test('operations come out of the list as they went in, in any order', () => {
  const [sent, received] = [new SentValues(), new ReceivedValues()];
  for (const each of [operations, operations.toReversed(), operations]) {
    const flat: unknown[] = [];
    for (const operation of each) flattenOperation(operation, flat, sent);
    assert.deepEqual(plain(readOperations(structuredClone(flat), received)), plain(each));
  }
});

test('a list is refused when the one before it did not arrive', () => {
  const [sent, received] = [new SentValues(), new ReceivedValues()];
  const [first, second]: [unknown[], unknown[]] = [[], []];
  flattenOperation({ name: 'settle', settlement: { outcome: entry, charge } }, first, sent);
  flattenOperation({ name: 'settle', settlement: { outcome: entry, charge } }, second, sent);
  assert.throws(() => readOperations(second, received), /do not know the same values/);
});

test('only the place of a record is told as a number, and it reads as what it stood for', () => {
  const [admit, , settle, , append] = operations as [Operation, Operation, Operation, Operation, Operation];
  const told = (operation: Operation, written: Written) => {
    const answer = flattenAnswer(operation, written);
    return typeof answer === 'number' ? readIndex(operation, answer) : answer;
  };
  assert.deepEqual(told(admit, { ok: true, value: { admitted: true, intentIndex: 0 } }), {
    admitted: true,
    intentIndex: 0,
  });
  for (const operation of [settle, append])
    assert.deepEqual(told(operation, { ok: true, value: { index: 9 } }), { index: 9 });
  const touched = { version: 1, what: [{ kind: 'standing' }] } as const;
  for (const [operation, written] of [
    [admit, { ok: true, value: { admitted: false, because: 'session' } }],
    [admit, { ok: true, value: { admitted: true, intentIndex: 1 }, touched }],
    [settle, { ok: true, value: { index: 2, quarantined: 's' }, touched }],
    [settle, { ok: false, error: 'no', sealed: true }],
    [
      { name: 'endSession', id: 's' },
      { ok: true, value: true },
    ],
  ] as const satisfies readonly (readonly [Operation, Written])[])
    assert.equal(flattenAnswer(operation, written), written);
});
