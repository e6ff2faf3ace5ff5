import assert from 'node:assert/strict';
import { connect as connectHttp2 } from 'node:http2';
import type { IncomingHttpHeaders } from 'node:http2';
import { describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import { requirement } from '../requirement.ts';
import { executeToolPath, openEchoDoors } from './echo-doors.ts';
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

  it('bounds what all unfinished requests hold together, and gives the room back', async (test) => {
    requirement('NFR-4');
    const { port } = await openEchoDoors(test, noBehaviour, { limits: { maxBufferedBytes: 400_000 } });
    const holder = await openSocket(port);
    holder.write(writeRequest(port, {}, { 'content-length': '1000000' }));
    holder.write('x'.repeat(300_000));
    const message = { inputJson: 'y'.repeat(300_000) };
    let refused = await askJson(port, message);
    // The holder's bytes travel by themselves; ask until they have arrived.
    for (let attempt = 0; attempt < 200 && refused.status === 200; attempt++) refused = await askJson(port, message);
    assert.deepEqual([refused.status, refused.json['code']], [429, 'resource_exhausted']);
    holder.destroy();
    let accepted = await askJson(port, message);
    for (let attempt = 0; attempt < 200 && accepted.status !== 200; attempt++) accepted = await askJson(port, message);
    assert.equal(accepted.status, 200);
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
});

describe('limits on number', () => {
  it('accepts no more connections than allowed, and accepts again when one ends', async (test) => {
    requirement('NFR-4');
    const { port } = await openEchoDoors(test, noBehaviour, { limits: { maxConnections: 2 } });
    const first = await openSocket(port);
    const second = await openSocket(port);
    const third = await openSocket(port);
    assert.equal(await readSocket(third), '');
    first.destroy();
    second.destroy();
    let status = 0;
    while (status !== 200)
      status = await askJson(port, {}).then(
        ({ status: seen }) => seen,
        () => 0,
      );
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
