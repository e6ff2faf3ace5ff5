import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { parseConnectTimeout, parseGrpcTimeout } from './parse-timeout.ts';

describe('timeouts of callers', () => {
  it('are read in every unit of gRPC, rounded up to a millisecond', () => {
    const cases = [
      ['2H', 7_200_000],
      ['3M', 180_000],
      ['4S', 4000],
      ['5m', 5],
      ['1500u', 2],
      ['1n', 1],
      ['0m', 0],
    ] as const;
    for (const [header, timeoutMs] of cases) assert.equal(parseGrpcTimeout(header), timeoutMs, header);
    assert.equal(parseGrpcTimeout(undefined), undefined);
  });

  it('are no longer than a timer can wait', () => {
    assert.equal(parseGrpcTimeout('99999999H'), 2 ** 31 - 1);
    assert.equal(parseConnectTimeout('9999999999'), 2 ** 31 - 1);
  });

  it('are refused when they are anything else', () => {
    for (const header of ['', '5', 'm', '-1m', '1.5S', '123456789m', '5 m', '5x', '5mm']) {
      assert.throws(() => parseGrpcTimeout(header), { code: 'invalid_argument' }, header);
    }
    for (const header of ['', '-1', '1.5', '1e3', '12345678901', ' 5', '0x10']) {
      assert.throws(() => parseConnectTimeout(header), { code: 'invalid_argument' }, header);
    }
  });

  it('are plain milliseconds in Connect', () => {
    assert.equal(parseConnectTimeout('250'), 250);
    assert.equal(parseConnectTimeout(undefined), undefined);
  });
});
