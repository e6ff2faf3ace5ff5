import assert from 'node:assert/strict';
import { Socket } from 'node:net';
import { test } from 'node:test';
import {
  answering,
  established,
  exchange,
  FakeHost,
  get,
  helloAnswer,
  openClient,
  openProxy,
  readToEnd,
  readUntil,
} from './proxy.test-kit.ts';

const url = 'http://api.example.com/';

test('connections beyond the limit are closed, and the others live on', async (t) => {
  const host = await FakeHost.open(t, (socket) => void socket.pipe(socket));
  const proxy = await openProxy(t, host, { limits: { connections: 2 } });
  const clients = [await openClient(t, proxy), await openClient(t, proxy)];
  for (const client of clients) {
    client.write('CONNECT api.example.com:443 HTTP/1.1\r\n\r\n');
    await readUntil(client, established);
  }
  const third = await openClient(t, proxy);
  assert.equal(await readToEnd(third), '');
  assert.deepEqual(proxy.proxy.log.targetsOf('limited'), ['more than 2 connections at once']);
  for (const client of clients) {
    client.write('ping');
    assert.equal(await readUntil(client, 'ping'), 'ping');
  }
});

test('requests that do not wait for the answer before them are not forwarded', async (t) => {
  const host = await FakeHost.open(t, answering(helloAnswer));
  const proxy = await openProxy(t, host);
  const request = `GET ${url} HTTP/1.1\r\nHost: api.example.com\r\n\r\n`;
  const answer = await exchange(t, proxy, request.repeat(50));
  assert.match(answer, /^HTTP\/1\.1 200 [^]*helloHTTP\/1\.1 400 [^]*Wait for the answer/);
  assert.equal(proxy.proxy.connections, 1);
});

test('headers beyond the limit are refused', async (t) => {
  const proxy = await openProxy(t, undefined, { limits: { headerBytes: 2000 } });
  assert.match(await exchange(t, proxy, get(url, `X: ${'x'.repeat(3000)}`)), /^HTTP\/1\.1 431 /);
  assert.match(await exchange(t, proxy, `CONNECT ${'a.'.repeat(2000)}com:443 HTTP/1.1\r\n\r\n`), /^HTTP\/1\.1 431 /);
});

test('a client that dawdles over its headers is cut off', async (t) => {
  const proxy = await openProxy(t, undefined, { limits: { headersMs: 200 } });
  const client = await openClient(t, proxy);
  client.write('CONNECT api.exam');
  const dawdling = setInterval(() => client.write('x'), 20);
  t.after(() => clearInterval(dawdling));
  assert.match(await readToEnd(client), /^HTTP\/1\.1 408 /);
});

test('a tunnel and an answer in which nothing moves are closed', async (t) => {
  const host = await FakeHost.open(t, () => undefined);
  const proxy = await openProxy(t, host, { limits: { idleMs: 100 } });
  assert.equal(await exchange(t, proxy, 'CONNECT api.example.com:443 HTTP/1.1\r\n\r\n'), established);
  assert.equal(await exchange(t, proxy, get(url)), '');
});

test('a host that does not let itself be connected or resolved in time is given up', async (t) => {
  const sockets: Socket[] = [];
  const dial = () => {
    const never = new Socket();
    sockets.push(never);
    return never;
  };
  const silent = await openProxy(t, undefined, { dial, limits: { connectMs: 50 } });
  assert.match(await exchange(t, silent, get(url)), /^HTTP\/1\.1 504 /);
  assert.ok(sockets[0]?.destroyed);
  const lost = await openProxy(t, undefined, {
    resolve: () => new Promise(() => undefined),
    limits: { connectMs: 50 },
  });
  assert.match(await exchange(t, lost, 'CONNECT api.example.com:443 HTTP/1.1\r\n\r\n'), /^HTTP\/1\.1 504 /);
});

test('a program that hangs up while its host is being connected leaves nothing behind', async (t) => {
  const never = new Socket();
  const dialled = Promise.withResolvers<void>();
  const dial = () => {
    dialled.resolve();
    return never;
  };
  const proxy = await openProxy(t, undefined, { dial });
  const client = await openClient(t, proxy);
  client.write('CONNECT api.example.com:443 HTTP/1.1\r\n\r\n');
  await dialled.promise;
  client.resetAndDestroy();
  await new Promise((resolve) => never.once('close', resolve));
});

for (const [what, opening] of Object.entries({
  'a tunnel': 'CONNECT api.example.com:443 HTTP/1.1\r\n\r\n',
  'an answer': get(url),
})) {
  test(`more bytes than the call may move, by ${what}, end its network`, async (t) => {
    const host = await FakeHost.open(t, (socket) => {
      socket.on('data', () => undefined);
      socket.write('HTTP/1.1 200 OK\r\nContent-Length: 10000000\r\n\r\n');
      socket.write('x'.repeat(10_000_000));
    });
    const proxy = await openProxy(t, host, { limits: { bytes: 100_000 } });
    const answer = await exchange(t, proxy, opening);
    assert.ok(answer.length < 5_000_000);
    assert.deepEqual(proxy.proxy.log.targetsOf('limited'), ['more than 100000 bytes in all']);
    await assert.rejects(openClient(t, proxy), { code: 'ECONNREFUSED' });
  });
}
