import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import type { Socket } from 'node:net';
import { test } from 'node:test';
import { NetworkLog } from '../network-log.ts';
import {
  answering,
  established,
  exchange,
  FakeHost,
  get,
  helloAnswer,
  openClient,
  openProxy,
  publicAddress,
  readToEnd,
  readUntil,
} from './proxy.test-kit.ts';

const echo = (socket: Socket): void => void socket.pipe(socket);

test('a tunnel to a granted host carries bytes both ways, and each direction can end by itself', async (t) => {
  const host = await FakeHost.open(t, echo);
  const proxy = await openProxy(t, host);
  const client = await openClient(t, proxy);
  client.write('CONNECT api.example.com:443 HTTP/1.1\r\nHost: api.example.com:443\r\n\r\n');
  assert.equal(await readUntil(client, '\r\n\r\n'), established);
  client.end('ping'.repeat(100_000));
  assert.equal((await readToEnd(client)).length, 400_000);
  assert.deepEqual(proxy.dialled, [`${publicAddress} 443`]);
  assert.equal(proxy.proxy.connections, 1);
  assert.deepEqual(proxy.proxy.log.targetsOf('refused'), []);
});

test('bytes that come together with CONNECT are not lost', async (t) => {
  const host = await FakeHost.open(t, echo);
  const client = await openClient(t, await openProxy(t, host));
  client.end('CONNECT api.example.com:443 HTTP/1.1\r\n\r\nearly');
  assert.equal(await readToEnd(client), `${established}early`);
});

test('a request in absolute form reaches the granted host in origin form', async (t) => {
  const host = await FakeHost.open(t, answering(helloAnswer));
  const proxy = await openProxy(t, host);
  const answer = await exchange(t, proxy, get('http://api.example.com/path?a=b', 'Accept: text/x'));
  assert.match(answer, /^HTTP\/1\.1 200 OK\r\n[^]*hello$/);
  assert.match(host.received, /^GET \/path\?a=b HTTP\/1\.1\r\nHost: api\.example\.com\r\nAccept: text\/x\r\n/);
  assert.deepEqual(proxy.dialled, [`${publicAddress} 80`]);
});

test('what no rule grants is refused with the host and the reason, and not with the line that would grant it', async (t) => {
  const proxy = await openProxy(t, undefined);
  const connected = await exchange(t, proxy, 'CONNECT evil.org:443 HTTP/1.1\r\n\r\n');
  const fetched = await exchange(t, proxy, get('http://evil.org/'));
  for (const [answer, port] of [
    [connected, 443],
    [fetched, 80],
  ] as const) {
    assert.match(answer, /^HTTP\/1\.1 403 Forbidden\r\n/);
    assert.ok(answer.includes(`does not connect to evil.org:${port}: no rule grants it`), answer);
    assert.ok(!answer.includes('hosts:'), answer);
  }
  assert.deepEqual(proxy.dialled, []);
  assert.deepEqual(proxy.proxy.log.targetsOf('refused'), ['evil.org:443', 'evil.org:80']);
  assert.equal(proxy.proxy.connections, 0);
});

test('a refused request that Node would answer by itself is on record as well', async (t) => {
  const proxy = await openProxy(t, undefined);
  const withoutHost = 'GET http://one.test/ HTTP/1.1\r\nConnection: close\r\n\r\n';
  assert.match(await exchange(t, proxy, withoutHost), /^HTTP\/1\.1 400 /);
  assert.match(await exchange(t, proxy, get('http://two.test/', 'Expect: nothing')), /^HTTP\/1\.1 403 /);
  assert.match(await exchange(t, proxy, '\x05\x01\x00'), /^HTTP\/1\.1 400 /);
  assert.deepEqual(proxy.proxy.log.targetsOf('refused'), ['one.test', 'two.test:80', 'unreadable request']);
});

const tricks = [
  ...['api.example.com.:443', '127.0.0.1:443', '2130706433:443', '0x7f000001:443', '0177.0.0.1:443', '[::1]:443'],
  ...['user@api.example.com:443', 'api.example.com:22', 'example.com:443', 'xapi.example.com.:443'],
  ...['[::ffff:127.0.0.1]:443', 'api.example.com:443@evil.org:443', 'localhost:443', 'http://api.example.com:443'],
];
for (const authority of tricks) {
  test(`CONNECT ${authority} is refused and nothing is dialled`, async (t) => {
    const proxy = await openProxy(t, undefined);
    assert.match(await exchange(t, proxy, `CONNECT ${authority} HTTP/1.1\r\n\r\n`), /^HTTP\/1\.1 403 /);
    assert.match(
      await exchange(t, proxy, `GET http://${authority}/ HTTP/1.1\r\nHost: ${authority}\r\nConnection: close\r\n\r\n`),
      /^HTTP\/1\.1 (?:403|400) /,
    );
    assert.deepEqual(proxy.dialled, []);
  });
}

for (const line of [
  'CONNECT api.example.com\0.evil.org:443',
  'CONNECT \0:443',
  'CONNECT api.example.com :443',
  'CONNECT b\xfccher.example.com:443',
]) {
  test(`${JSON.stringify(line)} is not even read, and on record`, async (t) => {
    const proxy = await openProxy(t, undefined);
    assert.match(await exchange(t, proxy, `${line} HTTP/1.1\r\n\r\n`), /^HTTP\/1\.1 400 /);
    assert.deepEqual(proxy.dialled, []);
    assert.deepEqual(proxy.proxy.log.targetsOf('refused'), ['unreadable request']);
  });
}

test('a name is resolved once for a connection, and the answer that was checked is the one that is dialled', async (t) => {
  const host = await FakeHost.open(t, answering(helloAnswer));
  const answers = [[publicAddress], ['127.0.0.1']];
  let asked = 0;
  const resolve = () => Promise.resolve(answers[asked++] ?? ['10.0.0.1']);
  const proxy = await openProxy(t, host, { resolve });
  assert.match(await exchange(t, proxy, get('http://api.example.com/')), /^HTTP\/1\.1 200 /);
  assert.equal(asked, 1);
  // The same name again, as in a redirect: it leads to this machine now.
  const again = await exchange(t, proxy, get('http://api.example.com/'));
  assert.match(again, /^HTTP\/1\.1 403 [^]*leads to a loopback address/);
  assert.equal(asked, 2);
  assert.deepEqual(proxy.dialled, [`${publicAddress} 80`]);
  assert.deepEqual(proxy.proxy.log.targetsOf('refused'), ['api.example.com:80']);
});

test('a redirect leads no further than the rules: the request that follows it is checked too', async (t) => {
  const location = 'http://169.254.169.254/latest/meta-data';
  const host = await FakeHost.open(
    t,
    answering(`HTTP/1.1 302 Found\r\nLocation: ${location}\r\nContent-Length: 0\r\n\r\n`),
  );
  const proxy = await openProxy(t, host);
  assert.ok((await exchange(t, proxy, get('http://api.example.com/'))).includes(`Location: ${location}\r\n`));
  assert.match(await exchange(t, proxy, get(location)), /^HTTP\/1\.1 403 /);
  assert.equal(proxy.dialled.length, 1);
});

test('the next address is tried when one does not answer', async (t) => {
  const host = await FakeHost.open(t, answering(helloAnswer));
  const resolve = () => Promise.resolve(['93.184.216.1', '93.184.216.2']);
  const dial = (address: string) => connect({ host: '127.0.0.1', port: address.endsWith('.2') ? host.port : 1 });
  const proxy = await openProxy(t, host, { resolve, dial });
  assert.match(await exchange(t, proxy, get('http://api.example.com/')), /^HTTP\/1\.1 200 /);
  assert.equal(proxy.proxy.connections, 1);
});

test('a granted host that cannot be resolved or reached is 502, and no refusal', async (t) => {
  const unreachable = await openProxy(t, undefined);
  assert.match(await exchange(t, unreachable, get('http://api.example.com/')), /^HTTP\/1\.1 502 [^]*ECONNREFUSED/);
  const resolve = () => Promise.reject(Object.assign(new Error('none'), { code: 'ENOTFOUND' }));
  const unknown = await openProxy(t, undefined, { resolve });
  const answer = await exchange(t, unknown, 'CONNECT api.example.com:443 HTTP/1.1\r\n\r\n');
  assert.match(answer, /^HTTP\/1\.1 502 [^]*ENOTFOUND/);
  for (const { proxy } of [unreachable, unknown])
    assert.deepEqual([proxy.connections, proxy.log.targetsOf('refused')], [0, []]);
});

test('an address that a rule names is dialled without being resolved', async (t) => {
  const host = await FakeHost.open(t, answering(helloAnswer));
  const resolve = (): never => assert.fail('resolved');
  const proxy = await openProxy(t, host, { resolve, hosts: ['10.0.0.5:8080', 'localhost:5432'] });
  assert.match(await exchange(t, proxy, get('http://10.0.0.5:8080/')), /^HTTP\/1\.1 200 /);
  assert.match(await exchange(t, proxy, get('http://localhost:5432/')), /^HTTP\/1\.1 200 /);
  assert.deepEqual(proxy.dialled, ['10.0.0.5 8080', '127.0.0.1 5432']);
});

test('of what is refused each host is told apart, up to 50 of them, and the rest is counted', async (t) => {
  const told = new NetworkLog();
  const proxy = await openProxy(t, undefined, { onEvents: (events) => told.add(...events) });
  for (let at = 0; at < 60; at++) await exchange(t, proxy, `CONNECT h${at}.org:443 HTTP/1.1\r\n\r\n`);
  await exchange(t, proxy, 'CONNECT h0.org:443 HTTP/1.1\r\n\r\n');
  const { log } = proxy.proxy;
  assert.equal(log.targetsOf('refused').length, 50);
  assert.deepEqual(
    [log.entries[0], log.beyond],
    [{ outcome: 'refused', target: 'h0.org:443', times: 2 }, { refused: 10 }],
  );
  await proxy.proxy.close();
  assert.deepEqual(told, log);
});

test('closing ends everything: tunnels, waiting connections and the listener', async (t) => {
  const host = await FakeHost.open(t, echo);
  const proxy = await openProxy(t, host);
  const idle = await openClient(t, proxy);
  const client = await openClient(t, proxy);
  client.write('CONNECT api.example.com:443 HTTP/1.1\r\n\r\n');
  await readUntil(client, '\r\n\r\n');
  const [upstream] = host.connections;
  assert.ok(upstream);
  const gone = [idle, client, upstream].map((socket) => once(socket.resume(), 'close'));
  await proxy.proxy.close();
  for (const socket of [idle, client]) socket.end();
  upstream.end();
  await Promise.all(gone);
  await assert.rejects(openClient(t, proxy), { code: 'ECONNREFUSED' });
});

test('a program that hangs up takes the connection to the host with it', async (t) => {
  const host = await FakeHost.open(t, () => undefined);
  const proxy = await openProxy(t, host);
  const client = await openClient(t, proxy);
  client.write('CONNECT api.example.com:443 HTTP/1.1\r\n\r\n');
  await readUntil(client, '\r\n\r\n');
  const [upstream] = host.connections;
  assert.ok(upstream);
  client.resetAndDestroy();
  await once(upstream, 'end');
  // A connection that were only half closed would take this for ever.
  const asking = setInterval(() => upstream.write('still there?'), 5);
  await new Promise((resolve) => upstream.once('close', resolve));
  clearInterval(asking);
});

test('CONNECT without a port is refused', async (t) => {
  const proxy = await openProxy(t, undefined);
  const answer = await exchange(t, proxy, 'CONNECT api.example.com HTTP/1.1\r\n\r\n');
  assert.match(answer, /^HTTP\/1\.1 403 [^]*the port is missing/);
});
