import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { LoginCodes } from './login-codes.ts';

describe('a login code', () => {
  it('names the person it was made for, once', () => {
    const codes = new LoginCodes();
    const { code } = codes.issue('person-1', 1000);
    codes.issue('person-2', 1000);
    assert.equal(codes.redeem(code, 2000), 'person-1');
    assert.equal(codes.redeem(code, 2000), undefined);
  });

  it('is worth nothing after a minute', () => {
    const codes = new LoginCodes();
    const { code, expiresAtMs } = codes.issue('person-1', 1000);
    assert.equal(expiresAtMs, 61_000);
    assert.equal(codes.redeem(code, 61_000), undefined);
  });

  it('still works when others were made after it', () => {
    const codes = new LoginCodes();
    const first = codes.issue('person-1', 1000);
    codes.issue('person-1', 30_000);
    assert.equal(codes.redeem(first.code, 60_999), 'person-1');
  });

  it('is not guessed from another one', () => {
    const codes = new LoginCodes();
    const { code } = codes.issue('person-1', 1000);
    for (const other of ['', `${code} `, code.slice(1), code.toUpperCase()]) {
      assert.equal(codes.redeem(other, 1000), undefined);
    }
  });
});
