import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { connect } from 'node:http2';
import { text } from 'node:stream/consumers';
import { it } from 'node:test';
import type { TestContext } from 'node:test';
import { canonicalJson } from '../../packages/contract/src/canonical-json.ts';
import * as endings from '../../packages/gateway/src/closers/ending.test-kit.ts';
import type { CallFacts } from '../../packages/gateway/src/call/call.ts';
import { callRoutes } from '../../packages/gateway/src/doors/http/serve.ts';
import type { CallRouteParts } from '../../packages/gateway/src/doors/http/json-requests.ts';
import { assertDescribed, openApi } from '../../packages/gateway/src/doors/http/openapi.test-kit.ts';
import { Fault } from '../../packages/gateway/src/call/fault.ts';
import { refuse } from '../../packages/gateway/src/call/refusal.ts';
import type { Refusal } from '../../packages/gateway/src/call/refusal.ts';
import { sessionOf } from '../../packages/gateway/src/stages/facts.test-kit.ts';
import { openEchoDoors } from '../doors/echo-doors.ts';
import { askHttp, askJson } from '../doors/http-exchange.ts';
import { requirement } from '../requirement.ts';
import { answerOf } from '../../packages/gateway/src/daemon/answer-call.test-kit.ts';

type Submitted = Parameters<CallRouteParts['submit']>[0];

// As the gate hands them to a door.
const completed = (call: Submitted) => answerOf(endings.completed(call as Partial<CallFacts>));
const refused = (refusal: Refusal, stage: string, call: Submitted) =>
  answerOf(endings.refused(refusal, stage, call as Partial<CallFacts>));
const faulted = (fault: Fault, stage: string, call: Submitted) =>
  answerOf(endings.faulted(fault, stage, call as Partial<CallFacts>));

const credential = { authorization: 'Bearer token-of-ada' };
const path = '/v1/calls';
const mebibyte = 1024 * 1024;

const playGate: CallRouteParts['submit'] = async (call) => {
  if (call.credential !== 'token-of-ada') {
    return refused(refuse('UNAUTHENTICATED', 'credential', 'No valid credential was presented.'), 'open-session', call);
  }
  const { violations } = call;
  if (violations === undefined) return completed(call);
  return refused(refuse('MALFORMED_CALL', 'call-shape', 'no', { violations }), 'read-arguments', call);
};

/** What the gate heard of bodies that could not be read. */
const reasonsOf = (submitted: readonly Submitted[]): (string | undefined)[] =>
  submitted.map(({ violations }) => violations?.[0]?.message);

/** Real doors, and behind them a gate that writes down what it gets and answers as told. Ada is known, nobody else. */
async function openRoutes(
  test: TestContext,
  answer: CallRouteParts['submit'] = playGate,
  maxArgumentBytes = 16 * mebibyte,
) {
  const submitted: Submitted[] = [];
  const ada = hash('sha256', 'token-of-ada');
  let found = 0;
  const routes = callRoutes({
    store: {
      findSessionByToken: (sha256) => {
        found++;
        return sha256 === ada ? sessionOf({ agent: 'ada' }) : undefined;
      },
    },
    submit: (call) => {
      submitted.push(call);
      return answer(call);
    },
    maxArgumentBytes: () => maxArgumentBytes,
  });
  const opened = await openEchoDoors(test, undefined, { routes });
  const ask = (body: unknown, headers: Record<string, string> = credential) =>
    askJson(opened.port, body, { path, headers });
  return { ...opened, ask, submitted, lookups: () => found };
}

it('a call reaches the gate as every other door hands it in', async (test) => {
  const { ask, submitted } = await openRoutes(test);
  const traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';
  await ask({ tool_name: 'a', arguments: { z: 1, b: 'ü' }, request_id: 'mine' }, { ...credential, traceparent });
  const [{ signal, parsedInput, ...call } = assert.fail('nothing was submitted')] = submitted;
  assert.equal(signal.aborted, false);
  assert.deepEqual(call, {
    door: 'tcp',
    source: '127.0.0.1',
    credential: 'token-of-ada',
    requestId: 'mine',
    toolName: 'a',
    input: '{"b":"ü","z":1}',
    timeoutMs: 0,
    dedupeKey: '',
    taskId: '',
    correlationId: '',
    traceparent,
    tracestate: undefined,
    confirmBinding: '',
    approvalTaskId: undefined,
    confirmToken: undefined,
    waitMs: undefined,
  });
  // It was parsed already, and the gate need not do it again.
  assert.equal(canonicalJson(parsedInput), call.input);
});

it('who sends a body that anyone may send is asked by the gate alone', async (test) => {
  const { ask, submitted, lookups } = await openRoutes(test);
  await ask({ tool_name: 'a' });
  assert.deepEqual([submitted.length, lookups()], [1, 0]);
  await ask({ tool_name: 'a', arguments: { text: 'x'.repeat(64 * 1024) } });
  assert.deepEqual([submitted.length, lookups()], [2, 1]);
});

it('the trace of the body goes before that of the header', async (test) => {
  const { ask, submitted } = await openRoutes(test);
  const traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';
  const trace = { trace_id: '0af7651916cd43dd8448eb211c80319c', span_id: 'b7ad6b7169203331' };
  await ask({ tool_name: 'a', trace_ctx: trace }, { ...credential, traceparent });
  assert.equal(submitted[0]?.traceparent, '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01');
});

it('each form is answered in kind, at every door and over HTTP/2', async (test) => {
  const { port, agentSocket, operatorSocket } = await openRoutes(test);
  for (const target of [port, agentSocket, operatorSocket]) {
    const result = await askJson(target, { tool_name: 'a' }, { path, headers: credential });
    assert.equal(assertDescribed('ToolResult', result.json)['success'], true);
    const execution = await askJson(target, { toolName: 'a', agentId: 'ada' }, { path, headers: credential });
    assert.equal(assertDescribed('ToolExecutionResult', execution.json)['status'], 'success');
  }
  const session = connect(`http://127.0.0.1:${port}`);
  const stream = session.request({
    ':path': path,
    ':method': 'POST',
    'content-type': 'application/json',
    ...credential,
  });
  stream.end('{"tool_name":"a"}');
  assertDescribed('ToolResult', JSON.parse(await text(stream)));
  session.close();
});

it('whom a call claims to speak for reaches the gate, which knows who calls', async (test) => {
  const { ask, submitted } = await openRoutes(test);
  await ask({ id: 'mine', agentId: 'grace', toolName: 'a', arguments: {} });
  await ask({ id: 'mine', toolName: 'a', arguments: {} });
  assert.deepEqual(
    submitted.map(({ claimedAgent }) => claimedAgent),
    ['grace', undefined],
  );
});

it('a caller who is not known is the business of the gate, whatever it claims to be', async (test) => {
  const nobody = refuse('UNAUTHENTICATED', 'credential', 'No valid credential was presented.');
  const { ask, submitted } = await openRoutes(test, async (call) => refused(nobody, 'open-session', call));
  for (const headers of [{}, { authorization: 'Bearer wrong' }, { authorization: 'Basic YTpi' }]) {
    const { status, headers: answered, json } = await ask({ agentId: 'ada', toolName: 'a' }, headers);
    assert.deepEqual([status, answered['www-authenticate']], [401, 'Bearer']);
    assertDescribed('ToolExecutionResult', json);
  }
  assert.equal(submitted.length, 3);
});

it('a caller who is not known cannot make the daemon read much', async (test) => {
  requirement('NFR-4');
  const { ask, port, submitted } = await openRoutes(test);
  const large = { tool_name: 'a', arguments: { text: 'x'.repeat(70_000) } };
  const { status, json } = await ask(large, {});
  assert.equal(status, 401);
  assert.equal(assertDescribed('TransportError', json)['code'], 'unauthenticated');
  const chunked = { path, headers: { 'content-type': 'application/json', 'transfer-encoding': 'chunked' } };
  assert.equal((await askHttp(port, { ...chunked, body: JSON.stringify(large) })).status, 401);
  // The gate counts who tries.
  assert.deepEqual(
    submitted.map(({ input }) => input),
    ['', ''],
  );
  assert.equal((await ask(large)).status, 200);
});

it('a body above the limit is refused, also from a known caller', async (test) => {
  requirement('NFR-4');
  const { ask, submitted } = await openRoutes(test);
  const { status, json } = await ask(`{"tool_name":"${'x'.repeat(34 * mebibyte)}"}`);
  assert.equal(status, 429);
  assert.match(String(assertDescribed('TransportError', json)['message']), /exceeds the limit of 34 MiB/);
  assert.deepEqual(reasonsOf(submitted), ['The message exceeds the limit of 34 MiB.']);
});

it('the limit of a body follows that of arguments, up to what any door takes', async (test) => {
  requirement('NFR-4');
  const sized = (bytes: number): string => `{"tool_name":"${'x'.repeat(bytes)}"}`;
  const small = await openRoutes(test, playGate, 1024);
  assert.equal((await small.ask(sized(2 * mebibyte))).status, 200);
  assert.equal((await small.ask(sized(2 * mebibyte + 2048))).status, 429);
  const large = await openRoutes(test, playGate, 1024 * mebibyte);
  assert.equal((await large.ask(sized(35 * mebibyte))).status, 200);
  const { json } = await large.ask(sized(137 * mebibyte));
  assert.match(String(assertDescribed('TransportError', json)['message']), /exceeds the limit of 136 MiB/);
});

it('how long to wait is said in the header, too', async (test) => {
  const limited = refuse('RATE_LIMITED', 'rate', 'Too many.', { retryAfterMs: 1500 });
  const { ask } = await openRoutes(test, async (call) => refused(limited, 'admit-call', call));
  const { status, headers } = await ask({ tool_name: 'a' });
  assert.deepEqual([status, headers['retry-after']], [429, '2']);
});

it('what is no call is refused in the form of Connect, once the gate has it on record', async (test) => {
  requirement('NFR-4', 'PIPE-5');
  const { ask, submitted } = await openRoutes(test);
  const bad: readonly [body: string, headers: Record<string, string>, status: number][] = [
    ['{"tool_name":"a","toolName":"a"}', {}, 400],
    ['{}', {}, 400],
    ['[]', {}, 400],
    ['{"tool_name":"a","arguments":{"p":1,"p":2}}', {}, 400],
    ['{"tool_name":"a"}', { 'content-type': 'text/plain' }, 400],
    ['{"tool_name":"a"}', { 'content-type': 'application/json; charset=latin1' }, 400],
    ['{"tool_name":"a"}', { 'content-encoding': 'gzip' }, 501],
    ['{"tool_name":"a"}', { origin: 'https://evil.example' }, 403],
    ['{"tool_name":"a"}', { host: 'evil.example' }, 403],
  ];
  for (const [body, headers, status] of bad) {
    const answer = await ask(body, { ...credential, ...headers });
    assert.equal(answer.status, status, `${body} ${JSON.stringify(headers)}`);
    assertDescribed('TransportError', answer.json);
    assert.equal((await ask(body, headers)).status, status === 403 ? 403 : 401, 'an unknown caller is told that first');
  }
  // Requests that a web page may have sent are no calls of anyone's.
  const recorded = submitted.filter(({ credential: token }) => token !== undefined);
  assert.equal(recorded.length, bad.length - 2);
  assert.match(String(reasonsOf(recorded)[0]), /"tool_name" or as "toolName"; the body has both/);
  assert.match(String(reasonsOf(recorded)[3]), /the key "p" stands twice/);
  for (const call of recorded) assert.deepEqual([call.toolName, call.input], ['unreadable', '']);
});

it('what is no call is not answered before it is on record', async (test) => {
  requirement('PIPE-5', 'AUD-1');
  const { ask } = await openRoutes(test, async (call) => faulted(new Fault('SEALED', 'the log is closed'), 'x', call));
  const { status, json } = await ask('{}');
  assert.equal(status, 503);
  assert.equal(assertDescribed('TransportError', json)['code'], 'unavailable');
});

it('a failure of our own says nothing of its cause', async (test) => {
  const { ask, logged } = await openRoutes(test, () => Promise.reject(new Error('secret')));
  const { status, json } = await ask({ tool_name: 'a' });
  assert.equal(status, 500);
  assert.doesNotMatch(JSON.stringify(json), /secret/);
  assert.equal(logged.length, 1);
});

it('the document is served to everyone, but not to web pages of other origins', async (test) => {
  const { port, agentSocket } = await openRoutes(test);
  for (const target of [port, agentSocket]) {
    const { status, body } = await askHttp(target, { method: 'GET', path: '/openapi.json' });
    assert.equal(status, 200);
    assert.deepEqual(JSON.parse(body.toString()), JSON.parse(JSON.stringify(openApi)));
  }
  const foreign = { method: 'GET', path: '/openapi.json', headers: { origin: 'https://evil.example' } };
  assert.equal((await askHttp(port, foreign)).status, 403);
});
