import assert from 'node:assert/strict';
import { test } from 'node:test';
import { answering, exchange, FakeHost, get, helloAnswer, openClient, openProxy, readUntil } from './proxy.test-kit.ts';

const url = 'http://api.example.com/';
const lines = (...all: string[]): string => `${all.join('\r\n')}\r\n`;
const post = (...headers: string[]): string => lines(`POST ${url} HTTP/1.1`, 'Host: api.example.com', ...headers, '');

/** What comes after the first request must never be read as a second one by the host. */
const smuggled = lines('GET /smuggled HTTP/1.1', 'Host: api.example.com', '');

const ambiguous = {
  'both a length and chunks': post('Content-Length: 5', 'Transfer-Encoding: chunked') + lines('0', '') + smuggled,
  'chunks and a length': post('Transfer-Encoding: chunked', 'Content-Length: 5') + lines('0', '') + smuggled,
  'two lengths': post('Content-Length: 0', 'Content-Length: 44') + smuggled,
  'the same length twice': post('Content-Length: 0', 'Content-Length: 0') + smuggled,
  'a list of lengths': post('Content-Length: 0, 44') + smuggled,
  'a length with a sign': post('Content-Length: +0') + smuggled,
  'a length that is no number': post('Content-Length: 0x0') + smuggled,
  'chunks inside another encoding': post('Transfer-Encoding: gzip, chunked') + lines('0', '') + smuggled,
  'another encoding after chunks': post('Transfer-Encoding: chunked, identity') + lines('0', '') + smuggled,
  'an unknown encoding': post('Transfer-Encoding: xchunked') + lines('0', '') + smuggled,
  'chunks said twice': post('Transfer-Encoding: chunked', 'Transfer-Encoding: chunked') + lines('0', '') + smuggled,
  'white space before the colon': post('Transfer-Encoding : chunked') + lines('0', '') + smuggled,
  'a folded header': post('X: a', ' b', 'Content-Length: 0') + smuggled,
  'a folded length': post('Content-Length:', ' 0') + smuggled,
  'bare line feeds': post('Content-Length: 0').replaceAll('\r\n', '\n') + smuggled,
  'a bare line feed in a header': post('X: a\nTransfer-Encoding: chunked', 'Content-Length: 0') + smuggled,
  'a bare carriage return in a header': post('X: a\rTransfer-Encoding: chunked', 'Content-Length: 0') + smuggled,
  'a NUL in a header': post('X: a\0b', 'Content-Length: 0') + smuggled,
  'a chunk size with junk': post('Transfer-Encoding: chunked') + lines('0x0', '') + smuggled,
  'another host in the Host header': get(url).replace('Host: api', 'Host: evil'),
  'two Host headers': get(url, 'Host: evil.org'),
  'the same Host header twice': get(url, 'Host: api.example.com'),
  'no Host header': lines(`GET ${url} HTTP/1.0`, ''),
  'another port in the Host header': get(url).replace('Host: api.example.com', 'Host: api.example.com:8080'),
  'user information in the Host header': get(url).replace('Host: ', 'Host: a@'),
  'origin form': lines('GET / HTTP/1.1', 'Host: api.example.com', 'Connection: close', ''),
  'the scheme of TLS': get('https://api.example.com/'),
  'another scheme': get('ftp://api.example.com/'),
  'a wish for another protocol': get(url, 'Upgrade: h2c').replace('close', 'upgrade'),
};

for (const [trick, bytes] of Object.entries(ambiguous)) {
  test(`${trick}: 400, and the host gets no smuggled request`, { timeout: 60_000 }, async (t) => {
    const host = await FakeHost.open(t, answering(helloAnswer));
    const proxy = await openProxy(t, host);
    assert.match(await exchange(t, proxy, bytes), /^HTTP\/1\.1 400 /);
    assert.ok(!host.received.includes('smuggled'), host.received);
  });
}

test('a body by length reaches the host as it is, and what follows is the next request', async (t) => {
  const host = await FakeHost.open(t, answering(helloAnswer));
  const client = await openClient(t, await openProxy(t, host));
  client.write(lines(`PUT ${url}a HTTP/1.1`, 'Host: api.example.com', 'Content-Length: 4', '') + 'body');
  await readUntil(client, 'hello');
  client.write(lines(`GET ${url}b HTTP/1.1`, 'Host: api.example.com', ''));
  await readUntil(client, 'hello');
  assert.match(host.received, /^PUT \/a HTTP\/1\.1\r\n[^]*Content-Length: 4\r\n[^]*\r\n\r\nbodyGET \/b HTTP\/1\.1\r\n/);
  assert.equal(host.connections.length, 2);
});

test('a body in chunks reaches the host in chunks, whatever the method', async (t) => {
  for (const method of ['POST', 'GET', 'DELETE', 'PURGE']) {
    const host = await FakeHost.open(t, answering(helloAnswer));
    const head = post('Connection: close', 'Transfer-Encoding: chunked').replace('POST', method);
    const inner = lines('GET /smuggled HTTP/1.1', '');
    const proxy = await openProxy(t, host);
    await exchange(t, proxy, `${head}${lines(inner.length.toString(16), inner, '0', '')}`);
    const [, framed = ''] = host.received
      .split('\r\n\r\n', 1)
      .concat(host.received.slice(host.received.indexOf('\r\n\r\n') + 4));
    assert.match(host.received, /^[A-Z]+ \/ HTTP\/1\.1\r\n[^]*Transfer-Encoding: chunked\r\n/);
    assert.equal(framed, lines(inner.length.toString(16), inner, '0', ''), method);
  }
});

test('a request without a body says so', async (t) => {
  const host = await FakeHost.open(t, answering(helloAnswer));
  await exchange(t, await openProxy(t, host), post('Connection: close'));
  assert.match(host.received, /\r\nContent-Length: 0\r\n/);
  assert.doesNotMatch(host.received, /chunked/i);
});

test('headers for this hop stay here, also those that Connection names', async (t) => {
  const host = await FakeHost.open(
    t,
    answering(
      'HTTP/1.1 200 OK\r\nKeep-Alive: x\r\nConnection: X-Hop\r\nX-Hop: 1\r\nX-End: 2\r\nContent-Length: 0\r\n\r\n',
    ),
  );
  const hop = [
    'Proxy-Authorization: Basic c2VjcmV0',
    'Proxy-Connection: x',
    'Keep-Alive: x',
    'TE: trailers',
    'X-Hop: 1',
  ];
  const request = get(url, ...hop, 'Expect: 100-continue', 'X-End: 2').replace('close', 'close, X-Hop, Host');
  const answer = await exchange(t, await openProxy(t, host), request);
  const names = [...host.received.matchAll(/^([\w-]+):/gm)].map(([, name]) => name);
  assert.deepEqual(names, ['Host', 'X-End', 'Connection']);
  assert.match(answer, /X-End: 2/);
  assert.doesNotMatch(answer, /X-Hop|Keep-Alive: x/);
});

test('an answer that breaks off is not taken for a whole one', async (t) => {
  const host = await FakeHost.open(t, answering('HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\npart'));
  const answer = await exchange(t, await openProxy(t, host), get(url));
  assert.match(answer, /Content-Length: 500\r\n[^]*\r\n\r\npart$/);
  const chunked = await FakeHost.open(
    t,
    answering('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\npart\r\n'),
  );
  assert.doesNotMatch(await exchange(t, await openProxy(t, chunked), get(url)), /\r\n0\r\n\r\n$/);
});

for (const [trick, bytes] of Object.entries({
  'no HTTP': 'SSH-2.0-OpenSSH\r\n',
  'two readings': 'HTTP/1.1 200 OK\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nhello',
  'a folded header': 'HTTP/1.1 200 OK\r\nX: a\r\n b\r\nContent-Length: 0\r\n\r\n',
  'another protocol': 'HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n',
  'headers without end': `HTTP/1.1 200 OK\r\n${'X: y\r\n'.repeat(10_000)}`,
  nothing: '',
})) {
  test(`an answer with ${trick} becomes 502`, async (t) => {
    const host = await FakeHost.open(t, answering(bytes));
    assert.match(await exchange(t, await openProxy(t, host), get(url)), /^HTTP\/1\.1 502 /);
  });
}

test('HEAD, 204 and 304 have no body, and the length that they announce is passed on', async (t) => {
  const host = await FakeHost.open(t, answering('HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\n'));
  const answer = await exchange(t, await openProxy(t, host), get(url).replace('GET', 'HEAD'));
  assert.match(answer, /^HTTP\/1\.1 200 OK\r\nContent-Length: 500\r\n[^]*\r\n\r\n$/);
  const unchanged = await FakeHost.open(t, answering('HTTP/1.1 304 Not Modified\r\nETag: "a"\r\n\r\n'));
  assert.match(await exchange(t, await openProxy(t, unchanged), get(url)), /^HTTP\/1\.1 304 [^]*\r\n\r\n$/);
});
