import assert from 'node:assert/strict';
import { test } from 'node:test';
import { executeTool } from './execute-tool.ts';
import { frameText } from './frames.ts';
import { GateClient } from './gate-client.ts';
import type { Question, Transport } from './transport.ts';

const asked: Question[] = [];

/** A client of a gate that answers everything with these pieces. */
function answering(status: number, ...pieces: readonly (string | Uint8Array)[]): GateClient {
  const transport: Transport = {
    post: (question) => {
      asked.push(question);
      const encoder = new TextEncoder();
      const body = async function* () {
        for (const piece of pieces) yield typeof piece === 'string' ? encoder.encode(piece) : piece;
      };
      return Promise.resolve({ status, body: body() });
    },
    close: () => undefined,
  };
  return new GateClient(transport, () => 'secret');
}

function lastFrame(text: string): Uint8Array {
  const frame = frameText(text);
  frame[0] = 0x02;
  return frame;
}

test('a call is one request with the credential, and its answer may come in pieces', async () => {
  const answer = await answering(200, '{"calls"', ':[]}').call('CallService/ListCalls', { sessionId: 's' });
  assert.deepEqual(answer, { calls: [] });
  const { path, headers, body } = asked.at(-1) ?? assert.fail();
  assert.deepEqual([path, headers['authorization']], ['/sallyport.v1.CallService/ListCalls', 'Bearer secret']);
  assert.deepEqual(JSON.parse(new TextDecoder().decode(body)), { sessionId: 's' });
});

test('the words of the daemon about an error are kept, and an unreadable answer is an error too', async () => {
  const list = (client: GateClient) => client.call('CallService/ListCalls', {});
  const said = { code: 'unauthenticated', message: 'Who?' };
  await assert.rejects(list(answering(401, JSON.stringify(said))), said);
  await assert.rejects(list(answering(502, 'null')), { code: 'bad_answer', message: /HTTP 502/ });
  await assert.rejects(list(answering(200, '<html>')), { code: 'bad_answer' });
});

test('a stream ends with its last frame, with the error in it, or as lost when there was none', async () => {
  const watch = (client: GateClient) => Array.fromAsync(client.watch('PlanService/WatchPlans', {}));
  const message = frameText('{"event":"pending"}');
  assert.deepEqual(await watch(answering(200, message, lastFrame('{}'))), [{ event: 'pending' }]);
  const failure = lastFrame('{"error":{"code":"permission_denied","message":"No."}}');
  await assert.rejects(watch(answering(200, message, failure)), { code: 'permission_denied', message: 'No.' });
  await assert.rejects(watch(answering(200, message)), { code: 'unreachable' });
  await assert.rejects(watch(answering(404, '{"code":"unimplemented"}')), { code: 'unimplemented' });
});

test('who gives up gets their own reason', async () => {
  const reason = new Error('enough');
  const signal = AbortSignal.abort(reason);
  const client = new GateClient({ post: () => Promise.reject(new Error('closed')), close: () => undefined }, () => '');
  await assert.rejects(client.call('CallService/ListCalls', {}, { signal }), reason);
  await assert.rejects(client.call('CallService/ListCalls', {}), { code: 'unreachable', message: /closed/ });
});

test('a call that is followed tells its progress, and one that ends without an outcome is no success', async () => {
  const heard: unknown[] = [];
  const onProgress = (progress: unknown): unknown => heard.push(progress);
  const steps = [frameText('{"progress":{"message":"half"}}'), frameText('{"response":{"tool":"a"}}'), lastFrame('{}')];
  assert.deepEqual(await executeTool(answering(200, ...steps), { name: 'a' }, { onProgress }), { tool: 'a' });
  assert.deepEqual(heard, [{ message: 'half' }]);
  await assert.rejects(executeTool(answering(200, lastFrame('{}')), {}, { onProgress }), { code: 'bad_answer' });
});
