import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { JsonObject } from '@sallyport/contract';
import { requirement } from '../../../../test/requirement.ts';
import { refuse } from '../call/refusal.ts';
import { argumentsOf, callOf, sessionOf, toolOf } from '../stages/facts.test-kit.ts';
import { describeCall, describeRefusal, encodePayload, keepText } from './describe-call.ts';
import type { KnownFacts } from './describe-call.ts';
import { Redactor } from '../redaction/redact.ts';
import { ownText } from '../call/redacted.ts';

const secret = 'hunter2-secret';
const redactor = new Redactor([secret]);

/** As it is written: what is undefined is not told. */
function describe(call: KnownFacts): JsonObject {
  return JSON.parse(encodePayload(describeCall(call, redactor))) as JsonObject;
}

function recordedArguments(call: KnownFacts): JsonObject {
  return { ...(describeCall(call, redactor)['arguments'] as JsonObject) };
}

test('a call is described as far as it came', () => {
  assert.deepEqual(describe({}), { request_id: '', tool: '' });
  assert.deepEqual(describe(callOf({ source: '10.0.0.1' })), {
    request_id: 'r-1',
    door: 'agent-socket',
    source: '10.0.0.1',
    tool: 'notes.read',
  });
});

test("what is a call's alone stands before what calls have in common, beginning with the agent", () => {
  const step = { id: 's', parent: { callId: 'p' } } as KnownFacts['step'];
  const own = { traceId: 't', callerTraceId: 'c', step, taskId: 'k', correlationId: 'x' } as Partial<KnownFacts>;
  const call = { ...callOf(), ...own, ...argumentsOf({ path: 'a' }), tool: toolOf(), session: sessionOf() };
  const names = Object.keys(describe({ ...call, mode: 'NORMAL' }));
  assert.equal(names[0], 'request_id');
  assert.deepEqual(names.slice(0, names.indexOf('agent')), [
    'request_id',
    'trace_id',
    'caller_trace_id',
    'parent_call_id',
    'step',
    'task_id',
    'correlation_id',
    'door',
  ]);
  const shared = ['principal', 'tool', 'version', 'arguments', 'mode'];
  assert.deepEqual(
    names.filter((name) => shared.includes(name)),
    shared,
  );
  assert.ok(names.indexOf('agent') < names.indexOf('principal'));
});

test('the record keeps the canonical name and the name as called', () => {
  requirement('CAT-11');
  const tool = toolOf({ name: 'files.read', aliases: ['read_file'] });
  const byAlias = describeCall({ ...callOf({ toolName: 'read_file' }), tool }, redactor);
  assert.equal(byAlias['tool'], 'files.read');
  assert.equal(byAlias['tool_as_named'], 'read_file');
  assert.ok(!('tool_as_named' in describe({ ...callOf({ toolName: 'files.read' }), tool })));
});

test('arguments stand in the record as they were judged, redacted; before that as they came', () => {
  requirement('AUD-4');
  const raw = { rawArguments: { token: 't1', text: secret, path: 'a' }, tool: toolOf() };
  const session = sessionOf();
  assert.deepEqual(recordedArguments({ ...raw, session }), { token: '[redacted]', text: '[redacted]', path: 'a' });
  const checked = { ...raw, ...argumentsOf({ path: 'a', limit: 100 }), session };
  assert.deepEqual(recordedArguments(checked), { path: 'a', limit: 100 });
});

test('arguments that a tool declares secret are in no record, nor is a hash of them', () => {
  requirement('AUD-4');
  const tool = toolOf({ name: 'secrets.set', secretArguments: ['value'] });
  const call = { ...argumentsOf({ name: 'A', value: 'plain words' }), tool, session: sessionOf() };
  assert.deepEqual(recordedArguments(call), { name: 'A', value: '[redacted]' });
  assert.ok(!('arguments_sha256' in describe(call)));
  assert.ok('arguments_sha256' in describeCall({ ...call, tool: toolOf() }, redactor));
});

test('of arguments that nobody can tell the secret ones of, only the names are recorded', () => {
  requirement('AUD-4');
  const rawArguments = { name: 'A', valeu: 'plain words' };
  const misspelt = { rawArguments, tool: toolOf({ secretArguments: ['value'] }), session: sessionOf() };
  const unknownTool = { rawArguments, session: sessionOf() };
  for (const call of [misspelt, unknownTool]) {
    assert.deepEqual(recordedArguments(call), { name: '[redacted]', valeu: '[redacted]' });
  }
});

test('arguments of callers without a session are not recorded', () => {
  assert.ok(!('arguments' in describe({ ...callOf(), rawArguments: { a: 1 } })));
});

test('arguments with more values than anyone reads are a note', () => {
  const session = sessionOf();
  const described = (length: number) =>
    describeCall({ rawArguments: { list: Array.from({ length }, () => 1) }, session, tool: toolOf() }, redactor)[
      'arguments'
    ];
  assert.equal(typeof described(9000), 'object');
  assert.equal(described(10_000), '[10000 values or more]');
});

test('secrets are taken out of every text that a caller or a rule chose', () => {
  requirement('AUD-4');
  const call = callOf({ requestId: secret, toolName: secret, taskId: secret, correlationId: secret, source: secret });
  const verdict = { effect: 'allow', rule: { id: 'r' }, reason: `for ${secret}` } as const;
  const text = JSON.stringify([
    describeCall({ ...call, verdict }, redactor),
    describeRefusal(
      refuse('RULE_DENIES', 'r', `no ${secret}`, { remedy: `not ${secret}` }),
      'judge-call',
      redactor,
      {},
    ),
  ]);
  assert.ok(!text.includes(secret), text);
});

test('a refusal is described by stage, code, rule, message and remedy, and counts its violations', () => {
  const violations = [{ field: 'a', rule: 'required', message: 'a is required' }];
  const refusal = refuse('INVALID_ARGUMENTS', 'input-schema', 'No.', { violations, remedy: 'See.', retryAfterMs: 5 });
  assert.deepEqual(describeRefusal(refusal, 'check-arguments', redactor, {}), {
    stage: 'check-arguments',
    code: 'INVALID_ARGUMENTS',
    rule_id: 'input-schema',
    message: 'No.',
    remedy: 'See.',
    violations: 1,
  });
});

test('what a caller with a secret in a path was advised is kept without the advice to allow that path', () => {
  requirement('AUD-4');
  const resources = { paths: [{ path: `/tmp/${secret}`, access: 'read' as const }] };
  const refusal = refuse('NO_RULE_ALLOWS', 'default-deny', 'No.', { remedy: `paths: [${secret.replace('-', '?')}]` });
  const { remedy } = describeRefusal(refusal, 'judge-call', redactor, { resources }) as unknown as { remedy: string };
  assert.match(remedy, /looks like a secret/);
});

test('a text is redacted before it is cut, and is well formed after it', () => {
  requirement('AUD-4');
  for (let cut = 1; cut < 40; cut++) {
    const kept = keepText(`before ${secret} after`, redactor, cut);
    assert.ok(kept.length <= cut && !kept.includes('hunter'), kept);
  }
  assert.equal(keepText('ab😀', redactor, 3), 'ab\ufffd');
});

test('a payload that fits is kept whole', () => {
  const payload = { b: 1, a: { d: ownText('half \ud800'), c: [3] } };
  const text = encodePayload(payload);
  assert.deepEqual(JSON.parse(text), payload);
  assert.ok(text.isWellFormed());
});

test('what does not fit gives way, the largest first, and the note says how large it was', () => {
  const small = { code: ownText('X') };
  const large = ownText('l'.repeat(60_000));
  assert.deepEqual(JSON.parse(encodePayload({ small, large })), { small, omitted_bytes: { large: 60_002 } });
  const both = { small, large, larger: ownText(`${large}${large}`) };
  assert.deepEqual(JSON.parse(encodePayload(both)), { small, omitted_bytes: { larger: 120_002, large: 60_002 } });
});

test('a payload is measured in bytes and always fits into a record', () => {
  requirement('AUD-1');
  const value = fc.oneof(
    fc.integer(),
    fc
      .tuple(fc.constantFrom('x', '€', '"', '\u0000', '😀'), fc.nat(70_000))
      .map(([unit, count]) => ownText(unit.repeat(count))),
  );
  fc.assert(
    fc.property(fc.dictionary(fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f'), value), (payload) => {
      const text = encodePayload(payload);
      assert.ok(Buffer.byteLength(text) < 64_000);
      assert.equal(typeof JSON.parse(text), 'object');
    }),
    { numRuns: 50 },
  );
});
