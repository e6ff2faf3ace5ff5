import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { JSONRPCMessage, Progress, Transport } from '@modelcontextprotocol/client';
import { describeTrouble } from './describe-trouble.ts';
import type { UpstreamTransport } from './transport/open-transport.ts';
import { OddAnswer, PlainCalls } from './plain-calls.ts';
import { UpstreamConnection } from './upstream-connection.ts';
import { ownText } from '../call/redacted.ts';

type Sent = Readonly<Record<string, unknown>> & { readonly id: number; readonly method: string };

const never = new AbortController().signal;

function openCalls() {
  const sent: Sent[] = [];
  const calls = new PlainCalls((line) => void sent.push(JSON.parse(line) as Sent));
  const call = (
    name: string,
    more: { signal?: AbortSignal; timeoutMs?: number; onProgress?: (p: Progress) => void } = {},
  ) =>
    calls.call(
      name,
      { name },
      { signal: never, timeoutMs: 10_000, onProgress: () => undefined, isModern: false, ...more },
    );
  const idAt = (at: number): number => sent[at]?.id ?? NaN;
  const answer = (id: unknown, result: unknown): unknown => calls.take({ jsonrpc: '2.0', id, result });
  return { calls, sent, call, idAt, answer };
}

function saying(text: string): object {
  return { content: [{ type: 'text', text }] };
}

test('answers find their calls in any order, and news only theirs', async () => {
  const { calls, call, idAt, answer } = openCalls();
  const seen: unknown[] = [];
  const [first, second] = [call('one', { onProgress: (news) => seen.push(news) }), call('two')];
  const news = { progressToken: idAt(0), progress: 1, total: 2, message: 'half' };
  assert.equal(calls.take({ jsonrpc: '2.0', method: 'notifications/progress', params: news }), 'other');
  assert.equal(answer(idAt(1), saying('b')), 'answer');
  assert.equal(answer(idAt(0), saying('a')), 'answer');
  assert.deepEqual(await Promise.all([first, second]), [saying('a'), saying('b')]);
  assert.deepEqual(seen, [{ progress: 1, total: 2, message: 'half' }]);
});

test('a second answer, and one to a call that nobody made, are not taken', async () => {
  const { calls, call, idAt, answer } = openCalls();
  const called = call('one');
  assert.equal(answer(String(idAt(0)), saying('as text')), undefined);
  assert.equal(answer(idAt(0) + 1, saying('made up')), undefined);
  assert.equal(calls.take({ jsonrpc: '2.0', id: idAt(0), result: {}, error: { code: 1, message: '' } }), undefined);
  assert.equal(calls.take({ jsonrpc: '2.0', id: idAt(0), result: {}, extra: 1 }), undefined);
  assert.equal(calls.take([{ jsonrpc: '2.0', id: idAt(0), result: {} }]), undefined);
  assert.equal(answer(idAt(0), saying('first')), 'answer');
  assert.equal(answer(idAt(0), saying('second')), undefined);
  assert.deepEqual(await called, saying('first'));
});

test('a call that is late ends alone, and no timer is left when none is open', async (t) => {
  const begun = t.mock.method(globalThis, 'setInterval');
  const ended = t.mock.method(globalThis, 'clearInterval');
  const ours = (): { readonly begun: number; readonly ended: number } => {
    const timers = begun.mock.calls.map(({ result }) => result);
    return {
      begun: timers.length,
      ended: ended.mock.calls.filter((one) => timers.includes(one.arguments[0] as never)).length,
    };
  };
  const { sent, call, idAt, answer } = openCalls();
  const [late, patient] = [call('late', { timeoutMs: 1 }), call('patient')];
  await assert.rejects(late, { code: 'REQUEST_TIMEOUT' });
  assert.deepEqual(sent.at(-1)?.['params'], { requestId: idAt(0), reason: 'The server did not answer in time.' });
  assert.equal(answer(idAt(0), saying('too late')), undefined);
  assert.equal(answer(idAt(1), saying('in time')), 'answer');
  assert.deepEqual(await patient, saying('in time'));
  const again = call('again');
  assert.equal(answer(idAt(3), saying('again')), 'answer');
  await again;
  assert.deepEqual(ours(), { begun: 1, ended: 0 }, 'one timer for all of them');
  while (ours().ended === 0) await sleep(20);
  assert.deepEqual(ours(), { begun: 1, ended: 1 });
});

test('a cancelled call ends with the reason, the server is told, and a late answer is not taken', async () => {
  const { sent, call, idAt, answer } = openCalls();
  const leaving = new AbortController();
  const called = call('one', { signal: leaving.signal });
  leaving.abort(new Error('gone'));
  await assert.rejects(called, /gone/);
  assert.equal(sent[1]?.method, 'notifications/cancelled');
  assert.equal((sent[1]?.['params'] as { requestId: number } | undefined)?.requestId, idAt(0));
  assert.equal(answer(idAt(0), saying('late')), undefined);
  await assert.rejects(call('two', { signal: leaving.signal }), /gone/);
  assert.equal(sent.length, 2, 'what is cancelled before is not sent');
});

test('a call that is not answered in time ends, and so do all when the server closes', async () => {
  const { calls, sent, call } = openCalls();
  await assert.rejects(call('one', { timeoutMs: 1 }), { code: 'REQUEST_TIMEOUT' });
  assert.equal(sent[1]?.method, 'notifications/cancelled');
  const called = call('two');
  calls.close(new Error('it ended'));
  await assert.rejects(called, /it ended/);
});

test('an odd answer is kept for the SDK, once', async () => {
  const { calls, call, idAt, answer } = openCalls();
  const called = call('one');
  answer(idAt(0), { content: [{ type: 'image', data: 'aGk=', mimeType: 'image/png' }] });
  const odd = await called;
  assert.ok(odd instanceof OddAnswer);
  const question = { jsonrpc: '2.0', id: 7, method: 'tools/call', params: { name: 'one', _meta: odd.meta } } as const;
  const replayed = calls.watch(question) as unknown as { readonly id: number; readonly result: object };
  assert.equal(replayed.id, 7);
  assert.match(JSON.stringify(replayed.result), /image/);
  assert.equal('result' in (calls.watch(question) ?? {}), false);
  assert.equal(calls.watch({ ...question, params: { name: 'one' } }), undefined);
});

/** What servers may answer to a call, well or badly. */
const answers: Readonly<Record<string, object>> = {
  text: { result: saying('hello') },
  'several texts': { result: { content: [...contentOf('a'), ...contentOf('b')] } },
  'no content': { result: { content: [] } },
  'an error of the tool': { result: { ...saying('no'), isError: true } },
  'structured content': { result: { ...saying('7'), structuredContent: { n: 7 } } },
  'structured content that is a list': { result: { ...saying('7'), structuredContent: [7] } },
  'a picture': { result: { content: [{ type: 'image', data: 'aGk=', mimeType: 'image/png' }] } },
  'a picture whose data is a number': { result: { content: [{ type: 'image', data: 7 }] } },
  'a text that is a number': { result: { content: [{ type: 'text', text: 7 }] } },
  'a text with more': { result: { content: [{ type: 'text', text: 'x', annotations: { priority: 1 } }] } },
  'a text with too much': { result: { content: [{ type: 'text', text: 'x', surprise: true }] } },
  'content that is not a list': { result: { content: 'hello' } },
  nothing: { result: {} },
  'a flag that is no flag': { result: { ...saying('x'), isError: 'no' } },
  'more than results have': { result: { ...saying('x'), more: 1 } },
  'a kind of result': { result: { ...saying('x'), resultType: 'complete' } },
  'a question of the newer protocol': { result: { resultType: 'input_required', requestState: 'x' } },
  'a protocol error': { error: { code: -32602, message: 'bad arguments' } },
  'a protocol error with more': { error: { code: -32042, message: 'look', data: { elicitations: [] } } },
};

for (const [what, body] of Object.entries(answers)) {
  test(`a server that answers ${what} is understood as by the SDK`, async () => {
    assert.deepEqual(await callServer(body, { isPlain: true }), await callServer(body, { isPlain: false }));
  });
}

function contentOf(text: string): object[] {
  return [{ type: 'text', text }];
}

/** What becomes of a call to a server that answers like this. */
async function callServer(body: object, { isPlain }: { readonly isPlain: boolean }): Promise<unknown> {
  const transport = scriptServer(body, isPlain);
  const connection = await UpstreamConnection.open(transport, {
    ...{ era: 'legacy', version: '1', mayAsk: [], signal: never },
    ...{ onToolsChanged: () => undefined, onUnknownRequest: () => undefined, onClose: () => undefined },
    answer: () => Promise.reject(new Error('nobody answers')),
  });
  try {
    const options = { signal: never, timeoutMs: 5000, onProgress: () => undefined };
    const { content, structuredContent, isError } = await connection.callTool(
      'echo',
      {},
      { ...options, answer: never as never },
    );
    return { content, structuredContent, isError };
  } catch (error) {
    const { failure, isLost } = describeTrouble({ name: 'demo', redact: ownText }, error);
    return { failed: failure.message, isLost };
  } finally {
    await connection.close();
  }
}

function scriptServer(body: object, isPlain: boolean): UpstreamTransport {
  const reply = ({ id, method }: Sent): object | undefined => {
    if (id === undefined) return undefined;
    const serverInfo = { name: 'demo', version: '1' };
    const greeting = { result: { protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo } };
    return { jsonrpc: '2.0', id, ...(method === 'initialize' ? greeting : body) };
  };
  const receive = (line: string): void => {
    const answer = reply(JSON.parse(line) as Sent);
    if (answer === undefined) return;
    setImmediate(() => {
      if (isPlain && calls.take(answer) !== undefined) return;
      transport.onmessage?.(answer as JSONRPCMessage);
    });
  };
  const calls = new PlainCalls(receive);
  const transport: Transport = {
    start: () => Promise.resolve(),
    close: () => Promise.resolve(transport.onclose?.()),
    send: (message) => {
      const odd = calls.watch(message);
      if (odd === undefined) receive(JSON.stringify(message));
      else transport.onmessage?.(odd);
      return Promise.resolve();
    },
  };
  return {
    transport,
    ...(isPlain ? { calls } : {}),
    failure: () => undefined,
    sweep: () => Promise.resolve(),
    measure: () => Promise.resolve({}),
    close: () => Promise.resolve(),
  };
}
