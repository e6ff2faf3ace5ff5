import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { create, fromBinary, toBinary } from '@bufbuild/protobuf';
import { ExecuteToolRequestSchema, ExecuteToolResponseSchema } from '@sallyport/contract';
import { RpcError } from '../../packages/gateway/src/doors/transport/rpc-error.ts';
import { requirement } from '../requirement.ts';
import { executeToolPath, openEchoDoors } from './echo-doors.ts';
import { askHttp, openSocket } from './http-exchange.ts';
import type { Target } from './http-exchange.ts';

// The frames are written out by hand here, so that the transport's own framing does not judge itself.
function frame(flag: number, bytes: Uint8Array): Buffer {
  const prefix = Buffer.from([flag, 0, 0, 0, 0]);
  prefix.writeUInt32BE(bytes.length, 1);
  return Buffer.concat([prefix, bytes]);
}

function frameRequest(inputJson: string): Buffer {
  return frame(0, toBinary(ExecuteToolRequestSchema, create(ExecuteToolRequestSchema, { inputJson })));
}

function readFrames(body: Buffer): { readonly output: string | undefined; readonly trailers: string } {
  let output: string | undefined;
  let trailers = '';
  for (let at = 0; at < body.length;) {
    const end = at + 5 + body.readUInt32BE(at + 1);
    const content = body.subarray(at + 5, end);
    if (body[at] === 0x80) trailers = content.toString();
    else output = String(Reflect.get(fromBinary(ExecuteToolResponseSchema, content).result.value ?? {}, 'outputJson'));
    at = end;
  }
  return { output, trailers };
}

async function askGrpcWeb(target: Target, body: Buffer, headers: Readonly<Record<string, string>> = {}) {
  const answer = await askHttp(target, { headers: { 'content-type': 'application/grpc-web+proto', ...headers }, body });
  assert.equal(answer.status, 200);
  return readFrames(answer.body);
}

async function askGrpcWebText(target: Target, body: string) {
  const answer = await askHttp(target, { headers: { 'content-type': 'application/grpc-web-text' }, body });
  assert.equal(answer.status, 200);
  assert.equal(answer.headers['content-type'], 'application/grpc-web-text+proto');
  return readFrames(Buffer.from(answer.body.toString(), 'base64'));
}

describe('gRPC-Web over HTTP/1.1', () => {
  it('answers binary frames, and the status as the last one, over TCP and unix sockets', async (test) => {
    requirement('WIRE-4');
    const { port, agentSocket } = await openEchoDoors(test);
    for (const target of [port, agentSocket]) {
      assert.deepEqual(await askGrpcWeb(target, frameRequest('{}')), { output: '{}', trailers: 'grpc-status: 0\r\n' });
    }
  });

  it('answers base64 with base64', async (test) => {
    requirement('WIRE-4');
    const { port } = await openEchoDoors(test);
    const { output, trailers } = await askGrpcWebText(port, frameRequest('{"a":1}').toString('base64'));
    assert.deepEqual({ output, trailers }, { output: '{"a":1}', trailers: 'grpc-status: 0\r\n' });
  });

  it('puts errors into the trailers, of methods that do not exist as well', async (test) => {
    const { port } = await openEchoDoors(test, () => {
      throw new RpcError('not_found', 'no such tool: ü');
    });
    const { output, trailers } = await askGrpcWeb(port, frameRequest('{}'));
    assert.equal(output, undefined);
    assert.equal(trailers, 'grpc-status: 5\r\ngrpc-message: no%20such%20tool:%20%C3%BC\r\n');
    const elsewhere = await askHttp(port, {
      path: '/sallyport.v1.OperatorService/Stop',
      headers: { 'content-type': 'application/grpc-web' },
      body: frame(0, Buffer.alloc(0)),
    });
    assert.match(readFrames(elsewhere.body).trailers, /^grpc-status: 12\r\n/);
  });

  it('refuses what is not one whole uncompressed message', async (test) => {
    requirement('WIRE-3', 'NFR-4');
    const { port } = await openEchoDoors(test);
    const good = frameRequest('{}');
    const bodies = [
      [Buffer.alloc(0), 3],
      [Buffer.from([0, 0, 0]), 3],
      [good.subarray(0, -1), 3],
      [Buffer.concat([good, good]), 3],
      [frame(0, Buffer.from([0xff, 0xff])), 3],
      [frame(0x42, Buffer.alloc(1)), 3],
      [frame(1, good), 12],
    ] as const;
    for (const [body, status] of bodies) {
      assert.match((await askGrpcWeb(port, body)).trailers, new RegExp(`^grpc-status: ${status}\r\n`));
    }
    assert.match((await askGrpcWebText(port, '!!!!')).trailers, /^grpc-status: 3\r\n.*base64/);
  });

  it('reads grpc-timeout, and refuses one it cannot read', async (test) => {
    const { port } = await openEchoDoors(test, async (_request, { signal }) => {
      await new Promise((resolve) => signal.addEventListener('abort', resolve));
      throw signal.reason as Error;
    });
    assert.match(
      (await askGrpcWeb(port, frameRequest('{}'), { 'grpc-timeout': '50m' })).trailers,
      /^grpc-status: 4\r\n/,
    );
    assert.match(
      (await askGrpcWeb(port, frameRequest('{}'), { 'grpc-timeout': 'soon' })).trailers,
      /^grpc-status: 3\r\n/,
    );
  });

  it('aborts the signal when the connection breaks', async (test) => {
    requirement('PIPE-7');
    const started = Promise.withResolvers<void>();
    const aborted = Promise.withResolvers<void>();
    const { agentSocket } = await openEchoDoors(test, async (_request, { signal }) => {
      signal.addEventListener('abort', () => aborted.resolve());
      started.resolve();
      await aborted.promise;
      return '';
    });
    const socket = await openSocket(agentSocket);
    const body = frameRequest('{}');
    socket.write(
      `POST ${executeToolPath} HTTP/1.1\r\nhost: x\r\ncontent-type: application/grpc-web\r\ncontent-length: ${body.length}\r\n\r\n`,
    );
    socket.write(body);
    await started.promise;
    socket.destroy();
    await aborted.promise;
  });
});
