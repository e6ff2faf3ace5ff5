import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { ConfirmTokens, createConfirmKey } from './confirm-tokens.ts';

const claims = {
  sessionId: 's',
  traceId: 't',
  calls: ['a'.repeat(64)],
  tools: ['files.write'],
  issuedBy: 'olga',
  issuedAtMs: 1,
  expiresAtMs: 61_000,
  reusable: false,
};

test('a token says what was put into it, and each has an id of its own', () => {
  const tokens = new ConfirmTokens(createConfirmKey());
  const first = tokens.issue(claims);
  assert.deepEqual(tokens.read(first.token), { ...claims, id: first.claims.id });
  assert.notEqual(tokens.issue(claims).claims.id, first.claims.id);
});

test('a token that was changed anywhere, cut, or made by another key is none', () => {
  const tokens = new ConfirmTokens(createConfirmKey());
  const { token } = tokens.issue(claims);
  fc.assert(
    fc.property(fc.nat(token.length - 1), fc.constantFrom(...'aZ0_.-='), (at, character) => {
      fc.pre(token[at] !== character);
      assert.equal(tokens.read(token.slice(0, at) + character + token.slice(at + 1)), undefined);
      assert.equal(tokens.read(token.slice(0, at)), undefined);
    }),
  );
  for (const odd of ['', '.', `${token}.`, `${token}.x`, 'spct1...', 'x'.repeat(10 ** 6)]) {
    assert.equal(tokens.read(odd), undefined);
  }
  assert.equal(new ConfirmTokens(createConfirmKey()).read(token), undefined);
});

test('keys rotate: the newest signs, the older one is accepted until it is taken away', () => {
  const [old, fresh] = [createConfirmKey(), createConfirmKey()];
  const { token } = new ConfirmTokens(old).issue(claims);
  const both = new ConfirmTokens(`${fresh}\n${old}\n`);
  assert.ok(both.read(token));
  const next = both.issue(claims).token;
  assert.ok(new ConfirmTokens(fresh).read(next));
  assert.equal(new ConfirmTokens(fresh).read(token), undefined);
  assert.throws(() => new ConfirmTokens('nonsense'), TypeError);
});
