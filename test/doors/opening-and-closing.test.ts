import assert from 'node:assert/strict';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import { status } from '@grpc/grpc-js';
import { openDoors } from '../../packages/gateway/src/doors/transport/open-doors.ts';
import type { DoorOptions } from '../../packages/gateway/src/doors/transport/open-doors.ts';
import { RpcError } from '../../packages/gateway/src/doors/transport/rpc-error.ts';
import { ConfigError } from '../../packages/gateway/src/call/fault.ts';
import { everyoneKnown, executeToolPath, openEchoDoors } from './echo-doors.ts';
import { callUnary, openBidiStream, openGrpcClient, openServerStream } from './grpc-client.ts';
import { askHttp, askJson, openSocket, readSocket, writeRequest } from './http-exchange.ts';
import { greeting, writeFrame, writeHead } from './http2-frames.ts';
import { ownText } from '../../packages/gateway/src/call/redacted.ts';

function planDoors(test: TestContext, more: Partial<DoorOptions> = {}): DoorOptions {
  const folder = mkdtempSync(join(tmpdir(), 'doors-'));
  test.after(() => rmSync(folder, { recursive: true }));
  return {
    services: [],
    redact: ownText,
    operatorSocket: join(folder, 'operator.sock'),
    agentSocket: join(folder, 'agent.sock'),
    callers: everyoneKnown,
    health: () => ({ status: 'serving' }),
    log: () => {},
    ...more,
  };
}

async function listenAnywhere(test: TestContext): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  test.after(() => server.close());
  const address = server.address();
  assert.ok(typeof address === 'object' && address !== null);
  return address.port;
}

describe('opening the doors', () => {
  it('says which port is taken and how to choose another, and leaves no door open', async (test) => {
    const port = await listenAnywhere(test);
    const plan = planDoors(test, { tcp: { host: '127.0.0.1', port } });
    await assert.rejects(openDoors(plan), (error) => {
      assert.ok(error instanceof ConfigError);
      assert.match(error.message, new RegExp(`Port ${port} on 127\\.0\\.0\\.1 .*another program`));
      assert.match(error.remedy ?? '', /SALLYPORT_PORT/);
      return true;
    });
    assert.equal(existsSync(plan.operatorSocket), false);
    assert.equal(existsSync(plan.agentSocket), false);
  });

  it('makes sockets that only their owner may use, and serves without TCP when none is asked for', async (test) => {
    const plan = planDoors(test);
    const doors = await openDoors(plan);
    test.after(() => doors.close(0));
    assert.equal(doors.port, undefined);
    for (const path of [plan.operatorSocket, plan.agentSocket]) {
      assert.equal(statSync(path).mode & 0o777, 0o600);
      assert.equal((await askHttp(path, { method: 'GET', path: '/healthz' })).status, 200);
    }
  });

  it('replaces the socket of a daemon that died, and nothing else that lies there', async (test) => {
    const plan = planDoors(test);
    const dead = await openDoors({ ...plan, agentSocket: `${plan.agentSocket}.other` });
    // Closing removes the file; a copy of the name stands for what a killed daemon leaves.
    const left = createServer().listen(plan.agentSocket);
    await once(left, 'listening');
    const doors = await openDoors({ ...plan, operatorSocket: `${plan.operatorSocket}.other` });
    assert.equal((await askHttp(plan.agentSocket, { method: 'GET', path: '/healthz' })).status, 200);
    await Promise.all([dead.close(0), doors.close(0)]);
    left.close();

    writeFileSync(plan.operatorSocket, 'precious');
    await assert.rejects(openDoors(plan), /is in the way/);
    assert.equal(readFileSync(plan.operatorSocket, 'utf8'), 'precious');
  });

  it('explains a socket path that the system cannot take', async (test) => {
    const plan = planDoors(test);
    await assert.rejects(openDoors({ ...plan, agentSocket: `/tmp/${'x'.repeat(120)}` }), /longer than \d+ bytes/);
    await assert.rejects(openDoors({ ...plan, agentSocket: '/nonexistent/agent.sock' }), (error) => {
      assert.ok(error instanceof ConfigError);
      assert.match(error.remedy ?? '', /folder exists.*SALLYPORT_HOME/);
      return true;
    });
  });
});

describe('closing the doors', () => {
  it('answers what is in flight, then nothing more, and removes the socket files', async (test) => {
    const started = Promise.withResolvers<void>();
    const release = Promise.withResolvers<string>();
    let waiting = 0;
    const { doors, port, operatorSocket, agentSocket } = await openEchoDoors(test, () => {
      waiting++;
      if (waiting === 3) started.resolve();
      return release.promise;
    });
    const overGrpc = callUnary(openGrpcClient(test, 'sallyport.v1.ToolService', port), 'ExecuteTool', {});
    const overHttp = askJson(port, {});
    const overSocket = askJson(agentSocket, {});
    await started.promise;
    const closed = doors.close(10_000);
    await assert.rejects(openSocket(port));
    await assert.rejects(openSocket(operatorSocket));
    release.resolve('done');
    assert.partialDeepStrictEqual((await overGrpc)['success'], { output_json: 'done' });
    assert.deepEqual((await overHttp).json['success'], { outputJson: 'done' });
    assert.deepEqual((await overSocket).json['success'], { outputJson: 'done' });
    await closed;
    assert.equal(existsSync(operatorSocket), false);
    assert.equal(existsSync(agentSocket), false);
  });

  it('does not wait for idle connections, silent ones, or streams', async (test) => {
    const { doors, port } = await openEchoDoors(test);
    const silent = await openSocket(port);
    const idle = await openSocket(port);
    idle.write(writeRequest(port, {}));
    await readSocket(idle, (text) => text.includes('200 OK'));
    const watch = openServerStream(openGrpcClient(test, 'grpc.health.v1.Health', port), 'Watch', { service: '' });
    const watchEnded = new Promise((resolve) => watch.once('end', resolve));
    watch.on('error', () => {});
    await once(watch, 'data');
    const reflection = openBidiStream(
      openGrpcClient(test, 'grpc.reflection.v1.ServerReflection', port),
      'ServerReflectionInfo',
    );
    const reflectionEnded = new Promise((resolve) => reflection.once('status', resolve));
    reflection.on('data', () => {});
    reflection.write({ list_services: '' });
    await once(reflection, 'data');
    await doors.close(600_000);
    await watchEnded;
    assert.equal(((await reflectionEnded) as { code: number }).code, status.OK);
    silent.destroy();
    idle.destroy();
  });

  it('does not wait for a request that was broken off before anybody listened for its body', async (test) => {
    const { doors, port } = await openEchoDoors(test);
    const socket = await openSocket(port);
    const more = { 'content-type': 'application/json', 'content-length': '100000', authorization: 'Bearer known' };
    const head = writeFrame(1, 4, 1, writeHead(port, executeToolPath, more));
    // In one piece: it is over before who sends it has been found out.
    const [reset, ping] = [writeFrame(3, 0, 1, Buffer.alloc(4)), writeFrame(6, 0, 0, Buffer.alloc(8))];
    socket.write(Buffer.concat([greeting, head, reset, ping]));
    await readSocket(socket, (text) => text.includes('\0\0\x08\x06\x01'));
    await doors.close(600_000);
    socket.destroy();
  });

  it('says to a busy connection that it ends after this answer', async (test) => {
    const started = Promise.withResolvers<void>();
    const release = Promise.withResolvers<string>();
    const { doors, port } = await openEchoDoors(test, () => {
      started.resolve();
      return release.promise;
    });
    const socket = await openSocket(port);
    const text = readSocket(socket);
    socket.write(writeRequest(port, {}));
    await started.promise;
    const closed = doors.close(600_000);
    release.resolve('done');
    assert.match(await text, /^HTTP\/1\.1 200 OK.*connection: close.*"done"/s);
    await closed;
  });

  it('turns away a new call on an HTTP/2 connection that is still busy', async (test) => {
    const started = Promise.withResolvers<void>();
    const release = Promise.withResolvers<string>();
    const { doors, port } = await openEchoDoors(test, () => {
      started.resolve();
      return release.promise;
    });
    const client = openGrpcClient(test, 'sallyport.v1.ToolService', port);
    const first = callUnary(client, 'ExecuteTool', {});
    await started.promise;
    const closed = doors.close(600_000);
    await assert.rejects(callUnary(client, 'ExecuteTool', {}), { code: status.UNAVAILABLE });
    release.resolve('done');
    assert.partialDeepStrictEqual((await first)['success'], { output_json: 'done' });
    await closed;
  });

  it('cuts what is not finished when the grace is over, and tells the handler', async (test) => {
    const aborted = Promise.withResolvers<unknown>();
    const started = Promise.withResolvers<void>();
    const { doors, port } = await openEchoDoors(test, async (_request, { signal }) => {
      signal.addEventListener('abort', () => aborted.resolve(signal.reason));
      started.resolve();
      return new Promise(() => {});
    });
    const answer = assert.rejects(askJson(port, {}));
    await started.promise;
    await doors.close(20);
    await answer;
    const reason = await aborted.promise;
    assert.ok(reason instanceof RpcError);
    assert.equal(reason.code, 'unavailable');
  });
});
