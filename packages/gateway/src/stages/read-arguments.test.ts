import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { canonicalJson } from '@sallyport/contract';
import { requirement } from '../../../../test/requirement.ts';
import type { ArgumentsRead } from '../call/call.ts';
import { isRefusal } from '../call/refusal.ts';
import type { Refusal } from '../call/refusal.ts';
import { assertPassed, assertRefused, callOf, clock, sessionOf, runStage } from './facts.test-kit.ts';
import { readArguments } from './read-arguments.ts';

const limit = 64;
const stage = readArguments({ maxArgumentBytes: () => limit });
const read = (input: string) =>
  runStage(stage, { ...callOf({ input }), session: sessionOf() }, clock) as ArgumentsRead | Refusal;

test('arguments are read as they were sent, and none are an empty object', () => {
  assert.equal(canonicalJson(assertPassed(read('{"path":"notes.md"}')).rawArguments), '{"path":"notes.md"}');
  assert.equal(canonicalJson(assertPassed(read('')).rawArguments), '{}');
});

test('arguments that a door has parsed are taken as they are, and measured all the same', () => {
  const parsedInput = { path: 'notes.md' };
  const take = (input: string) =>
    runStage(stage, { ...callOf({ input, parsedInput }), session: sessionOf() }, clock) as ArgumentsRead | Refusal;
  assert.equal(assertPassed(take('{"path":"notes.md"}')).rawArguments, parsedInput);
  assert.ok(isRefusal(take(`"${'x'.repeat(limit)}"`)));
});

test('arguments are measured in bytes', () => {
  const tooLarge = {
    code: 'ARGUMENTS_TOO_LARGE',
    rule: 'argument-size',
    remedy: 'Send less at once, for example by writing in parts with append.',
  } as const;
  const padded = (character: string, count: number) => `{"a":"${character.repeat(count)}"}`;
  assertPassed(read(padded('x', limit - 8)));
  assertRefused(read(padded('x', limit - 7)), tooLarge);
  assertPassed(read(padded('é', 28)));
  assertRefused(read(padded('é', 29)), tooLarge);
  assertPassed(read(padded('€', 18)));
  assertRefused(read(padded('€', 19)), tooLarge);
});

test('arguments that are not an object are refused', () => {
  for (const input of ['[]', 'null', '"text"', '1', 'true']) {
    assertRefused(read(input), {
      code: 'MALFORMED_ARGUMENTS',
      rule: 'canonical-json',
      remedy: 'Send an object, such as {"path": "notes.md"}.',
    });
  }
});

test('arguments that two readers could understand differently are refused', () => {
  requirement('PIPE-3');
  for (const input of [
    '{"a":1,"a":2}',
    '{"a":1,"\\u0061":2}',
    '{"n":9007199254740993}',
    '{"n":1e999}',
    '{"s":"\\ud800"}',
    '{"a":1',
    '{"a":1} {}',
    '{a:1}',
    ' ',
  ]) {
    assertRefused(read(input), {
      code: 'MALFORMED_ARGUMENTS',
      rule: 'canonical-json',
      remedy: 'Send one JSON object without repeated keys, with numbers that a double can hold.',
    });
  }
});

test('keys that mean something to JavaScript or to the pipeline are ordinary keys', () => {
  const input = '{"__proto__":{"x":1},"kind":"refusal","value":2}';
  const { rawArguments } = assertPassed(read(input));
  assert.equal(canonicalJson(rawArguments), input);
  assert.equal((Object.prototype as { x?: number }).x, undefined);
});

test('whatever a caller sends, the stage answers and does not throw', () => {
  const text = fc.array(fc.integer({ min: 0, max: 0xffff })).map((units) => String.fromCharCode(...units));
  fc.assert(fc.property(fc.oneof(text, fc.json()), (input) => isRefusal(read(input)) || 'rawArguments' in read(input)));
});

test('nobody speaks for another agent', () => {
  const claim = (claimedAgent: string) =>
    runStage(stage, { ...callOf({ claimedAgent }), session: sessionOf({ agent: 'ada' }) }, clock) as
      | ArgumentsRead
      | Refusal;
  assertPassed(claim('ada'));
  assertRefused(claim('grace'), {
    code: 'MALFORMED_CALL',
    rule: 'agent-claim',
    remedy: 'Name the agent that the session was created for, or none.',
  });
});
