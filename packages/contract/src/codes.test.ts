import assert from 'node:assert/strict';
import { test } from 'node:test';
import { codes, describeCode, exitCodes, grpcStatusOf, httpStatusOf } from './codes.ts';
import type { Code, ConnectCode } from './codes.ts';
import { requirement } from '../../../test/requirement.ts';

const allCodes = Object.keys(codes) as Code[];

// As published: the statuses of gRPC and the HTTP codes of the Connect protocol.
const published: Readonly<Record<ConnectCode, { readonly grpc: number; readonly http: number }>> = {
  canceled: { grpc: 1, http: 499 },
  unknown: { grpc: 2, http: 500 },
  invalid_argument: { grpc: 3, http: 400 },
  deadline_exceeded: { grpc: 4, http: 504 },
  not_found: { grpc: 5, http: 404 },
  already_exists: { grpc: 6, http: 409 },
  permission_denied: { grpc: 7, http: 403 },
  resource_exhausted: { grpc: 8, http: 429 },
  failed_precondition: { grpc: 9, http: 400 },
  aborted: { grpc: 10, http: 409 },
  out_of_range: { grpc: 11, http: 400 },
  unimplemented: { grpc: 12, http: 501 },
  internal: { grpc: 13, http: 500 },
  unavailable: { grpc: 14, http: 503 },
  data_loss: { grpc: 15, http: 500 },
  unauthenticated: { grpc: 16, http: 401 },
};

test('every failure is of one of five kinds, and says whether trying again may help', () => {
  requirement('EXEC-8');
  const kinds = new Set([
    'permission_denied',
    'validation_failed',
    'timeout',
    'execution_error',
    'resource_exhaustion',
  ]);
  for (const code of allCodes) {
    const { category, retryable } = describeCode(code);
    assert.ok(kinds.has(category), `${code} ${category}`);
    assert.equal(typeof retryable, 'boolean', code);
  }
  assert.deepEqual(new Set(allCodes.map((code) => describeCode(code).category)), kinds);
  const retryable = (code: Code): boolean => describeCode(code).retryable;
  assert.ok(retryable('RATE_LIMITED') && retryable('EXECUTOR_LOST'));
  assert.ok(!retryable('INVALID_ARGUMENTS') && !retryable('RULE_DENIES') && !retryable('NOT_FOUND'));
});

test('every Connect code has the numbers that gRPC and Connect publish', () => {
  for (const [connect, numbers] of Object.entries(published) as [ConnectCode, { grpc: number; http: number }][]) {
    assert.equal(grpcStatusOf(connect), numbers.grpc, connect);
    assert.equal(httpStatusOf(connect), numbers.http, connect);
  }
});

test('every code is a machine word with one sentence that no other code has', () => {
  const meanings = new Set<string>();
  for (const code of allCodes) {
    const { meaning } = describeCode(code);
    assert.match(code, /^[A-Z]+(?:_[A-Z]+)*$/);
    assert.match(meaning, /^[A-Z][^\n|]*\.$/, `${code}: ${meaning}`);
    assert.ok(!meanings.has(meaning), `${code} repeats the meaning of another code`);
    meanings.add(meaning);
  }
});

test('a code is described with all numbers a door needs', () => {
  for (const code of allCodes) {
    const info = describeCode(code);
    assert.equal(info.code, code);
    assert.equal(info.http, published[info.connect].http, code);
    assert.equal(info.grpc, published[info.connect].grpc, code);
    assert.equal(info.exit, info.presentedAs === 'denied' ? exitCodes.denied : exitCodes.toolError, code);
    assert.ok(info.jsonRpc >= -32768 && info.jsonRpc <= -32000, `${code}: ${info.jsonRpc} is not reserved by JSON-RPC`);
  }
});

test('JSON-RPC has its own numbers for bad parameters and for our faults', () => {
  assert.equal(describeCode('INVALID_ARGUMENTS').jsonRpc, -32602);
  assert.equal(describeCode('INTERNAL').jsonRpc, -32603);
  assert.equal(describeCode('RULE_DENIES').jsonRpc, -32000);
});

test('only what can go away by itself is retryable', () => {
  const retryable = allCodes.filter((code) => describeCode(code).retryable);
  assert.ok(retryable.includes('RATE_LIMITED'));
  for (const code of retryable) {
    const { connect } = describeCode(code);
    assert.ok(['resource_exhausted', 'unavailable', 'aborted'].includes(connect), `${code} answers ${connect}`);
  }
});

test('a call that was never judged as allowed does not look like a failure of the tool', () => {
  for (const code of ['UNAUTHENTICATED', 'UNKNOWN_TOOL', 'NO_RULE_ALLOWS', 'RULE_DENIES', 'MODE_FORBIDS'] as const) {
    assert.equal(describeCode(code).presentedAs, 'denied', code);
  }
});

test('the exit codes of the command line are all different', () => {
  const values = Object.values(exitCodes);
  assert.equal(new Set(values).size, values.length);
  assert.equal(exitCodes.success, 0);
});
