import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { ConfirmTokens, createConfirmKey } from './confirm-tokens.ts';

const claims = {
  sessionId: 's',
  traceId: 't',
  calls: ['a'.repeat(64)],
  tools: ['files.write'],
  rulesHash: 'ab'.repeat(32),
  mode: 'NORMAL' as const,
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

test('a token that was changed anywhere, cut, or made by another key is not valid', () => {
  const tokens = new ConfirmTokens(createConfirmKey());
  const { token } = tokens.issue(claims);
  fc.assert(
    fc.property(fc.nat(token.length - 1), fc.constantFrom('a', 'Z', '0', '_', '.', '-', '='), (at, character) => {
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
  assert.throws(() => new ConfirmTokens('nonsense'), { name: 'ConfigError' });
});

test('rotating keeps the key before, once it is saved, or forgets all of them', () => {
  const tokens = new ConfirmTokens(createConfirmKey());
  const [first] = [tokens.issue(claims).token];
  let saved = '';
  tokens.rotate((keyFile) => (saved = keyFile), { forget: false });
  const second = tokens.issue(claims).token;
  for (const each of [tokens, new ConfirmTokens(saved)]) assert.ok(each.read(first) && each.read(second));
  tokens.rotate((keyFile) => (saved = keyFile), { forget: false });
  assert.equal(tokens.read(first), undefined, 'only one key before is kept');
  assert.ok(tokens.read(second));
  const failing = (): never => {
    throw new Error('the disk is full');
  };
  const third = tokens.issue(claims).token;
  assert.throws(() => tokens.rotate(failing, { forget: true }), /the disk is full/);
  assert.ok(tokens.read(third), 'what could not be saved does not count');
  tokens.rotate((keyFile) => (saved = keyFile), { forget: true });
  assert.equal(tokens.read(third), undefined);
});
