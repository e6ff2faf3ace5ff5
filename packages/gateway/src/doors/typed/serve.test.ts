import assert from 'node:assert/strict';
import { test } from 'node:test';
import { create } from '@bufbuild/protobuf';
import type { MessageInitShape } from '@bufbuild/protobuf';
import { ToolRequestSchema } from '@sallyport/contract';
import type { Json, ToolResponse } from '@sallyport/contract';
import { requirement } from '../../../../../test/requirement.ts';
import { completed, failed, faulted, refused } from '../../closers/ending.test-kit.ts';
import { Transfers } from '../../content/transfers.ts';
import type { UploadStream } from '../../content/transfers.ts';
import type { CallEnding } from '../../call/stage.ts';
import { Fault } from '../../call/fault.ts';
import { refuse } from '../../call/refusal.ts';
import { ToolFailure } from '../../call/tool.ts';
import { sessionOf } from '../../stages/facts.test-kit.ts';
import type { Peer } from '../transport/peer.ts';
import type { UnaryHandler } from '../transport/service-binding.ts';
import { toolProtocolService } from './serve.ts';
import type { ToolProtocolParts } from './serve.ts';
import type { Received } from '../../call/call.ts';
import { ownText } from '../../call/redacted.ts';
import { answerOf } from '../../daemon/answer-call.test-kit.ts';

const { signal: still } = new AbortController();
const peer: Peer = {
  door: 'agent-socket',
  source: 'unix:agent',
  headers: (name) => (name === 'traceparent' ? '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01' : undefined),
  cancellation: still,
  signal: still,
  deadlineMs: undefined,
  readBody: () => assert.fail('the body has been read'),
  recognise: () => undefined,
  letGo: () => undefined,
  cancel: () => undefined,
};

interface Asked {
  readonly response: ToolResponse;
  readonly calls: readonly Received[];
  readonly faults: readonly unknown[];
}

/** Asks the door while the gateway ends every call like this. */
async function ask(
  request: MessageInitShape<typeof ToolRequestSchema>,
  end: (call: Received) => CallEnding | Promise<CallEnding>,
  more: Partial<ToolProtocolParts> = {},
): Promise<Asked> {
  const calls: Received[] = [];
  const faults: unknown[] = [];
  const { methods } = toolProtocolService({
    store: { findSessionByToken: () => undefined },
    uploads: new Transfers(),
    submit: async (submission) => {
      const call = submission as Received;
      calls.push(call);
      return answerOf(await end(call));
    },
    redact: ownText,
    onFault: (error) => faults.push(error),
    ...more,
  });
  const execute = methods['execute'] as UnaryHandler<object, ToolResponse>;
  const response = await execute(create(ToolRequestSchema, { requestId: 'r-1', sessionToken: 't', ...request }), peer);
  return { response, calls, faults };
}

const read = { case: 'fileRead', value: { path: 'a' } } as const;
const readOutput = (bytes: Uint8Array): Json => ({
  content: Buffer.from(bytes).toString('base64'),
  encoding: 'base64',
});

test('the token of the message is the credential of the call, and headers grant nothing', async () => {
  requirement('WIRE-4');
  const { calls } = await ask({ tool: read, dedupeKey: 'k' }, () => completed({}, readOutput(Buffer.of())));
  const [call] = calls;
  assert.equal(call?.credential, 't');
  assert.equal(call?.requestId, 'r-1');
  assert.equal(call?.dedupeKey, 'k');
  assert.equal(call?.toolName, 'files.read');
  assert.equal(call?.door, 'agent-socket');
  assert.match(call?.traceparent ?? '', /^00-4bf9/);
  assert.equal(call?.violations, undefined);
});

test('a read answers with the bytes of the file, and everything else with canonical JSON', async () => {
  requirement('WIRE-7');
  const bytes = Buffer.from([0, 1, 0xfe, 0xff, 10]);
  const { response } = await ask({ tool: read }, () => completed({}, readOutput(bytes)));
  assert.ok(response.result.case === 'success');
  assert.deepEqual(Buffer.from(response.result.value.inlineResult), bytes);
  assert.equal(response.result.value.budgetConsumed, 1n);
  assert.equal(response.result.value.resultHash.length, 0);

  const tool = { case: 'gitOp', value: { operation: 'LOG' } } as const;
  const { response: log } = await ask({ tool }, () => completed({}, { b: [1], a: 'é' }));
  assert.ok(log.result.case === 'success');
  assert.equal(Buffer.from(log.result.value.inlineResult).toString(), '{"a":"é","b":[1]}');
});

test('a result that has no canonical form is still JSON', async () => {
  const tool = { case: 'gitOp', value: { operation: 'LOG' } } as const;
  const { response } = await ask({ tool }, () => completed({}, { line: '\ud800' }));
  assert.ok(response.result.case === 'success');
  assert.equal(Buffer.from(response.result.value.inlineResult).toString(), String.raw`{"line":"\ud800"}`);
});

test('what is too large for an answer comes back as the hash under which it is kept', async () => {
  const hash = 'ab'.repeat(32);
  const readStored = await ask({ tool: read }, () => completed({}, { path: 'a', content_hash: hash, bytes: 2 ** 21 }));
  const kept = { hash, sizeBytes: 2 ** 21 };
  const outcome = { ok: true, outputJson: '', kept, summary: 'much' } as const;
  const other = await ask({ tool: { case: 'gitOp', value: { operation: 'LOG' } } }, () => completed({ outcome }));
  for (const { result } of [readStored.response, other.response]) {
    assert.ok(result.case === 'success');
    assert.equal(result.value.inlineResult.length, 0);
    assert.equal(result.value.resultHash.toHex(), hash);
  }
  const { store_above_bytes: storeAbove } = JSON.parse(readStored.calls[0]?.input ?? '') as {
    store_above_bytes: number;
  };
  assert.equal(storeAbove, 1024 * 1024);
});

test('a write that is too large for arguments is stored first, by a call that is judged like any other', async () => {
  const content = new Uint8Array(8 * 1024 * 1024 + 1).fill(7);
  const request = { dedupeKey: 'k', tool: { case: 'fileWrite', value: { path: 'a', content } } } as const;
  const store = { findSessionByToken: () => sessionOf() };
  const uploads = new Transfers<UploadStream>();
  const hash = 'cd'.repeat(32);
  const { response, calls } = await ask(
    request,
    ({ toolName, input }) => {
      if (toolName !== 'content.put') return completed({}, { bytes: content.length });
      const { upload_id: id, size } = JSON.parse(input) as { upload_id: string; size: number };
      assert.equal(size, content.length);
      assert.deepEqual(uploads.take(id, sessionOf().id)?.chunks, [content]);
      return completed({}, { hash, size });
    },
    { store, uploads },
  );
  assert.equal(response.result.case, 'success');
  assert.deepEqual(
    calls.map(({ toolName, dedupeKey }) => [toolName, dedupeKey]),
    [
      ['content.put', ''],
      ['files.write', 'k'],
    ],
  );
  assert.deepEqual(JSON.parse(calls[1]?.input ?? ''), {
    path: 'a',
    content_hash: hash,
    create_only: false,
    append: false,
  });

  const refusal = refuse('OUTSIDE_LEASE', 'lease', 'The lease does not include content.put.');
  const denied = await ask(request, (call) => refused(refusal, 'check-lease', call), { store });
  assert.ok(denied.response.result.case === 'denied');
  assert.equal(denied.response.result.value.rationaleCode, 'OUTSIDE_LEASE');
  assert.equal(denied.calls.length, 1);
});

test('a success that was reused costs nothing', async () => {
  const reused = { output: null, callId: 'earlier' };
  const { response } = await ask({ tool: read }, () => completed({ reused }, readOutput(Buffer.of())));
  assert.ok(response.result.case === 'success');
  assert.equal(response.result.value.budgetConsumed, 0n);
});

test('a request that is not valid is submitted without arguments, and answered with every violation', async () => {
  requirement('PIPE-5');
  const { response, calls } = await ask(
    { requestId: 'x'.repeat(300), tool: { case: 'fileRead', value: { path: '../a', limit: 2n ** 40n } } },
    (call) =>
      refused(refuse('MALFORMED_ARGUMENTS', 'canonical-json', 'no'), 'decode-call', { requestId: call.requestId }),
  );
  assert.equal(response.requestId, 'x'.repeat(300));
  assert.ok(response.result.case === 'denied');
  assert.equal(response.result.value.rationaleCode, 'MALFORMED_CALL');
  assert.deepEqual(
    response.result.value.violations.map(({ field, rule }) => `${field} ${rule}`),
    ['request_id max_length', 'file_read.path path_traversal', 'file_read.limit max'],
  );
  assert.match(response.result.value.message, /file_read\.path must not contain the component \.\./);
  assert.equal(calls.length, 1);
  assert.equal(calls[0]?.input, 'null');
  assert.equal(calls[0]?.credential, 't');
  assert.equal(calls[0]?.requestId, '[300 characters]');
  assert.equal(calls[0]?.violations?.length, 3);
});

test('another gate that spoke first is heard, and the violations are told all the same', async () => {
  const { response } = await ask({ sessionToken: '', tool: read }, (call) =>
    refused(refuse('UNAUTHENTICATED', 'credential', 'No valid credential was presented.'), 'open-session', call),
  );
  assert.ok(response.result.case === 'denied');
  assert.equal(response.result.value.rationaleCode, 'UNAUTHENTICATED');
  assert.deepEqual(
    response.result.value.violations.map(({ field, rule }) => `${field} ${rule}`),
    ['session_token required'],
  );
});

test('a gate that overlooked the violations could still not make a success of them', async () => {
  const { response } = await ask({ tool: { case: undefined } }, () => completed());
  assert.ok(response.result.case === 'denied');
});

test('a thousand violations are all told, and summed up in one sentence', async () => {
  const env = Array<string>(1000).fill('x');
  const { response } = await ask({ tool: { case: 'shellExec', value: { command: 'ls', env } } }, (call) =>
    refused(refuse('MALFORMED_CALL', 'call-shape', 'no'), 'decode-call', { requestId: call.requestId }),
  );
  assert.ok(response.result.case === 'denied');
  assert.equal(response.result.value.violations.length, 1000);
  assert.match(response.result.value.message, /; and 995 more\.$/);
});

test('what is missing is called a missing capability', async () => {
  const tool = { case: 'gitOp', value: { operation: 'PUSH' } } as const;
  const { response } = await ask({ tool }, (call) =>
    refused(
      refuse('UNKNOWN_TOOL', 'registry', 'There is no tool named "git.push".', { remedy: 'Did you mean files.read?' }),
      'resolve-tool',
      call,
    ),
  );
  assert.ok(response.result.case === 'denied');
  assert.equal(response.result.value.rationaleCode, 'UNKNOWN_TOOL');
  assert.match(response.result.value.message, /no git\.push: the capability is not installed/);
  assert.doesNotMatch(response.result.value.remedy, /Did you mean/);
});

test('who is not known is denied in the answer, and told where the token belongs', async () => {
  requirement('PIPE-5');
  const { response } = await ask({ tool: read }, (call) =>
    refused(refuse('UNAUTHENTICATED', 'credential', 'No valid credential was presented.'), 'open-session', call),
  );
  assert.ok(response.result.case === 'denied');
  assert.equal(response.result.value.ruleId, 'credential');
  assert.match(response.result.value.remedy, /session_token/);
});

test('who is not known does not make the gate write large arguments', async () => {
  requirement('NFR-4');
  const tool = { case: 'fileWrite', value: { path: 'a', content: new Uint8Array(65 * 1024) } } as const;
  const refusal = refuse('UNAUTHENTICATED', 'credential', 'No valid credential was presented.');
  const stranger = await ask({ tool }, (call) => refused(refusal, 'open-session', call));
  assert.equal(stranger.calls[0]?.input, 'null');
  assert.equal(stranger.calls[0]?.toolName, 'files.write');
  assert.equal(stranger.calls[0]?.violations, undefined);

  const store = { findSessionByToken: () => sessionOf() };
  const agent = await ask({ tool }, () => completed(), { store });
  assert.equal(agent.response.result.case, 'success');
  assert.ok((agent.calls[0]?.input.length ?? 0) > 65 * 1024);
});

test('errors carry their code, whether to try again, and when', async () => {
  const limited = await ask({ tool: read }, (call) =>
    refused(refuse('RATE_LIMITED', 'rates', 'Too many.', { retryAfterMs: 1500.2 }), 'check-limits', call),
  );
  assert.ok(limited.response.result.case === 'error');
  assert.equal(limited.response.result.value.errorCode, 'RATE_LIMITED');
  assert.equal(limited.response.result.value.retryable, true);
  assert.equal(limited.response.result.value.retryAfterMs, 1501n);

  const missing = await ask({ tool: read }, () => failed(new ToolFailure('NOT_FOUND', 'a does not exist.')));
  assert.ok(missing.response.result.case === 'error');
  assert.equal(missing.response.result.value.errorCode, 'NOT_FOUND');
  assert.equal(missing.response.result.value.retryable, false);
});

test('a fault of the gate is an answer with its code, also for a request that is not valid', async () => {
  requirement('PIPE-5');
  for (const tool of [read, { case: undefined }] as const) {
    const { response } = await ask({ tool }, (call) => faulted(new Fault('SEALED', 'disk'), 'record-outcome', call));
    assert.ok(response.result.case === 'denied');
    assert.equal(response.result.value.rationaleCode, 'SEALED');
  }
});

test('nothing is thrown at the caller: what goes wrong in the door itself is an answer, and reported', async () => {
  requirement('PIPE-5');
  const broken = await ask({ tool: read }, () => Promise.reject(new Error('secret detail')));
  assert.equal(broken.response.requestId, 'r-1');
  assert.ok(broken.response.result.case === 'error');
  assert.equal(broken.response.result.value.errorCode, 'INTERNAL');
  assert.doesNotMatch(JSON.stringify(broken.response.result.value.message), /secret/);
  assert.match(String(broken.faults[0]), /secret detail/);
});
