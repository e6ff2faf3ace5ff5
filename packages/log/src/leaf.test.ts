import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import fc from 'fast-check';
import { requirement } from '../../../test/requirement.ts';
import { commitPayload, decodeLeaf, encodeCommittedLeaf, encodeLeaf, isLeafOf, leafBytes } from './leaf.ts';
import { recordKinds, recordResults } from './record.ts';
import type { RecordFacts } from './record.ts';
import vectors from './vectors.json' with { type: 'json' };

const commitment = createHash('sha256').update('commitment').digest();
const callId = '01942a5b-db1b-7a7e-86cb-5c5c64abac08';
const event: RecordFacts & { readonly payload: string } = { kind: 'event', result: 'none', timeMs: 0, payload: '' };

const sha256Hex = fc.uint8Array({ minLength: 32, maxLength: 32 }).map((bytes) => Buffer.from(bytes).toString('hex'));
const entries: fc.Arbitrary<RecordFacts> = fc.record(
  {
    kind: fc.constantFrom(...recordKinds),
    result: fc.constantFrom(...recordResults),
    timeMs: fc.maxSafeNat(),
    callId: fc.uuid(),
    sessionId: fc.uuid(),
    rulesHash: sha256Hex.filter((text) => /[^0]/.test(text)),
  },
  { requiredKeys: ['kind', 'result', 'timeMs'] },
);

test('a leaf says again what was encoded', () => {
  requirement('AUD-1', 'AUD-3');
  fc.assert(
    fc.property(entries, (entry) => {
      const leaf = encodeLeaf(entry, commitment);
      assert.equal(leaf.length, leafBytes);
      assert.deepEqual(decodeLeaf(leaf), { ...entry, commitment });
    }),
  );
});

test('whatever bytes can be decoded are the only ones for what they say', () => {
  const leaf = entries.map((entry) => encodeLeaf(entry, commitment));
  fc.assert(
    fc.property(leaf, fc.nat({ max: leafBytes - 1 }), fc.nat({ max: 255 }), (bytes, place, value) => {
      bytes[place] = value;
      let decoded;
      try {
        decoded = decodeLeaf(bytes);
      } catch {
        return;
      }
      assert.deepEqual(encodeLeaf(decoded, decoded.commitment), bytes);
    }),
  );
});

test('leaves, commitments and their hashes are those of the published vectors', () => {
  requirement('AUD-3');
  for (const { entry, salt, leaf, commitment: expected } of vectors.records) {
    const computed = commitPayload(Buffer.from(salt, 'hex'), entry.payload);
    assert.equal(computed.toString('hex'), expected);
    assert.equal(encodeLeaf(entry as RecordFacts & { readonly payload: string }, computed).toString('hex'), leaf);
    const atOnce = encodeCommittedLeaf(entry as RecordFacts, Buffer.from(salt, 'hex'), entry.payload);
    assert.equal(atOnce.toString('hex'), leaf);
  }
});

const wrongBytes: readonly (readonly [name: string, place: number, value: number, says: RegExp])[] = [
  ['another version', 0, 2, /version 2/],
  ['no kind', 1, 0, /kind/],
  ['an unknown kind', 1, 5, /kind/],
  ['an unknown result', 2, 7, /result/],
  ['a reserved byte that is set', 3, 1, /reserved/],
  ['a time past the year 287396', 4, 1, /time/],
  ['a time just above what a number holds', 5, 0x20, /time/],
];
for (const [name, place, value, says] of wrongBytes) {
  test(`a leaf with ${name} is refused`, () => {
    const leaf = encodeLeaf(event, commitment);
    leaf[place] = value;
    assert.throws(() => decodeLeaf(leaf), says);
  });
}

test('a leaf of another length is refused', () => {
  const leaf = encodeLeaf(event, commitment);
  assert.throws(() => decodeLeaf(leaf.subarray(1)), /108 bytes, not 107/);
  assert.throws(() => decodeLeaf(Buffer.concat([leaf, Buffer.of(0)])), /108 bytes, not 109/);
});

test('what a leaf cannot say is not written', () => {
  const wrong: readonly (readonly [Partial<RecordFacts & { readonly payload: string }>, RegExp])[] = [
    [{ timeMs: -1 }, /time/],
    [{ timeMs: 1.5 }, /time/],
    [{ timeMs: Number.NaN }, /time/],
    [{ callId: 'call-1' }, /id or hash/],
    [{ callId: callId.toUpperCase() }, /id or hash/],
    [{ callId: `${callId}\n` }, /id or hash/],
    [{ callId: callId.replaceAll('-', '') }, /id or hash/],
    [{ callId: callId.replace('-', '0') }, /id or hash/],
    [{ callId: `${callId.slice(0, -1)}g` }, /id or hash/],
    [{ callId: `${callId.slice(0, -1)}\u0131` }, /id or hash/],
    [{ rulesHash: `${'ab'.repeat(32)}0` }, /id or hash/],
    [{ sessionId: '00000000-0000-0000-0000-000000000000' }, /id or hash/],
    [{ rulesHash: 'ab' }, /id or hash/],
    [{ rulesHash: '0'.repeat(64) }, /id or hash/],
    [{ kind: 'constructor' as never }, /kind and a result/],
    [{ result: undefined as never }, /kind and a result/],
  ];
  for (const [part, says] of wrong) assert.throws(() => encodeLeaf({ ...event, ...part }, commitment), says);
  assert.throws(() => encodeLeaf(event, commitment.subarray(1)), /32 bytes/);
});

test('a commitment is SHA-256 over 2, salt and payload, however long the payload is', () => {
  const salt = Buffer.alloc(32, 9);
  for (const payload of ['', '{}', 'é€😀', 'x'.repeat(21_000), '€'.repeat(21_900), 'x'.repeat(70_000)]) {
    const expected = createHash('sha256').update(Buffer.of(2)).update(salt).update(payload).digest();
    assert.deepEqual(commitPayload(salt, payload), expected);
  }
});

test('a leaf belongs to its salt and payload and to no others', () => {
  const salt = Buffer.alloc(32, 1);
  const leaf = encodeLeaf(event, commitPayload(salt, '{}'));
  assert.ok(isLeafOf(leaf, salt, '{}'));
  assert.ok(!isLeafOf(leaf, salt, '{} '));
  assert.ok(!isLeafOf(leaf, Buffer.alloc(32, 2), '{}'));
});

test('a payload that UTF-8 cannot say and a salt of another length are refused', () => {
  assert.throws(() => commitPayload(Buffer.alloc(32), 'half \ud800'), /surrogate/);
  assert.throws(() => commitPayload(Buffer.alloc(31), ''), /32 bytes, not 31/);
});
