import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { TestContext } from 'node:test';
import { create } from '@bufbuild/protobuf';
import { ExecuteToolResponseSchema, ExecuteToolStreamResponseSchema, ToolService } from '@sallyport/contract';
import type { ExecuteToolStreamRequest, ExecuteToolStreamResponse } from '@sallyport/contract';
import { createClient } from '@sallyport/sdk/client';
import type { CallProgress } from '@sallyport/sdk/client';
import type { Peer } from '../../packages/gateway/src/doors/transport/peer.ts';
import { RpcError } from '../../packages/gateway/src/doors/transport/rpc-error.ts';
import { bindService } from '../../packages/gateway/src/doors/transport/service-binding.ts';
import { doors } from '../../packages/gateway/src/call/call.ts';
import { openEchoDoors } from '../doors/echo-doors.ts';
import { requirement } from '../requirement.ts';

type Work = (request: ExecuteToolStreamRequest, peer: Peer) => AsyncGenerator<ExecuteToolStreamResponse>;

/** Real doors, behind which calls go on as the test wants, and a client of them. */
async function openGate(context: TestContext, work: Work, options: { readonly fetch?: typeof fetch } = {}) {
  const unused = (): never => {
    throw new RpcError('unimplemented', 'not here');
  };
  const service = bindService(ToolService, doors, {
    executeTool: unused,
    executeToolStream: work,
    executeTools: unused,
    listAvailableTools: unused,
    exportTools: unused,
    getToolSchema: unused,
  });
  const { port } = await openEchoDoors(context, undefined, { services: [service] });
  const client = createClient({ address: `http://127.0.0.1:${port}`, token: 'any', ...options });
  context.after(() => client.close());
  return client;
}

const stderr = (text: string) =>
  create(ExecuteToolStreamResponseSchema, { event: { case: 'progress', value: { stderr: text } } });
const step = (done: number, total: number) =>
  create(ExecuteToolStreamResponseSchema, {
    event: { case: 'progress', value: { done: BigInt(done), total: BigInt(total), message: 'copying' } },
  });
const answer = (output: unknown) =>
  create(ExecuteToolStreamResponseSchema, {
    event: {
      case: 'response',
      value: create(ExecuteToolResponseSchema, {
        result: { case: 'success', value: { outputJson: JSON.stringify(output) } },
      }),
    },
  });

test('progress is heard in order while the call runs, and the answer comes last', async (context) => {
  requirement('BIN-5');
  for (const options of [{}, { fetch }]) {
    const heard: CallProgress[] = [];
    let isHeard: () => void = () => undefined;
    const client = await openGate(
      context,
      async function* ({ call }) {
        assert.deepEqual([call?.name, call?.inputJson, call?.dedupeKey], ['slow.tool', '{"n":1}', 'k']);
        const first = new Promise<void>((resolve) => (isHeard = resolve));
        yield stderr('starting…\n');
        // The call goes on only when the caller has heard of it.
        await first;
        yield step(0, 0);
        yield step(3, 4);
        yield stderr('x'.repeat(200_000));
        yield answer({ done: true });
      },
      options,
    );
    const onProgress = (progress: CallProgress): void => {
      heard.push(progress);
      isHeard();
    };
    assert.deepEqual(await client.callTool('slow.tool', { n: 1 }, { dedupeKey: 'k', onProgress }), { done: true });
    assert.deepEqual(heard, [
      { kind: 'stderr', text: 'starting…\n' },
      { kind: 'step', done: 0, message: 'copying' },
      { kind: 'step', done: 3, total: 4, message: 'copying' },
      { kind: 'stderr', text: 'x'.repeat(200_000) },
    ]);
  }
});

test('cancelling a call that tells its progress reaches the gate', async (context) => {
  const cancel = new AbortController();
  let reachedGate: (aborted: boolean) => void = () => undefined;
  const isAborted = new Promise<boolean>((resolve) => (reachedGate = resolve));
  const client = await openGate(context, async function* (_, peer) {
    peer.signal.addEventListener('abort', () => reachedGate(true));
    yield stderr('started');
    await isAborted;
  });
  const onProgress = (): void => cancel.abort(new Error('enough'));
  await assert.rejects(client.callTool('slow.tool', {}, { signal: cancel.signal, onProgress }), /enough/);
  assert.equal(await isAborted, true);
});

test('an error of the listener is its own, and ends the call', async (context) => {
  let reachedGate: (aborted: boolean) => void = () => undefined;
  const isAborted = new Promise<boolean>((resolve) => (reachedGate = resolve));
  const client = await openGate(context, async function* (_, peer) {
    peer.signal.addEventListener('abort', () => reachedGate(true));
    yield stderr('started');
    await isAborted;
  });
  const onProgress = (): void => {
    throw new RangeError('my own');
  };
  await assert.rejects(client.callTool('slow.tool', {}, { onProgress }), RangeError);
  assert.equal(await isAborted, true);
});

test('a stream that ends with an error, or without its last frame, is no success', async (context) => {
  const onProgress = (): void => undefined;
  const failing = await openGate(context, async function* () {
    yield stderr('started');
    throw new RpcError('unavailable', 'Sallyport is stopping.');
  });
  await assert.rejects(failing.callTool('slow.tool', {}, { onProgress }), {
    name: 'GateError',
    code: 'unavailable',
    message: 'Sallyport is stopping.',
  });
  const cutOff = async (): Promise<Response> => new Response(Uint8Array.of(0, 0, 0, 0, 2, 0x7b, 0x7d, 0, 0));
  const client = createClient({ token: 'any', fetch: cutOff });
  await assert.rejects(client.callTool('slow.tool', {}, { onProgress }), { name: 'GateError', code: 'unreachable' });
  const garbled = createClient({ token: 'any', fetch: async () => new Response('<html>', { status: 502 }) });
  await assert.rejects(garbled.callTool('slow.tool', {}, { onProgress }), { code: 'bad_answer' });
  await assert.rejects(garbled.callTool('slow.tool'), { code: 'bad_answer', message: /HTTP 502/ });
});
