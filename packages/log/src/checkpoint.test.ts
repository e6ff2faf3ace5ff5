import assert from 'node:assert/strict';
import { createHmac, sign } from 'node:crypto';
import { test } from 'node:test';
import fc from 'fast-check';
import { requirement } from '../../../test/requirement.ts';
import {
  CheckpointError,
  createSigningKey,
  deriveTagKey,
  isTagOf,
  openCheckpoint,
  openSigner,
  parseVerifier,
  prepareTagKey,
  signCheckpoint,
  tagRecord,
} from './checkpoint.ts';
import vectors from './vectors.json' with { type: 'json' };

const origin = 'example.org/sallyport';
const signer = openSigner(vectors.key.privateKey);
const verifier = parseVerifier(vectors.key.verifier);
const root = Buffer.alloc(32, 5);
const note = signCheckpoint(signer, { origin, size: 42, root });

/** Signs any text, as only a holder of the key could. */
function signText(body: string): string {
  const signature = sign(null, Buffer.from(body), signer.privateKey);
  return `${body}\n\u2014 ${signer.name} ${Buffer.concat([signer.keyId, signature]).toString('base64')}\n`;
}

test('a checkpoint opens with the public half of the key that signed it', () => {
  requirement('AUD-3');
  const key = createSigningKey('gate.example');
  const signed = signCheckpoint(openSigner(`${key.privateKey}\n`), { origin, size: 7, root });
  assert.deepEqual(openCheckpoint(signed, parseVerifier(key.verifier)), { origin, size: 7, root });
});

test('two keys of one name are told apart', () => {
  const key = createSigningKey(signer.name);
  assert.throws(() => openCheckpoint(note, parseVerifier(key.verifier)), /not signed by the key/);
});

test('notes and keys are byte for byte those of golang.org/x/mod/sumdb/note', () => {
  requirement('AUD-3');
  assert.equal(signer.verifier, vectors.key.verifier);
  for (const { size, note: expected } of vectors.checkpoints) {
    const treeRoot = Buffer.from(vectors.roots[size] as string, 'hex');
    assert.equal(signCheckpoint(signer, { origin, size, root: treeRoot }), expected);
    assert.deepEqual(openCheckpoint(expected, verifier), { origin, size, root: treeRoot });
  }
});

test('a witness may sign beside the gate', () => {
  const { note: cosigned, witnessVerifier, witnessPrivateKey } = vectors.cosigned;
  assert.equal(openCheckpoint(cosigned, verifier).size, 7);
  assert.equal(openCheckpoint(cosigned, parseVerifier(witnessVerifier)).size, 7);
  assert.equal(openSigner(witnessPrivateKey).verifier, witnessVerifier);
});

test('a note with any one character changed does not open', () => {
  requirement('AUD-3');
  const character = fc.constantFrom('A', 'b', '0', '9', '+', '/', '=', ' ', '\n', '\u2014', '\u00a0');
  fc.assert(
    fc.property(fc.nat({ max: note.length - 1 }), character, (place, replacement) => {
      fc.pre(note[place] !== replacement);
      const changed = note.slice(0, place) + replacement + note.slice(place + 1);
      assert.throws(() => openCheckpoint(changed, verifier), CheckpointError);
    }),
  );
});

test('a note with any one character removed or doubled does not open', () => {
  for (let place = 0; place < note.length; place += 1) {
    const removed = note.slice(0, place) + note.slice(place + 1);
    const doubled = note.slice(0, place) + note.slice(place, place + 1) + note.slice(place);
    for (const changed of [removed, doubled]) {
      assert.throws(() => openCheckpoint(changed, verifier), CheckpointError, `place ${place}`);
    }
  }
});

test('a bad signature of our key is an error even beside a good one', () => {
  const [, goodLine = ''] = note.split('\n\n');
  const forged = `${note}${signText('another text\n').split('\n\n')[1]}`;
  assert.throws(() => openCheckpoint(forged, verifier), /was changed/);
  assert.equal(openCheckpoint(note + goodLine, verifier).size, 42);
});

const signedNonsense: readonly (readonly [name: string, body: string])[] = [
  ['no root', `${origin}\n42\n`],
  ['a size with a leading zero', `${origin}\n042\n${root.toString('base64')}\n`],
  ['a negative size', `${origin}\n-1\n${root.toString('base64')}\n`],
  ['a size that no number holds', `${origin}\n9007199254740993\n${root.toString('base64')}\n`],
  ['a short root', `${origin}\n42\n${root.subarray(1).toString('base64')}\n`],
  ['an empty origin', `\n42\n${root.toString('base64')}\n`],
  ['a further line', `${origin}\n42\n${root.toString('base64')}\nmore\n`],
];
for (const [name, body] of signedNonsense) {
  test(`a signed text with ${name} is no checkpoint`, () => {
    assert.throws(() => openCheckpoint(signText(body), verifier), /not a checkpoint/);
  });
}

test('what is not a note at all is refused without a crash', () => {
  const hostile = [
    '',
    '\n',
    '\n\n',
    '\n\n\n',
    'text',
    note.slice(0, -1),
    `${'x'.repeat(70_000)}\n\n${note}`,
    `\ud800${note}`,
  ];
  for (const text of [...hostile, null as never, 7 as never]) {
    assert.throws(() => openCheckpoint(text, verifier), CheckpointError);
  }
});

test('what cannot be read back is not signed', () => {
  const checkpoint = { origin, size: 1, root };
  for (const bad of ['', 'two\nlines', 'with space', 'a+b', 'ü']) {
    assert.throws(() => signCheckpoint(signer, { ...checkpoint, origin: bad }), /origin/);
    assert.throws(() => createSigningKey(bad), /name of a key/);
  }
  assert.throws(() => signCheckpoint(signer, { ...checkpoint, size: -1 }), /size/);
  assert.throws(() => signCheckpoint(signer, { ...checkpoint, size: 2 ** 53 }), /size/);
  assert.throws(() => signCheckpoint(signer, { ...checkpoint, root: root.subarray(1) }), /root/);
});

test('keys that are cut, mixed up or of another kind are refused, and the message does not quote them', () => {
  const secret = vectors.key.privateKey.split('+').slice(4).join('+');
  const wrongId = vectors.key.privateKey.replace('97030189', '97030188');
  const otherKind = vectors.key.privateKey.replace('+AXDW', '+AnDW');
  for (const text of ['', vectors.key.verifier, vectors.key.privateKey.slice(0, -4), wrongId, otherKind]) {
    assert.throws(
      () => openSigner(text),
      (error) => error instanceof CheckpointError && !error.message.includes(secret.slice(0, 8)),
    );
  }
  const changed = vectors.key.verifier.replace('+AZ', '+Aa');
  for (const text of ['', 'name', vectors.key.privateKey, changed]) {
    assert.throws(() => parseVerifier(text), CheckpointError);
  }
});

test('a record tag is HMAC-SHA-256 over place and leaf hash, under a key that follows from the signing key', () => {
  requirement('AUD-3');
  const key = Buffer.from(vectors.key.tagKey, 'hex');
  assert.deepEqual(deriveTagKey(signer), prepareTagKey(key));
  for (const { index, leafHash, tag } of vectors.records) {
    assert.equal(tagRecord(deriveTagKey(signer), index, Buffer.from(leafHash, 'hex')).toString('hex'), tag);
  }
  const hash32 = fc.uint8Array({ minLength: 32, maxLength: 32 });
  fc.assert(
    fc.property(hash32, fc.nat({ max: 2 ** 40 }), hash32, (keyBytes, index, leafHash) => {
      const place = Buffer.alloc(8);
      place.writeBigUInt64BE(BigInt(index));
      const expected = createHmac('sha256', keyBytes).update(place).update(leafHash).digest();
      const tagKey = prepareTagKey(keyBytes);
      assert.deepEqual(tagRecord(tagKey, index, leafHash), expected);
      assert.ok(isTagOf(expected, tagKey, index, leafHash));
      assert.ok(!isTagOf(expected, tagKey, index + 1, leafHash));
      assert.ok(!isTagOf(expected.subarray(1), tagKey, index, leafHash));
    }),
  );
  assert.throws(() => prepareTagKey(key.subarray(1)), /32 bytes/);
});
