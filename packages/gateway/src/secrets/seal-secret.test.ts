import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { requirement } from '../../../../test/requirement.ts';
import { ConfigError } from '../call/fault.ts';
import { createSecretsKey, openSecret, parseSecretsKey, sealSecret } from './seal-secret.ts';

const key = parseSecretsKey(createSecretsKey());

test('what was sealed opens with the same key and name, whatever it is', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), fc.string({ unit: 'grapheme' }), (name, value) => {
      assert.equal(openSecret(key, name, sealSecret(key, name, value)), value);
    }),
  );
});

test('an envelope opens with no other key and under no other name', () => {
  requirement('AUD-4');
  const envelope = sealSecret(key, 'A', 'the value');
  assert.equal(openSecret(parseSecretsKey(createSecretsKey()), 'A', envelope), undefined);
  assert.equal(openSecret(key, 'B', envelope), undefined);
  assert.equal(openSecret(key, '', envelope), undefined);
});

test('a changed envelope does not open, wherever it was changed', () => {
  const envelope = sealSecret(key, 'A', 'the value');
  for (let at = 0; at < envelope.length; at++) {
    const changed = Buffer.from(envelope);
    changed[at] = (changed[at] ?? 0) ^ 1;
    assert.equal(openSecret(key, 'A', changed), undefined, `byte ${at}`);
    assert.equal(openSecret(key, 'A', envelope.subarray(0, at)), undefined, `cut at ${at}`);
  }
  assert.equal(openSecret(key, 'A', Buffer.concat([envelope, Buffer.of(0)])), undefined);
});

test('the same value looks different each time, and is nowhere in its envelope', () => {
  const envelopes = Array.from({ length: 100 }, () => sealSecret(key, 'A', 'the value').toString('hex'));
  assert.equal(new Set(envelopes).size, 100);
  for (const envelope of envelopes) {
    assert.ok(envelope.startsWith('01') && !envelope.includes(Buffer.from('the value').toString('hex')));
  }
});

test('a key that is not one stops the start', () => {
  for (const text of ['', 'short', `${createSecretsKey()}AA`, createSecretsKey().slice(1), `${createSecretsKey()}=`]) {
    assert.throws(() => parseSecretsKey(text), ConfigError, text);
  }
});
