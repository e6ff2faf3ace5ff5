import assert from 'node:assert/strict';
import { Agent, request } from 'node:http';
import { connect as connectHttp2 } from 'node:http2';
import { buffer } from 'node:stream/consumers';
import { describe, it } from 'node:test';
import { create, fromBinary, toBinary } from '@bufbuild/protobuf';
import {
  ExecuteToolRequestSchema,
  ExecuteToolResponseSchema,
  ExecuteToolStreamRequestSchema,
} from '@sallyport/contract';
import { frameMessage } from '../../packages/gateway/src/doors/transport/wire/message-frame.ts';
import { RpcError } from '../../packages/gateway/src/doors/transport/rpc-error.ts';
import { requirement } from '../requirement.ts';
import { executeToolPath, openEchoDoors } from './echo-doors.ts';
import { askHttp, askJson, openSocket, readSocket, writeRequest } from './http-exchange.ts';

describe('Connect over HTTP/1.1', () => {
  it('answers JSON over TCP and over both unix sockets', async (test) => {
    requirement('WIRE-4');
    const { port, operatorSocket, agentSocket } = await openEchoDoors(test);
    for (const target of [port, operatorSocket, agentSocket]) {
      const { status, headers, json, body } = await askJson(target, { name: 'files.read', inputJson: '{"a":"ü"}' });
      assert.equal(status, 200);
      assert.equal(headers['content-type'], 'application/json');
      assert.equal(headers['content-length'], String(body.length));
      assert.deepEqual(json, { tool: 'files.read', success: { outputJson: '{"a":"ü"}' } });
    }
  });

  it('answers protobuf', async (test) => {
    requirement('WIRE-4');
    const { port } = await openEchoDoors(test);
    const message = create(ExecuteToolRequestSchema, { name: 'files.read', inputJson: '{}', requestId: 'r' });
    const { status, headers, body } = await askHttp(port, {
      headers: { 'content-type': 'application/proto' },
      body: toBinary(ExecuteToolRequestSchema, message),
    });
    assert.equal(status, 200);
    assert.equal(headers['content-type'], 'application/proto');
    const answer = fromBinary(ExecuteToolResponseSchema, body);
    assert.equal(answer.requestId, 'r');
    assert.deepEqual(answer.result.value?.$typeName, 'sallyport.v1.Success');
  });

  it('takes field names of the proto file too, ignores unknown ones, and allows a charset', async (test) => {
    const { port } = await openEchoDoors(test);
    const headers = { 'content-type': 'application/json; charset=utf-8' };
    const { json } = await askJson(port, { input_json: '{}', fromTheFuture: [1] }, { headers });
    assert.deepEqual(json, { success: { outputJson: '{}' } });
  });

  it('gives code, message and status of an RpcError, and nothing of any other error', async (test) => {
    requirement('NFR-4');
    const { port, logged } = await openEchoDoors(test, ({ name }) => {
      if (name === 'fault') throw new Error('password is swordfish');
      throw new RpcError('resource_exhausted', 'Too many calls are running.');
    });
    const refused = await askJson(port, {});
    assert.equal(refused.status, 429);
    assert.deepEqual(refused.json, { code: 'resource_exhausted', message: 'Too many calls are running.' });
    const failed = await askJson(port, { name: 'fault' });
    assert.equal(failed.status, 500);
    assert.equal(failed.json['code'], 'internal');
    assert.doesNotMatch(failed.body.toString(), /swordfish/);
    assert.match(String(logged[0]?.error), /swordfish/);
  });
});

describe('Connect over HTTP/2', () => {
  it('is served like over HTTP/1.1', async (test) => {
    const { port } = await openEchoDoors(test);
    const session = connectHttp2(`http://127.0.0.1:${port}`);
    test.after(() => session.destroy());
    const stream = session.request({ ':method': 'POST', ':path': executeToolPath, 'content-type': 'application/json' });
    stream.end('{"name":"x"}');
    assert.deepEqual(JSON.parse((await buffer(stream)).toString()), { tool: 'x', success: {} });
  });

  it('aborts the signal when the caller resets the stream and keeps the connection', async (test) => {
    requirement('PIPE-7');
    const started = Promise.withResolvers<void>();
    const aborted = Promise.withResolvers<void>();
    const { port } = await openEchoDoors(test, async (_request, { signal }) => {
      signal.addEventListener('abort', () => aborted.resolve());
      started.resolve();
      await aborted.promise;
      return '';
    });
    const session = connectHttp2(`http://127.0.0.1:${port}`);
    test.after(() => session.destroy());
    for (const type of ['application/json', 'application/grpc-web']) {
      const stream = session.request({ ':method': 'POST', ':path': executeToolPath, 'content-type': type });
      stream.on('error', () => {});
      stream.end(type === 'application/json' ? '{}' : Buffer.alloc(5));
      await started.promise;
      stream.destroy();
      await aborted.promise;
    }
    assert.equal(session.closed, false);
  });

  it('never runs the first part of a request whose caller broke off', async (test) => {
    requirement('NFR-4');
    const ran: string[] = [];
    const { port } = await openEchoDoors(test, ({ name }) => {
      ran.push(name);
      return '';
    });
    const session = connectHttp2(`http://127.0.0.1:${port}`);
    test.after(() => session.destroy());
    for (let attempt = 0; attempt < 20; attempt++) {
      const headers = { ':method': 'POST', ':path': executeToolPath, 'content-type': 'application/proto' };
      const stream = session.request(headers);
      stream.on('error', () => {});
      // A whole field, after which more was to come.
      stream.write(Buffer.from([0x0a, 1, 0x78]));
      await new Promise((resolve) => setTimeout(resolve, attempt % 5));
      // Resets the stream; `close` would say politely first that this was all.
      stream.destroy();
      await new Promise((resolve) => stream.once('close', resolve));
    }
    assert.equal((await askJson(port, { name: 'whole' })).status, 200);
    assert.deepEqual(ran, ['whole']);
  });
});

describe('what Connect refuses', () => {
  const cases = [
    ['text that is no JSON', '{"name":', 400, 'invalid_argument', /not valid JSON/],
    ['JSON of another shape', '[]', 400, 'invalid_argument', /ExecuteToolRequest/],
    ['a field of the wrong type', '{"timeoutMs":"soon"}', 400, 'invalid_argument', /timeout_ms/],
    ['a number that does not fit', '{"timeoutMs":4294967296}', 400, 'invalid_argument', /timeout_ms/],
    ['an empty body', '', 400, 'invalid_argument', /not valid JSON/],
    ['deep nesting', '['.repeat(60_000), 400, 'invalid_argument', /JSON/],
    ['a text of brackets only', '['.repeat(300_000), 400, 'invalid_argument', /more than 100000 parts/],
    ['a text of commas only', `[${'0,'.repeat(300_000)}0]`, 400, 'invalid_argument', /more than 100000 parts/],
  ] as const;
  for (const [what, body, expectedStatus, code, message] of cases) {
    it(`answers ${what} with ${code}`, async (test) => {
      requirement('WIRE-3', 'NFR-4');
      const { port } = await openEchoDoors(test);
      const { status, json } = await askJson(port, body);
      assert.equal(status, expectedStatus);
      assert.equal(json['code'], code);
      assert.match(String(json['message']), message);
      assert.doesNotMatch(String(json['message']), /\n|\bat .*:\d+/);
    });
  }

  it('never quotes the text that could not be parsed', async (test) => {
    requirement('AUD-4');
    const { port } = await openEchoDoors(test);
    const { json } = await askJson(port, '{"name":"x", hunter2}');
    assert.doesNotMatch(String(json['message']), /hunter2/);
  });

  it('answers bytes that are not UTF-8, or not protobuf, with invalid_argument', async (test) => {
    requirement('WIRE-3');
    const { port } = await openEchoDoors(test);
    const bodies = [
      ['application/json', Buffer.from('{"name":"\xff"}', 'latin1')],
      ['application/proto', Buffer.from([0x0a, 0x01, 0xff])],
      ['application/proto', Buffer.from([0x0a, 0x7f, 0x41])],
      ['application/proto', Buffer.from([0xff, 0xff, 0xff])],
      ['application/proto', Buffer.from([0x0b])],
    ] as const;
    for (const [type, body] of bodies) {
      const answer = await askHttp(port, { headers: { 'content-type': type }, body });
      assert.equal(answer.status, 400);
      assert.equal((JSON.parse(answer.body.toString()) as { code: string }).code, 'invalid_argument');
    }
  });

  it('drops unknown protobuf fields instead of keeping them', async (test) => {
    const { port } = await openEchoDoors(test, (message) => String(message.$unknown?.length ?? 0));
    const body = Buffer.alloc(20_000, Buffer.from([0xf8, 0x07, 0x01]));
    const answer = await askHttp(port, {
      headers: { 'content-type': 'application/proto' },
      body: body.subarray(0, 19_998),
    });
    assert.equal(answer.status, 200);
    assert.deepEqual(fromBinary(ExecuteToolResponseSchema, answer.body).result.value, {
      $typeName: 'sallyport.v1.Success',
      outputJson: '0',
      resultHash: new Uint8Array(),
      resultSize: 0n,
    });
  });

  it('answers what HTTP itself forbids: path, method, content type, compression, protocol version', async (test) => {
    const { port } = await openEchoDoors(test);
    const json = { 'content-type': 'application/json' };
    const path = await askJson(port, {}, { path: '/sallyport.v1.ToolService/Nothing' });
    assert.deepEqual([path.status, path.json['code']], [404, 'unimplemented']);
    const elsewhere = await askJson(port, {}, { path: '/sallyport.v1.OperatorService/Stop' });
    assert.deepEqual([elsewhere.status, elsewhere.json['code']], [404, 'unimplemented']);
    const method = await askHttp(port, { method: 'GET' });
    assert.deepEqual([method.status, method.headers.allow], [405, 'POST']);
    const type = await askHttp(port, { headers: { 'content-type': 'text/plain' }, body: '{}' });
    assert.deepEqual([type.status, type.headers['accept-post']?.includes('application/json')], [415, true]);
    const charset = await askHttp(port, {
      headers: { 'content-type': 'application/json; charset=utf-16' },
      body: '{}',
    });
    assert.equal(charset.status, 415);
    const compressed = await askJson(port, {}, { headers: { ...json, 'content-encoding': 'gzip' } });
    assert.deepEqual([compressed.status, compressed.json['code']], [501, 'unimplemented']);
    const version = await askJson(port, {}, { headers: { ...json, 'connect-protocol-version': '2' } });
    assert.deepEqual([version.status, version.json['code']], [400, 'invalid_argument']);
    const stream = await askJson(port, {}, { path: '/grpc.health.v1.Health/Watch' });
    assert.deepEqual([stream.status, stream.json['code']], [501, 'unimplemented']);
  });
});

describe('the end of a Connect call', () => {
  it('aborts the signal when the connection breaks', async (test) => {
    requirement('PIPE-7');
    const started = Promise.withResolvers<void>();
    const aborted = Promise.withResolvers<unknown>();
    const { port } = await openEchoDoors(test, async (_request, { signal }) => {
      signal.addEventListener('abort', () => aborted.resolve(signal.reason));
      started.resolve();
      await aborted.promise;
      return '';
    });
    const socket = await openSocket(port);
    socket.write(writeRequest(port, {}));
    await started.promise;
    socket.destroy();
    const reason = await aborted.promise;
    assert.ok(reason instanceof RpcError);
    assert.equal(reason.code, 'canceled');
  });

  it('aborts the signal at the deadline and lets the handler give its own answer', async (test) => {
    const { port } = await openEchoDoors(test, async (_request, { signal }) => {
      await new Promise((resolve) => signal.addEventListener('abort', resolve));
      return 'recorded as timed out';
    });
    const { status, json } = await askJson(port, {}, { headers: { 'connect-timeout-ms': '50' } });
    assert.equal(status, 200);
    assert.deepEqual(json['success'], { outputJson: 'recorded as timed out' });
  });

  it('answers deadline_exceeded for a handler that does not heed its signal', async (test) => {
    const { port } = await openEchoDoors(test, () => new Promise(() => {}), { limits: { lateAnswerMs: 50 } });
    const { status, json } = await askJson(port, {}, { headers: { 'connect-timeout-ms': '50' } });
    assert.equal(status, 504);
    assert.equal(json['code'], 'deadline_exceeded');
  });

  it('refuses a deadline that is no number', async (test) => {
    const { port } = await openEchoDoors(test);
    const { status, json } = await askJson(port, {}, { headers: { 'connect-timeout-ms': '1e3' } });
    assert.deepEqual([status, json['code']], [400, 'invalid_argument']);
  });
});

describe('connections of HTTP/1.1', () => {
  it('answers pipelined requests in the order in which they came', async (test) => {
    const first = Promise.withResolvers<void>();
    const { port } = await openEchoDoors(test, async ({ inputJson }) => {
      if (inputJson === '1') await first.promise;
      if (inputJson === '3') first.resolve();
      return inputJson;
    });
    const socket = await openSocket(port);
    const text = readSocket(socket, (received) => received.split('HTTP/1.1 200').length === 4);
    socket.write(['1', '2', '3'].map((inputJson) => writeRequest(port, { inputJson })).join(''));
    const outputs = (await text).matchAll(/"outputJson":"(\d)"/g);
    assert.deepEqual(
      [...outputs].map(([, output]) => output),
      ['1', '2', '3'],
    );
    socket.destroy();
  });

  it('keeps a connection for the next request, after errors too', async (test) => {
    const { port } = await openEchoDoors(test);
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    test.after(() => agent.destroy());
    const localPorts = new Set<number | undefined>();
    const ask = (path: string, body: string) =>
      new Promise<number | undefined>((resolve, reject) => {
        const headers = { 'content-type': 'application/json' };
        const asked = request({ host: '127.0.0.1', port, path, method: 'POST', agent, headers }, (response) => {
          localPorts.add(asked.socket?.localPort);
          response.resume().on('end', () => resolve(response.statusCode));
        });
        asked.on('error', reject);
        asked.end(body);
      });
    const statuses = [
      await ask(executeToolPath, '{}'),
      await ask('/nowhere', '{}'),
      await ask(executeToolPath, 'nonsense'),
      await ask(executeToolPath, '{}'),
    ];
    assert.deepEqual(statuses, [200, 404, 400, 200]);
    assert.equal(localPorts.size, 1);
  });

  it('understands a request that arrives byte by byte', async (test) => {
    const { port } = await openEchoDoors(test);
    const socket = await openSocket(port);
    socket.setNoDelay(true);
    const text = readSocket(socket, (received) => received.includes('"outputJson"'));
    for (const byte of Buffer.from(writeRequest(port, { inputJson: '7' }))) {
      socket.write(Buffer.from([byte]));
      await new Promise((resolve) => setImmediate(resolve));
    }
    assert.match(await text, /^HTTP\/1\.1 200 OK/);
    socket.destroy();
  });
});

describe('Connect streams over HTTP/1.1', () => {
  const path = '/sallyport.v1.ToolService/ExecuteToolStream';

  /** The frames of an answer, as flag and text. */
  function readFrames(body: Buffer): [number, string][] {
    const frames: [number, string][] = [];
    for (let at = 0; at < body.length;) {
      const end = at + 5 + body.readUInt32BE(at + 1);
      frames.push([body[at] ?? 0, body.toString('utf8', at + 5, end)]);
      at = end;
    }
    return frames;
  }

  const frame = (message: string | Uint8Array, flag = 0) => frameMessage(Buffer.from(message), flag);

  it('sends each message in a frame of its own, and ends with an empty one', async (test) => {
    requirement('WIRE-4');
    const { port } = await openEchoDoors(test);
    const headers = { 'content-type': 'application/connect+json' };
    const answer = await askHttp(port, { path, headers, body: frame('{"call":{"name":"a","inputJson":"{}"}}') });
    assert.equal(answer.status, 200);
    assert.equal(answer.headers['content-type'], 'application/connect+json');
    assert.deepEqual(readFrames(answer.body), [
      [0, '{"response":{"success":{"outputJson":"{}"}}}'],
      [2, '{}'],
    ]);
    const binary = toBinary(
      ExecuteToolStreamRequestSchema,
      create(ExecuteToolStreamRequestSchema, { call: { name: 'a' } }),
    );
    const other = await askHttp(port, {
      path,
      headers: { 'content-type': 'application/connect+proto' },
      body: frame(binary),
    });
    assert.equal(other.headers['content-type'], 'application/connect+proto');
    assert.equal(other.body.at(0), 0);
  });

  it('tells what goes wrong in the last frame, and nothing of our own faults', async (test) => {
    const { port } = await openEchoDoors(test, ({ name }) => {
      if (name === 'fault') throw new Error('password is swordfish');
      throw new RpcError('resource_exhausted', 'Too many calls are running.');
    });
    const headers = { 'content-type': 'application/connect+json' };
    const end = async (body: Uint8Array, to = path) => {
      const { status, body: text } = await askHttp(port, { path: to, headers, body });
      const last = readFrames(text).at(-1);
      assert.deepEqual([status, last?.[0]], [200, 2]);
      return JSON.parse(last?.[1] ?? '') as { error: { code: string; message: string } };
    };
    assert.deepEqual((await end(frame('{"call":{}}'))).error, {
      code: 'resource_exhausted',
      message: 'Too many calls are running.',
    });
    const fault = await end(frame('{"call":{"name":"fault"}}'));
    assert.equal(fault.error.code, 'internal');
    assert.doesNotMatch(JSON.stringify(fault), /swordfish/);
    for (const body of [frame('{'), frame('{}', 1), Buffer.from('{}'), Buffer.concat([frame('{}'), frame('{}')])]) {
      assert.match((await end(body)).error.code, /^(?:invalid_argument|unimplemented)$/);
    }
    assert.equal((await end(frame('{}'), executeToolPath)).error.code, 'unimplemented');
  });
});
