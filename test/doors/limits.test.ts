import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect as connectHttp2 } from 'node:http2';
import type { IncomingHttpHeaders } from 'node:http2';
import { describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import { requirement } from '../requirement.ts';
import { everyoneKnown, executeToolPath, openEchoDoors } from './echo-doors.ts';
import { askHttp, askJson, openSocket, readSocket, writeRequest } from './http-exchange.ts';

const noBehaviour = undefined;

/** Starts a gRPC call by hand and returns what ends it. */
function beginGrpc(test: TestContext, port: number, ...chunks: Buffer[]) {
  const session = connectHttp2(`http://127.0.0.1:${port}`);
  session.on('error', () => {});
  test.after(() => session.destroy());
  const stream = session.request({ ':method': 'POST', ':path': executeToolPath, 'content-type': 'application/grpc' });
  stream.on('error', () => {});
  for (const chunk of chunks) stream.write(chunk);
  const answer = new Promise<IncomingHttpHeaders>((resolve, reject) => {
    stream.once('response', resolve);
    stream.once('close', () => reject(new Error('closed without an answer')));
  });
  return { session, stream, answer };
}

describe('limits on the size of requests', () => {
  it('answers a claim of a gigabyte at once, without waiting for a byte of it', async (test) => {
    requirement('NFR-4');
    const { port } = await openEchoDoors(test);
    const socket = await openSocket(port);
    const text = readSocket(socket, (received) => received.endsWith('}'));
    socket.write(writeRequest(port, {}, { 'content-length': '1073741824' }));
    assert.match(await text, /^HTTP\/1\.1 429 .*"code":"resource_exhausted"/s);
    socket.destroy();
  });

  it('lets the sender of too large a body read the answer while it is still sending', async (test) => {
    const { port } = await openEchoDoors(test, noBehaviour, { limits: { maxMessageBytes: 1_000_000 } });
    const claimed = await askJson(port, 'x'.repeat(30_000_000));
    assert.deepEqual([claimed.status, claimed.json['code']], [429, 'resource_exhausted']);
    const chunked = await askJson(port, 'x'.repeat(30_000_000), { headers: { 'transfer-encoding': 'chunked' } });
    assert.deepEqual([chunked.status, chunked.json['code']], [429, 'resource_exhausted']);
  });

  it('takes a message of exactly the limit and refuses one byte more', async (test) => {
    const message = { inputJson: 'x'.repeat(1000) };
    const { length } = JSON.stringify(message);
    const exact = await openEchoDoors(test, () => '', { limits: { maxMessageBytes: length } });
    assert.equal((await askJson(exact.port, message)).status, 200);
    const short = await openEchoDoors(test, () => '', { limits: { maxMessageBytes: length - 1 } });
    assert.equal((await askJson(short.port, message)).status, 429);
  });

  it('refuses a gRPC message by the length it announces', async (test) => {
    requirement('NFR-4');
    const { port } = await openEchoDoors(test);
    const { answer } = beginGrpc(test, port, Buffer.from([0, 0x40, 0, 0, 0, 1, 2, 3]));
    assert.equal((await answer)['grpc-status'], '8');
  });

  it('refuses a compressed gRPC message', async (test) => {
    const { port } = await openEchoDoors(test);
    const { answer } = beginGrpc(test, port, Buffer.from([1, 0, 0, 0, 1, 0]));
    const { 'grpc-status': status, 'grpc-message': message } = await answer;
    assert.deepEqual([status, message], ['12', 'Compressed%20messages%20are%20not%20accepted.']);
  });

  it('bounds what all large requests hold together, and answers those that find no room in time', async (test) => {
    requirement('NFR-4');
    const limits = { maxBufferedBytes: 400_000, roomWaitMs: 50 };
    const { port } = await openEchoDoors(test, noBehaviour, { limits });
    const holder = await openSocket(port);
    holder.write(writeRequest(port, {}, { 'content-length': '300000' }));
    holder.write('x'.repeat(100_000));
    const message = { inputJson: 'y'.repeat(250_000) };
    let refused = await askJson(port, message);
    // The holder's bytes travel by themselves; ask until they have arrived.
    for (let attempt = 0; attempt < 200 && refused.status === 200; attempt++) refused = await askJson(port, message);
    assert.deepEqual([refused.status, refused.json['code']], [429, 'resource_exhausted']);
    assert.equal((await askJson(port, { inputJson: 'small' })).status, 200);
    holder.destroy();
    let accepted = await askJson(port, message);
    for (let attempt = 0; attempt < 200 && accepted.status !== 200; attempt++) accepted = await askJson(port, message);
    assert.equal(accepted.status, 200);
  });

  it('holds back large requests until those before them are answered, and answers all of them', async (test) => {
    requirement('NFR-4');
    let open = 0;
    let most = 0;
    const behaviour = async (): Promise<string> => {
      most = Math.max(most, ++open);
      await new Promise((resolve) => setTimeout(resolve, 20));
      open--;
      return '';
    };
    const { port } = await openEchoDoors(test, behaviour, { limits: { maxBufferedBytes: 4_000_000 } });
    const message = { inputJson: 'x'.repeat(400_000) };
    const headers = { 'transfer-encoding': 'chunked' };
    const answers = await Promise.all(Array.from({ length: 12 }, () => askJson(port, message)));
    assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([200]));
    assert.ok(most <= 2, `${most} at once`);
    // Without a length the room is taken step by step.
    assert.equal((await askJson(port, { inputJson: 'x'.repeat(1_500_000) }, { headers })).status, 200);
    assert.equal((await askJson(port, { inputJson: 'x'.repeat(5_000_000) }, { headers })).status, 200, 'it is alone');
  });

  it('reads no more than a little from callers who are not known, over every protocol', async (test) => {
    requirement('NFR-4');
    const callers = {
      ...everyoneKnown,
      identify: (_: unknown, given?: string) => (given === 'good' ? 'me' : undefined),
    };
    const { port } = await openEchoDoors(test, () => 'ok', { callers });
    const message = { inputJson: 'x'.repeat(100_000) };
    for (const headers of [{}, { authorization: 'Bearer bad' }, { 'transfer-encoding': 'chunked' }]) {
      const { status, json } = await askJson(port, message, { headers });
      assert.deepEqual([status, json['code']], [401, 'unauthenticated']);
    }
    const socket = await openSocket(port);
    const text = readSocket(socket, (received) => received.endsWith('}'));
    // Not a byte of what is claimed comes.
    socket.write(writeRequest(port, {}, { 'content-length': '100000000' }).replace(/\{\}$/, ''));
    assert.match(await text, /^HTTP\/1\.1 401 /);
    socket.destroy();
    const { answer } = beginGrpc(test, port, Buffer.from([0, 0x04, 0, 0, 0]), Buffer.alloc(2000));
    assert.equal((await answer)['grpc-status'], '16');
    assert.equal((await askJson(port, message, { headers: { authorization: 'Bearer good' } })).status, 200);
    assert.equal((await askJson(port, { inputJson: 'x'.repeat(60_000) })).status, 200);
  });

  it('bounds what many small unfinished requests hold together, on one connection or on many', async (test) => {
    requirement('NFR-4');
    const callers = { ...everyoneKnown, identify: (_: unknown, given?: string) => given };
    const { port } = await openEchoDoors(test, () => '', { callers, limits: { maxSmallBytes: 200_000 } });
    const session = connectHttp2(`http://127.0.0.1:${port}`);
    session.on('error', () => {});
    test.after(() => session.destroy());
    const statuses = Array.from({ length: 40 }, () => {
      const headers = { ':method': 'POST', ':path': executeToolPath, 'content-type': 'application/json' };
      const stream = session.request(headers);
      stream.on('error', () => {});
      stream.write('x'.repeat(10_000));
      return new Promise((resolve) => stream.once('response', (answer) => resolve(answer[':status'])));
    });
    // Twenty of them fit; the others are answered although none of them is whole.
    assert.equal(await Promise.race(statuses), 429);
    const known = { headers: { authorization: 'Bearer ada' } };
    assert.equal((await askJson(port, { inputJson: 'y'.repeat(50_000) }, known)).status, 200);
  });

  it('refuses headers that are too long', async (test) => {
    const { port } = await openEchoDoors(test);
    const answer = await askHttp(port, { headers: { 'x-long': 'x'.repeat(20_000) } });
    assert.equal(answer.status, 431);
  });
});

describe('limits on time', () => {
  it('hangs up on a connection that says nothing, or too little to tell its protocol', async (test) => {
    requirement('NFR-4');
    const { port } = await openEchoDoors(test, noBehaviour, { limits: { firstBytesTimeoutMs: 50 } });
    const silent = await openSocket(port);
    assert.equal(await readSocket(silent), '');
    const undecided = await openSocket(port);
    undecided.write('PR');
    assert.equal(await readSocket(undecided), '');
  });

  it('hangs up on headers and bodies that trickle', async (test) => {
    requirement('NFR-4');
    const limits = { headersTimeoutMs: 100, requestTimeoutMs: 150, timeoutCheckMs: 20 };
    const { port } = await openEchoDoors(test, noBehaviour, { limits });
    for (const text of ['POST / HTTP/1.1\r\nx-a: ', writeRequest(port, {}, { 'content-length': '1000' })]) {
      const socket = await openSocket(port);
      socket.write(text);
      const trickle = setInterval(() => socket.write('a'), 10);
      const answer = await readSocket(socket);
      clearInterval(trickle);
      assert.match(answer, /^HTTP\/1\.1 408 /);
    }
  });

  it('answers deadline_exceeded to a gRPC message that trickles', async (test) => {
    requirement('NFR-4');
    const limits = { headersTimeoutMs: 100, requestTimeoutMs: 100 };
    const { port } = await openEchoDoors(test, noBehaviour, { limits });
    const { answer, stream } = beginGrpc(test, port, Buffer.from([0, 0, 0, 1, 0]));
    const trickle = setInterval(() => stream.write('a'), 10);
    assert.equal((await answer)['grpc-status'], '4');
    clearInterval(trickle);
  });

  it('closes an HTTP/2 connection on which nothing is asked, whatever pings it sends', async (test) => {
    const { port } = await openEchoDoors(test, noBehaviour, { limits: { idleTimeoutMs: 100 } });
    const session = connectHttp2(`http://127.0.0.1:${port}`);
    session.on('error', () => {});
    const pings = setInterval(() => !session.destroyed && session.ping(() => {}), 10);
    await new Promise((resolve) => session.once('close', resolve));
    clearInterval(pings);
  });

  it('closes an HTTP/2 connection that does not take its answers', async (test) => {
    const { port } = await openEchoDoors(test, noBehaviour, { limits: { idleTimeoutMs: 100 } });
    const session = connectHttp2(`http://127.0.0.1:${port}`, { settings: { initialWindowSize: 0 } });
    session.on('error', () => {});
    const stream = session.request({ ':path': '/nothing' });
    stream.on('error', () => {});
    await once(stream, 'response');
    await new Promise((resolve) => session.once('close', resolve));
  });
});

describe('limits on number', () => {
  it('lets newcomers in when it is full, and closes those first that presented no credential', async (test) => {
    requirement('NFR-4');
    const callers = { ...everyoneKnown, identify: (_: unknown, given?: string) => given };
    // Half of them are for TCP.
    const { port } = await openEchoDoors(test, () => '', { callers, limits: { maxConnections: 16 } });
    const connect = async (token: string) => {
      const socket = await openSocket(port);
      const answered = readSocket(socket, (received) => received.includes('HTTP/1.1 200'));
      socket.write(writeRequest(port, {}, token === '' ? {} : { authorization: `Bearer ${token}` }));
      assert.match(await answered, /^HTTP\/1\.1 200/);
      return { socket, closed: new Promise((resolve) => socket.once('close', resolve)) };
    };
    const ada = await connect('ada');
    const idle = await Promise.all(
      Array.from({ length: 20 }, async () => {
        const socket = await openSocket(port);
        return { socket, closed: readSocket(socket) };
      }),
    );
    const asking = await connect('');
    const bob = await connect('bob');
    await Promise.all(idle.slice(0, 12).map(({ closed }) => closed));
    // A session that takes more and more places loses its own.
    const greedy = [];
    for (let count = 0; count < 8; count++) greedy.push(await connect('greedy'));
    await Promise.race(greedy.map(({ closed }) => closed));
    assert.ok(greedy.filter(({ socket }) => !socket.destroyed).length >= 4);
    for (const { socket } of [ada, bob]) {
      const again = readSocket(socket, (received) => received.includes('HTTP/1.1 200'));
      socket.write(writeRequest(port, {}));
      assert.match(await again, /^HTTP\/1\.1 200/);
    }
    for (const { socket } of [ada, bob, asking, ...greedy, ...idle]) socket.destroy();
  });

  it('refuses pipelined requests beyond the number that may be open on one connection', async (test) => {
    const release = Promise.withResolvers<string>();
    const { port } = await openEchoDoors(test, () => release.promise, { limits: { maxExchangesPerConnection: 2 } });
    const socket = await openSocket(port);
    const text = readSocket(socket, (received) => received.includes('resource_exhausted'));
    socket.write(writeRequest(port, {}).repeat(3));
    setImmediate(release.resolve, '');
    const answers = [...(await text).matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => status);
    assert.deepEqual(answers, ['200', '200', '429']);
    socket.destroy();
  });
});
