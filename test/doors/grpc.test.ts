import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Metadata, status } from '@grpc/grpc-js';
import { RpcError } from '../../packages/gateway/src/doors/transport/rpc-error.ts';
import { requirement } from '../requirement.ts';
import { openEchoDoors } from './echo-doors.ts';
import { callUnary, openGrpcClient, openServerStream } from './grpc-client.ts';

const toolService = 'sallyport.v1.ToolService';

describe('gRPC at the doors, asked by grpc-js', () => {
  it('answers over TCP and over both unix sockets, and tells the handler where the call came in', async (test) => {
    requirement('WIRE-4');
    const { port, operatorSocket, agentSocket } = await openEchoDoors(
      test,
      (_request, { door, source }) => `${door} ${source}`,
    );
    const expected = [
      [port, 'tcp 127.0.0.1'],
      [operatorSocket, 'operator-socket unix:operator'],
      [agentSocket, 'agent-socket unix:agent'],
    ] as const;
    for (const [target, output] of expected) {
      const client = openGrpcClient(test, toolService, target);
      const answer = await callUnary(client, 'ExecuteTool', { name: 'files.read', request_id: 'r-1' });
      assert.equal(answer['request_id'], 'r-1');
      assert.equal(answer['tool'], 'files.read');
      assert.partialDeepStrictEqual(answer['success'], { output_json: output });
    }
  });

  it('serves a service only at its own doors; elsewhere it does not exist', async (test) => {
    const { port, operatorSocket, agentSocket } = await openEchoDoors(test);
    const operator = openGrpcClient(test, 'sallyport.v1.OperatorService', operatorSocket);
    assert.equal((await callUnary(operator, 'GetStatus', {}))['version'], 'test');
    for (const target of [port, agentSocket]) {
      const client = openGrpcClient(test, 'sallyport.v1.OperatorService', target);
      await assert.rejects(callUnary(client, 'GetStatus', {}), {
        code: status.UNIMPLEMENTED,
        details: 'There is no method /sallyport.v1.OperatorService/GetStatus.',
      });
    }
  });

  it('streams the progress and the answer of a call', async (test) => {
    requirement('WIRE-4');
    const { port, agentSocket } = await openEchoDoors(test, ({ name }) => `heard ${name}`);
    for (const target of [port, agentSocket]) {
      const client = openGrpcClient(test, toolService, target);
      const stream = openServerStream(client, 'ExecuteToolStream', { call: { name: 'files.read' } });
      const events = (await Array.fromAsync(stream)) as { response?: { success?: object } }[];
      assert.equal(events.length, 1);
      assert.partialDeepStrictEqual(events[0]?.response?.success, { output_json: 'heard files.read' });
    }
  });

  it('hands metadata to the handler', async (test) => {
    const { port } = await openEchoDoors(test, (_request, peer) => peer.headers('authorization') ?? 'none');
    const client = openGrpcClient(test, toolService, port);
    const metadata = new Metadata();
    metadata.set('authorization', 'Bearer abc');
    assert.partialDeepStrictEqual((await callUnary(client, 'ExecuteTool', {}, { metadata }))['success'], {
      output_json: 'Bearer abc',
    });
    assert.partialDeepStrictEqual((await callUnary(client, 'ExecuteTool', {}))['success'], { output_json: 'none' });
  });

  it('carries code and message of an RpcError, whatever characters it holds', async (test) => {
    const message = 'no: 100 % ünüsual\n/path?x=1#y';
    const { port } = await openEchoDoors(test, ({ name }) => {
      throw new RpcError('permission_denied', name === 'broken' ? 'half \ud800 pair' : message);
    });
    const client = openGrpcClient(test, toolService, port);
    await assert.rejects(callUnary(client, 'ExecuteTool', {}), { code: status.PERMISSION_DENIED, details: message });
    await assert.rejects(callUnary(client, 'ExecuteTool', { name: 'broken' }), { details: 'half \ufffd pair' });
  });

  it('shows nothing of any other error, and logs it', async (test) => {
    requirement('NFR-4');
    const secret = new Error('password is swordfish');
    const { port, logged } = await openEchoDoors(test, () => {
      throw secret;
    });
    const client = openGrpcClient(test, toolService, port);
    await assert.rejects(callUnary(client, 'ExecuteTool', {}), (error: Error & { code: number; details: string }) => {
      assert.equal(error.code, status.INTERNAL);
      assert.doesNotMatch(JSON.stringify(error), /swordfish|at /);
      return true;
    });
    assert.deepEqual(
      logged.map(({ path, error }) => ({ path, error })),
      [{ path: '/sallyport.v1.ToolService/ExecuteTool', error: secret }],
    );
  });

  it('serves 64 calls at once on one connection, each with its own answer', async (test) => {
    let together = 0;
    const all = Promise.withResolvers<void>();
    const { port } = await openEchoDoors(test, async ({ inputJson }) => {
      together++;
      if (together === 64) all.resolve();
      await all.promise;
      return inputJson;
    });
    const client = openGrpcClient(test, toolService, port);
    const answers = await Promise.all(
      Array.from({ length: 64 }, (_, index) => callUnary(client, 'ExecuteTool', { input_json: `${index}` })),
    );
    assert.deepEqual(
      answers.map((answer) => (answer['success'] as { output_json: string }).output_json),
      Array.from({ length: 64 }, (_, index) => `${index}`),
    );
  });

  it('carries messages of many frames, in both directions and side by side', async (test) => {
    const { port } = await openEchoDoors(test);
    const client = openGrpcClient(test, toolService, port, { 'grpc.max_receive_message_length': -1 });
    const inputs = Array.from({ length: 16 }, (_, index) => String(index % 10).repeat(1_000_000 + index));
    const answers = await Promise.all(inputs.map((input_json) => callUnary(client, 'ExecuteTool', { input_json })));
    answers.forEach((answer, index) => {
      assert.equal((answer['success'] as { output_json: string }).output_json === inputs[index], true);
    });
  });
});

describe('the end of a gRPC call', () => {
  it('aborts the signal when the caller cancels', async (test) => {
    requirement('PIPE-7');
    const aborted = Promise.withResolvers<unknown>();
    const started = Promise.withResolvers<void>();
    const { port } = await openEchoDoors(test, async (_request, { signal }) => {
      signal.addEventListener('abort', () => aborted.resolve(signal.reason));
      started.resolve();
      await aborted.promise;
      return '';
    });
    const client = openGrpcClient(test, toolService, port);
    const answer = callUnary(
      client,
      'ExecuteTool',
      {},
      { onCall: (call) => void started.promise.then(() => call.cancel()) },
    );
    await assert.rejects(answer, { code: status.CANCELLED });
    const reason = await aborted.promise;
    assert.ok(reason instanceof RpcError);
    assert.equal(reason.code, 'canceled');
  });

  it('tells the handler the deadline and aborts the signal when it passes', async (test) => {
    const aborted = Promise.withResolvers<unknown>();
    const { port } = await openEchoDoors(test, async (_request, { signal, deadlineMs }) => {
      assert.ok(deadlineMs !== undefined && deadlineMs > Date.now() - 1000 && deadlineMs < Date.now() + 1000);
      await new Promise((resolve) => signal.addEventListener('abort', resolve));
      aborted.resolve(signal.reason);
      throw signal.reason as Error;
    });
    const client = openGrpcClient(test, toolService, port);
    // Said by hand, so that the client keeps no clock of its own and the status can only be the server's.
    const metadata = new Metadata();
    metadata.set('grpc-timeout', '100m');
    await assert.rejects(callUnary(client, 'ExecuteTool', {}, { metadata }), {
      code: status.DEADLINE_EXCEEDED,
      details: 'The deadline of the caller has passed.',
    });
    const reason = await aborted.promise;
    assert.ok(reason instanceof RpcError);
    assert.equal(reason.code, 'deadline_exceeded');
  });

  it('leaves the signal alone when the call ended by itself', async (test) => {
    let kept: AbortSignal | undefined;
    const { port } = await openEchoDoors(test, (_request, { signal }) => {
      kept = signal;
      return '';
    });
    const client = openGrpcClient(test, toolService, port);
    await callUnary(client, 'ExecuteTool', {});
    await callUnary(client, 'ExecuteTool', {});
    client.close();
    assert.equal(kept?.aborted, false);
  });
});
