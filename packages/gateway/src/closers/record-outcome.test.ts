import assert from 'node:assert/strict';
import { randomBytes, randomUUIDv7 } from 'node:crypto';
import { test } from 'node:test';
import type { TestContext } from 'node:test';
import type { Json, JsonObject } from '@sallyport/contract';
import { requirement } from '../../../../test/requirement.ts';
import { ResultSeal } from '../secrets/result-seal.ts';
import { Redactor } from '../redaction/redact.ts';
import { CallNetworks } from '../execution/call-networks.ts';
import { Fault } from '../call/fault.ts';
import { refuse } from '../call/refusal.ts';
import { ToolFailure } from '../call/tool.ts';
import type { Limits } from '../call/verdict.ts';
import type { Ending } from '../call/stage.ts';
import { argumentsOf, callOf, judgedAs, limits, rulesOf, sessionOf, toolOf } from '../stages/facts.test-kit.ts';
import { authenticate } from '../sessions/authenticate.ts';
import { createTestSession, openSharedStore, openTestStore, readLog } from '../stages/store.test-kit.ts';
import type { TestRecord } from '../stages/store.test-kit.ts';
import type { NewSession } from '../storage/stores.ts';
import { AttemptCounter } from '../audit/attempt-counter.ts';
import { completed, factsOf, failed, faulted, refused } from './ending.test-kit.ts';
import type { CallFacts } from '../call/call.ts';
import { recordOutcome } from './record-outcome.ts';
import { ownText } from '../call/redacted.ts';

const secret = 'hunter2-secret';
const nowMs = 1_900_000_000_000;

const resultSeal = new ResultSeal(randomBytes(32));

interface Recorder extends Partial<NewSession> {
  readonly quarantine?: Limits['quarantine'];
  /** For tests that look at all of the log. */
  readonly isAlone?: boolean;
}

/** A store with one session, and the closer on it. `admit` writes an intent, as the stage before the effect does. */
async function openRecorder(
  t: TestContext,
  { quarantine = limits.quarantine, isAlone = false, ...about }: Recorder = {},
) {
  const store = await (isAlone ? openTestStore(t) : openSharedStore());
  const session = await createTestSession(store, about);
  const attempts = new AttemptCounter(store);
  const networks = new CallNetworks();
  const closer = recordOutcome({
    store,
    redactor: new Redactor([secret]),
    attempts,
    quarantine: () => quarantine,
    networks,
    resultSeal,
  });
  return {
    store,
    session,
    attempts,
    networks,
    admit: async (more: Partial<CallFacts> = {}): Promise<Partial<CallFacts>> => {
      const callId = randomUUIDv7();
      const intent = { kind: 'intent', result: 'none', timeMs: 1, callId, payload: ownText('{}') } as const;
      const key = more.dedupeKey;
      const claim = key ? { dedupe: { key, argumentsSha256: 'a', expiresAtMs: nowMs + 1000 } } : {};
      const { id: sessionId, lease } = session;
      const admitted = await store.admit({
        sessionId,
        basedOn: Number.MAX_SAFE_INTEGER,
        leaseId: lease.id,
        tool: 'files.read',
        intent,
        reservations: [],
        ...claim,
      });
      assert.ok(admitted.admitted);
      return { callId, session, lease, intentIndex: admitted.intentIndex, startedAtMs: nowMs - 12, ...more };
    },
    record: (ending: Ending<CallFacts>, atMs = nowMs) => closer.run(ending, { nowMs: () => atMs }),
    last: async (): Promise<TestRecord> => (await readLog(store)).at(-1) ?? assert.fail('the log is empty'),
  };
}

test('a success is on record with its summary, what it used and what it replaced, never with its content', async (t) => {
  requirement('AUD-1', 'AUD-4');
  const { admit, record, last, store } = await openRecorder(t);
  const facts = await admit({ outcome: { ok: true, outputJson: '"content"', summary: `read 3 lines of ${secret}` } });
  const execution = {
    result: { ok: true, output: 'content' },
    usage: { cpuMs: 1.5, bytesRead: 7 },
    changes: [
      {
        path: `/workspace/${secret}`,
        before: { kind: 'absent' },
        after: { kind: 'file', sha256: 'ff', sizeBytes: 7, mode: 0o644, mtimeUs: 1, atimeUs: 1 },
      },
    ],
    hasBegun: true,
  } as const;
  await record(completed({ ...facts, execution }));
  const { leaf, payload, text } = await last();
  assert.equal(leaf.kind, 'outcome');
  assert.equal(leaf.result, 'ok');
  assert.equal(leaf.callId, facts.callId);
  assert.equal(leaf.sessionId, facts.session?.id);
  assert.equal(leaf.rulesHash, 'ab'.repeat(32));
  assert.deepEqual(payload, {
    intent: facts.intentIndex,
    tool: 'notes.read',
    agent: 'ada',
    summary: 'read 3 lines of [redacted]',
    started_at_ms: nowMs - 12,
    duration_ms: 12,
    usage: { cpuMs: 1.5, bytesRead: 7 },
    changes: [{ path: '/workspace/[redacted]', before: 'absent', after: 'file ff' }],
  });
  assert.ok(!text.includes('content'));
  assert.deepEqual(await store.listOpenIntents(), []);
});

test('a failure of the tool, a refusal after the intent and a fault each close their intent', async (t) => {
  requirement('AUD-1');
  const { admit, record, last, store } = await openRecorder(t);

  await record(failed(new ToolFailure('TIMEOUT', `Too slow for ${secret}.`), await admit()));
  assert.equal((await last()).leaf.result, 'error');
  assert.deepEqual((await last()).payload['error'], { code: 'TIMEOUT', message: 'Too slow for [redacted].' });

  const changed = refuse('STANDING_CHANGED', 'standing', 'The rules changed.');
  await record(refused(changed, 'confirm-standing', await admit()));
  assert.equal((await last()).leaf.kind, 'outcome');
  assert.equal((await last()).leaf.result, 'denied');
  assert.deepEqual((await last()).payload['refusal'], {
    stage: 'confirm-standing',
    code: 'STANDING_CHANGED',
    rule_id: 'standing',
    message: 'The rules changed.',
  });

  await record(faulted(new TypeError(`bug at ${secret}`), 'execute-tool', await admit()));
  assert.equal((await last()).leaf.result, 'fault');
  assert.deepEqual((await last()).payload['fault'], { stage: 'execute-tool', message: 'bug at [redacted]' });

  assert.deepEqual(await store.listOpenIntents(), []);
});

test('a refusal before the intent is a record of its own, with all that was known by then', async (t) => {
  requirement('AUD-1', 'DEF-5');
  const { record, last, session } = await openRecorder(t);
  const unknown = refuse('UNKNOWN_TOOL', 'registry', 'There is no tool named "notes.raed".');
  const known = { ...callOf({ toolName: 'notes.raed', taskId: 'task-9' }), traceId: 'ab', session };
  await record(refused(unknown, 'resolve-tool', { ...known, rawArguments: { path: 'a', api_key: 'k1' } }));
  const { leaf, payload } = await last();
  assert.equal(leaf.kind, 'refusal');
  assert.equal(leaf.result, 'denied');
  assert.equal(leaf.sessionId, session.id);
  assert.deepEqual(payload, {
    request_id: 'r-1',
    trace_id: 'ab',
    task_id: 'task-9',
    door: 'agent-socket',
    agent: 'ada',
    principal: 'agent',
    tool: 'notes.raed',
    arguments: { api_key: '[redacted]', path: '[redacted]' },
    refusal: {
      stage: 'resolve-tool',
      code: 'UNKNOWN_TOOL',
      rule_id: 'registry',
      message: 'There is no tool named "notes.raed".',
    },
  });
});

test('a fault before the intent is on record too', async (t) => {
  requirement('AUD-1');
  const { record, last, session } = await openRecorder(t);
  await record(faulted(new Error('inside'), 'check-mode', { ...callOf(), session }));
  assert.equal((await last()).leaf.kind, 'refusal');
  assert.equal((await last()).leaf.result, 'fault');
});

test('callers without a session leave one record a source and second, and one that counts the rest', async (t) => {
  requirement('AUD-1');
  const { record, attempts, store } = await openRecorder(t, { isAlone: true });
  const stranger = refuse('UNAUTHENTICATED', 'credential', 'No valid credential was presented.');
  const knock = (source: string, atMs: number) =>
    record(refused(stranger, 'open-session', callOf({ source, callId: randomUUIDv7(), credential: 'sp_guess' })), atMs);

  for (let times = 0; times < 50; times++) await knock('10.0.0.1', nowMs + times);
  await knock('10.0.0.2', nowMs);
  assert.deepEqual(
    (await readLog(store)).map(({ payload }) => payload['source']),
    ['10.0.0.1', '10.0.0.2'],
  );

  await knock('10.0.0.1', nowMs + 1000);
  attempts.flush(nowMs + 2000);
  await store.append({ kind: 'event', result: 'none', timeMs: 1, payload: ownText('{"event":"last"}') });
  const [counted, ...rest] = (await readLog(store)).filter(
    ({ payload }) => payload['event'] === 'attempts_without_session',
  );
  assert.deepEqual(counted?.payload, { event: 'attempts_without_session', source: '10.0.0.1', count: 49 });
  assert.equal(counted.leaf.result, 'denied');
  assert.deepEqual(rest, []);
  assert.ok((await readLog(store)).every(({ text }) => !text.includes('sp_guess')));
});

test('a stranger cannot choose what stands in the log beyond names', async (t) => {
  const { record, last } = await openRecorder(t);
  const stranger = refuse('UNAUTHENTICATED', 'credential', 'No valid credential was presented.');
  const call = { ...callOf({ requestId: 'x'.repeat(256) }), rawArguments: { text: 'y'.repeat(1000) } };
  await record(refused(stranger, 'open-session', call));
  assert.ok(!(await last()).text.includes('yyy'));
  assert.ok((await last()).text.length < 1000);
});

test('a success is kept for its dedupe key; a failure and a refusal free the key', async (t) => {
  requirement('PIPE-6');
  const { admit, record, store, session } = await openRecorder(t);
  const find = () => store.findDedupe(session.id, 'k', nowMs);
  const readKept = async () => {
    const { callId = '', sealedOutput = new Uint8Array() } = (await find()) ?? {};
    assert.ok(!Buffer.from(sealedOutput).includes('lines'), 'what a call returned is not kept in the clear');
    return resultSeal.open(callId, sealedOutput)?.output;
  };

  await record(failed(new ToolFailure('NOT_FOUND', 'Gone.'), await admit({ dedupeKey: 'k' })));
  assert.equal(await find(), undefined);
  await record(refused(refuse('UNSAFE_PATH', 'links', 'No.'), 'execute-tool', await admit({ dedupeKey: 'k' })));
  assert.equal(await find(), undefined);
  await record(faulted(new Error('bug'), 'store-content', await admit({ dedupeKey: 'k' })));
  assert.equal(await find(), undefined);
  await record(completed(await admit({ dedupeKey: 'k' }), { lines: 3 }));
  assert.deepEqual(await readKept(), { lines: 3 });

  // Handing the first success out again must not replace it.
  const again = await admit();
  await record(completed({ ...again, dedupeKey: 'k', reused: { output: null, callId: 'first' } }, { lines: 4 }));
  assert.deepEqual(await readKept(), { lines: 3 });
});

const hostile: Record<string, JsonObject> = {
  'many keys': Object.fromEntries(Array.from({ length: 20_000 }, (_, n) => [`key-${n}`, 'v'.repeat(100)])),
  'long keys': Object.fromEntries(Array.from({ length: 50 }, (_, n) => [`${n}${'k'.repeat(100_000)}`, 1])),
  'long texts of three bytes': Object.fromEntries(Array.from({ length: 40 }, (_, n) => [`t${n}`, '€'.repeat(5000)])),
  'deep nesting': nest(60),
  'wide nesting': { a: wide(2) },
  'more values than anyone reads': { a: Array.from({ length: 200_000 }, () => 'x') },
};

function nest(depth: number): JsonObject {
  return depth === 0
    ? { end: 'e'.repeat(999) }
    : { list: Array.from({ length: 3 }, () => 'x'.repeat(999)), in: nest(depth - 1) };
}

function wide(depth: number): Json {
  return Array.from({ length: 30 }, () => (depth === 0 ? 'w'.repeat(500) : wide(depth - 1)));
}

for (const [what, value] of Object.entries(hostile)) {
  test(`arguments with ${what} still fit into a record, and the record says what was left out`, async (t) => {
    requirement('AUD-1');
    const { record, last, session } = await openRecorder(t);
    const denied = refuse('RULE_DENIES', 'no', 'No.');
    const call = { ...callOf(), ...argumentsOf(value), session, tool: toolOf(), rules: rulesOf() };
    await record(refused(denied, 'judge-call', call));
    const { text, payload } = await last();
    assert.ok(Buffer.byteLength(text) < 64_000, `${text.length}`);
    assert.equal(payload['arguments_sha256'], call.arguments.sha256);
    assert.equal((payload['refusal'] as JsonObject)['code'], 'RULE_DENIES');
    assert.ok('omitted_bytes' in payload || 'arguments' in payload);
  });
}

test('names and messages of any length and shape are recorded, cut and well formed', async (t) => {
  requirement('AUD-1');
  const { admit, record, last, session } = await openRecorder(t);
  const shape = refuse('MALFORMED_CALL', 'call-shape', `${'m'.repeat(1999)}😀`);
  const call = callOf({ requestId: `\ud800${'r'.repeat(1e6)}`, toolName: `${'t'.repeat(255)}😀`, taskId: '\udc00' });
  await record(refused(shape, 'decode-call', call));
  assert.ok((await last()).text.length < 4000 && (await last()).text.isWellFormed());

  const failure = new ToolFailure('EXECUTION_ERROR', `${'e'.repeat(1999)}😀${'e'.repeat(1e6)}`);
  await record(failed(failure, await admit()));
  assert.ok((await last()).text.length < 4000 && (await last()).text.isWellFormed());

  await record(faulted(new Error('\ud800'.repeat(3000)), 'judge-call', { ...callOf(), session }));
  assert.ok((await last()).text.isWellFormed());
});

test('a tool that replaced thousands of files with long names still gets its outcome recorded', async (t) => {
  const { admit, record, last } = await openRecorder(t);
  const change = { before: { kind: 'absent' }, after: { kind: 'folder', mode: 0o755 } } as const;
  const changes = Array.from({ length: 5000 }, () => ({ ...change, path: `/workspace/${'d'.repeat(4000)}` }));
  const execution = { result: { ok: true, output: null }, usage: {}, changes, hasBegun: true } as const;
  await record(completed({ ...(await admit()), execution }));
  assert.equal((await last()).leaf.result, 'ok');
  assert.ok(((await last()).payload['omitted_bytes'] as JsonObject)['changes']);

  const few = {
    ...execution,
    changes: Array.from({ length: 102 }, () => ({ ...change, path: '/a' })),
    hasBegun: true,
  };
  await record(completed({ ...(await admit()), execution: few }));
  const recorded = (await last()).payload['changes'] as Json[];
  assert.equal(recorded.length, 101);
  assert.equal(recorded.at(-1), '[2 more]');
});

test('a secret that stands where a text is cut is not left behind in part', async (t) => {
  requirement('AUD-4');
  const { admit, record, last, session } = await openRecorder(t);
  const astride = (cut: number): string => `${'x'.repeat(cut - 7)}${secret}`;
  const endings = [
    refused(refuse('RULE_DENIES', 'no', astride(2000)), 'judge-call', { ...callOf(), session }),
    refused(refuse('UNKNOWN_TOOL', 'no', 'x'), 'resolve-tool', { ...callOf({ toolName: astride(256) }), session }),
    refused(refuse('RULE_DENIES', 'no', 'x'), 'judge-call', { ...callOf({ taskId: astride(256) }), session }),
    faulted(new Error(astride(2000)), 'judge-call', { ...callOf(), session }),
    failed(new ToolFailure('EXECUTION_ERROR', astride(2000)), await admit()),
    completed({ ...(await admit()), outcome: { ok: true, outputJson: '1', summary: astride(2000) } }),
  ];
  for (const ending of endings) {
    await record(ending);
    assert.ok(!(await last()).text.includes('hunter'), (await last()).text.slice(-200));
  }
});

test('credentials and confirmations do not reach the record', async (t) => {
  requirement('AUD-4');
  const { record, last, session } = await openRecorder(t);
  const call = callOf({ credential: 'sp_credential', confirmBinding: 'binding-of-someone', dedupeKey: 'key-of-mine' });
  await record(refused(refuse('RULE_DENIES', 'no', 'No.'), 'judge-call', { ...call, session }));
  for (const hidden of ['sp_credential', 'binding-of-someone'])
    assert.ok(!(await last()).text.includes(hidden), hidden);
});

test('a clock that was set back gives no negative duration', async (t) => {
  const { admit, record, last } = await openRecorder(t);
  await record(completed({ ...(await admit()), startedAtMs: nowMs + 5000 }));
  assert.equal((await last()).payload['duration_ms'], 0);
});

test('an outcome that cannot be recorded is a fault of its own: the effect may have happened', async () => {
  requirement('AUD-2');
  const sealed = new Fault('SEALED', 'the disk is full');
  const store = { append: () => Promise.reject(sealed), settle: () => Promise.reject(sealed) };
  const closer = recordOutcome({
    ...{
      store,
      redactor: new Redactor(),
      attempts: new AttemptCounter(store),
      networks: new CallNetworks(),
      resultSeal,
    },
    quarantine: () => limits.quarantine,
  });
  const clock = { nowMs: () => nowMs };
  await assert.rejects(async () => closer.run(completed(), clock), { code: 'OUTCOME_UNRECORDED', cause: sealed });
  const early = refused(refuse('RULE_DENIES', 'no', 'No.'), 'judge-call', { ...callOf(), session: sessionOf() });
  await assert.rejects(async () => closer.run(early, clock), { code: 'SEALED' });
  assert.equal(closer.required, true);
});

test('a verdict that asked for a person is on record with the refusal that followed', async (t) => {
  const { record, last, session } = await openRecorder(t);
  const verdict = { effect: 'require_approval', rule: { id: 'ask' }, reason: `Because of ${secret}.` } as const;
  const call = { ...factsOf(), ...judgedAs(verdict), session };
  const { intentIndex: _, ...before } = call;
  await record(refused(refuse('APPROVAL_REQUIRED', 'ask', 'Ask.'), 'seek-approval', before));
  assert.deepEqual((await last()).payload['decision'], {
    effect: 'require_approval',
    rule_id: 'ask',
    reason: 'Because of [redacted].',
  });
});

test('what ran is charged to its session and its lease, once it has ended', async (t) => {
  requirement('PERM-4');
  const { admit, record, store, session } = await openRecorder(t);
  const usage = { tokens: 40, costMicros: 900 };
  const ran = { result: { ok: true, output: null }, usage, changes: [], hasBegun: false } as const;
  await record(completed({ ...(await admit()), execution: ran, activeMs: 12 }));
  await record(failed(new ToolFailure('TIMEOUT', 'Too slow.'), { ...(await admit()), activeMs: 30 }));
  const spent = { calls: 2, activeMs: 42, tokens: 40, costMicros: 900 };
  assert.deepEqual((await store.readSession(session.id))?.spent, spent);
  assert.deepEqual((await store.readSession(session.id))?.lease.spent, spent);
});

test('what did not run costs a call and nothing else', async (t) => {
  const { admit, record, store, session } = await openRecorder(t);
  await record(completed({ ...(await admit()), reused: { output: null, callId: 'first' } }));
  await record(refused(refuse('STANDING_CHANGED', 'standing', 'No.'), 'confirm-standing', await admit()));
  assert.deepEqual((await store.readSession(session.id))?.spent, { calls: 2, activeMs: 0, tokens: 0, costMicros: 0 });
});

const strict: Limits['quarantine'] = { at: 5, windowMs: 600_000, weights: { denied: 1, error: 0, timeout: 2 } };
const denial = refuse('RULE_DENIES', 'no', 'No.');

test('a session that breaks the rules too often is in quarantine from its next call on, and the log says so', async (t) => {
  requirement('PERM-5');
  const { admit, record, store, session } = await openRecorder(t, { isAlone: true, quarantine: strict });
  const enter = () => authenticate(store, { credential: session.id, door: 'agent-socket' }, nowMs);
  const deny = async () => record(refused(denial, 'judge-call', { ...callOf({ callId: randomUUIDv7() }), session }));

  await deny();
  await deny();
  await record(failed(new ToolFailure('TIMEOUT', 'Too slow.'), await admit()));
  assert.deepEqual({ ...enter() }, { ...store.findSession(session.id) }, 'four of five');
  const running = await admit();
  await deny();

  const answer = enter();
  assert.ok('code' in answer && answer.code === 'SESSION_QUARANTINED');
  assert.equal(store.findSession(session.id)?.status, 'quarantined');
  const [because, event, ...rest] = (await readLog(store)).slice(-2);
  assert.deepEqual(rest, []);
  assert.equal(because?.leaf.kind, 'refusal');
  assert.equal(event?.leaf.kind, 'event');
  assert.equal(event.leaf.result, 'denied');
  assert.equal(event.leaf.sessionId, session.id);
  assert.deepEqual(event.payload, { event: 'session_quarantined', because_of: (await readLog(store)).length - 2 });

  // A call that is still on its way ends on record, and nothing quarantines twice.
  await record(refused(refuse('SESSION_QUARANTINED', 'session', 'No.'), 'confirm-standing', running));
  assert.deepEqual(await store.listOpenIntents(), []);
  assert.equal((await readLog(store)).filter(({ payload }) => payload['event'] === 'session_quarantined').length, 1);
});

test('an outcome after the intent can be the one too many', async (t) => {
  requirement('PERM-5');
  const { admit, record, store, session, last } = await openRecorder(t, { quarantine: { ...strict, at: 2 } });
  await record(failed(new ToolFailure('TIMEOUT', 'Too slow.'), await admit()));
  assert.equal(store.findSession(session.id)?.status, 'quarantined');
  assert.equal((await last()).payload['event'], 'session_quarantined');
});

test('an operator is never put into quarantine', async (t) => {
  requirement('PERM-5');
  const { record, store, session } = await openRecorder(t, {
    isAlone: true,
    quarantine: strict,
    principal: 'operator',
  });
  for (let times = 0; times < 10; times++) await record(refused(denial, 'judge-call', { ...callOf(), session }));
  assert.equal(store.findSession(session.id)?.status, 'active');
  assert.equal((await readLog(store)).length, 10);
});

test('denials further apart than the window are forgiven', async (t) => {
  requirement('PERM-5');
  const { record, store, session } = await openRecorder(t, { quarantine: strict });
  for (let times = 0; times < 12; times++) {
    await record(refused(denial, 'judge-call', { ...callOf(), session }), nowMs + times * (strict.windowMs / 3));
  }
  assert.equal(store.findSession(session.id)?.status, 'active');
});

test('a failure after the effect may have begun keeps its dedupe key, unless the tool may as well run twice', async (t) => {
  requirement('PIPE-6');
  const { admit, record, last, store, session } = await openRecorder(t);
  const failure = new ToolFailure('TIMEOUT', 'Too long.');
  const execution = { result: { ok: false, failure }, usage: {}, changes: [], hasBegun: true } as const;
  for (const [key, idempotent] of [
    ['once', false],
    ['repeatable', true],
  ] as const) {
    const facts = await admit({ dedupeKey: key });
    const tool = toolOf({ idempotent, mutates: true });
    await record(failed(failure, { ...facts, tool, execution }));
    assert.equal((await last()).leaf.result, 'error');
    assert.equal((await last()).payload['effect'], idempotent ? undefined : 'unknown');
    assert.equal((await store.findDedupe(session.id, key, nowMs))?.state, idempotent ? undefined : 'unknown');
  }
  // A fault of ours in the middle, and a tool that refused there.
  const tool = toolOf({ idempotent: false });
  const confirmed = { ...(await admit({ dedupeKey: 'faulted' })), tool, confirmedAtMs: 1 };
  await record(faulted(new Error('bug'), 'execute-tool', confirmed));
  assert.equal((await store.findDedupe(session.id, 'faulted', nowMs))?.state, 'unknown');
  const refusing = { ...(await admit({ dedupeKey: 'refused' })), tool };
  await record(refused({ ...denial, hasBegun: true }, 'execute-tool', refusing));
  assert.equal((await store.findDedupe(session.id, 'refused', nowMs))?.state, 'unknown');
  const early = { ...(await admit({ dedupeKey: 'early' })), tool };
  await record(refused(denial, 'execute-tool', early));
  assert.equal(await store.findDedupe(session.id, 'early', nowMs), undefined);
});

test('an effect that nobody knows is recorded as unknown, and its dedupe key is not free for another try', async (t) => {
  const { admit, record, last, store, session } = await openRecorder(t);
  const facts = await admit({ dedupeKey: 'once' });
  await record(failed(new ToolFailure('EFFECT_UNKNOWN', 'It was stopped.'), facts));
  assert.equal((await last()).leaf.result, 'unknown');
  assert.notEqual((await store.findDedupe(session.id, 'once', nowMs))?.state, 'succeeded');
  assert.notEqual(await store.findDedupe(session.id, 'once', nowMs), undefined);
  const other = await admit({ dedupeKey: 'again' });
  await record(failed(new ToolFailure('EXECUTION_ERROR', 'It failed.'), other));
  assert.equal((await last()).leaf.result, 'error');
  assert.equal(await store.findDedupe(session.id, 'again', nowMs), undefined);
});

test('what a call asked of the network is on record however it ended, redacted, and then forgotten', async (t) => {
  const { admit, record, last, networks } = await openRecorder(t);
  const events = [{ outcome: 'refused', target: `${secret}.evil.test:443`, times: 3 }] as const;
  const call = await admit();
  networks.open(call.callId ?? '').note(events);
  await record(refused(refuse('UNSAFE_PATH', 'no', 'No.'), 'execute-tool', call));
  const [entry] = (await last()).payload['network'] as [{ target: string; times: number }];
  assert.equal(entry.times, 3);
  assert.ok(!entry.target.includes(secret), entry.target);
  assert.equal(networks.take(call.callId ?? ''), undefined);
});
