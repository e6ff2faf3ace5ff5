import assert from 'node:assert/strict';
import { createServer as createTlsServer } from 'node:https';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { endsWith } from '../files/test-workspace.ts';
import { testCertificate } from './certificate.test-kit.ts';
import { listen, serve, TestWeb } from './web.test-kit.ts';

const page = `<!doctype html><title>Café</title><nav><a href="/">Home</a></nav>
<main><h1>Hours</h1><p>We are <b>open</b> <a href="/today">today</a>.</p></main>`;

test('a page comes back as Markdown, marked as written by strangers', async () => {
  await using server = await serve((_, response) =>
    response
      .writeHead(200, { 'content-type': 'text/html; charset=utf-8', 'content-encoding': 'gzip' })
      .end(gzipSync(page)),
  );
  using web = new TestWeb({ server });
  assert.deepEqual(await web.call('web.fetch', { url: 'http://cafe.test/hours#now' }), {
    url: 'http://cafe.test/hours',
    status: 200,
    content_type: 'text/html',
    bytes: Buffer.byteLength(page),
    untrusted: true,
    title: 'Café',
    text: '# Hours\n\nWe are **open** [today](http://cafe.test/today).',
  });
  const raw = await web.call('web.fetch', { url: 'http://cafe.test/', format: 'raw' });
  assert.equal(raw['text'], page);
});

test('text is read in the alphabet that the answer names', async () => {
  const bytes = Buffer.from('caf\xe9', 'latin1');
  for (const [type, body] of [
    ['text/plain; charset=iso-8859-1', bytes],
    ['text/html', Buffer.concat([Buffer.from('<meta charset="windows-1252">'), bytes])],
    ['text/plain; charset=no-such-thing', Buffer.from('café')],
  ] as const) {
    await using server = await serve((_, response) => response.writeHead(200, { 'content-type': type }).end(body));
    using web = new TestWeb({ server });
    assert.equal((await web.call('web.fetch', { url: 'http://site.test/' }))['text'], 'café', type);
  }
});

test('long text is cut and kept whole; what is no text is kept', async () => {
  const long = 'word '.repeat(1000);
  const image = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0, 255]);
  await using server = await serve(({ url }, response) => {
    const type = url === '/image' ? 'image/png' : 'text/plain';
    response.writeHead(200, { 'content-type': type }).end(url === '/image' ? image : long);
  });
  using web = new TestWeb({ server });
  for (const [tool, key] of [
    ['web.fetch', 'text'],
    ['http.get', 'body'],
  ] as const) {
    const text = await web.call(tool, { url: 'http://site.test/long', max_characters: 10 });
    assert.deepEqual([text[key], text['truncated']], ['word word ', true]);
    assert.equal(web.workspace.kept.get(String(text['content_hash']))?.toString(), long);
    const binary = await web.call(tool, { url: 'http://site.test/image' });
    assert.ok(!(key in binary));
    assert.deepEqual(web.workspace.kept.get(String(binary['content_hash'])), image);
  }
});

test('the methods send what they were given; a status that is not 2xx is a result, and a redirect is not followed', async () => {
  const seen: unknown[] = [];
  await using server = await serve((request, response) => {
    let body = '';
    request.on('data', (chunk: Buffer) => (body += chunk.toString()));
    request.on('end', () => {
      const { 'content-type': type, 'x-mine': mine, 'content-length': length } = request.headers;
      seen.push([request.method, request.url, type, mine, length, body]);
      response.writeHead(request.method === 'POST' ? 307 : 404, {
        location: 'http://elsewhere.test/',
        'set-cookie': 'a=b',
      });
      response.end('{"no":true}');
    });
  });
  using web = new TestWeb({ server });
  const url = 'http://api.test/items?q=1';
  const headers = { 'X-Mine': 'yes' };
  const post = await web.call('http.post', { url, headers, body: '{"a":1}' });
  const put = await web.call('http.put', { url, headers, body: 'plain', content_type: 'text/plain' });
  const removed = await web.call('http.delete', { url, headers });
  assert.deepEqual([post['status'], put['status'], removed['status']], [307, 404, 404]);
  assert.deepEqual(seen, [
    ['POST', '/items?q=1', 'application/json', 'yes', '7', '{"a":1}'],
    ['PUT', '/items?q=1', 'text/plain', 'yes', '5', 'plain'],
    ['DELETE', '/items?q=1', undefined, 'yes', undefined, ''],
  ]);
  const shown = post['headers'] as Record<string, string>;
  assert.deepEqual([shown['location'], shown['set-cookie']], ['http://elsewhere.test/', undefined]);
});

test('headers that frame the message or say where it goes are the gate’s own', async () => {
  using web = new TestWeb();
  for (const name of ['Host', 'content-length', 'Transfer-Encoding', 'connection', 'Proxy-Authorization', 'expect']) {
    const call = web.call('http.get', { url: 'http://site.test/', headers: { [name]: 'x' } });
    await assert.rejects(call, endsWith('INVALID_ARGUMENTS', /set by the gate/));
  }
  assert.deepEqual(web.dialled, []);
});

const bound = `  - id: api
    effect: allow
    tools: ['http.*', 'web.*']
    approval: waived
    grants:
      hosts: ['localhost:PORT']
      secrets: [{ name: api-key, hosts: [localhost, safe.test], header: Authorization, scheme: Bearer }]
`;
const secret = 'v3ry-s3cret-t0ken-0f-the-api';

test('a secret goes in its header to its host, and comes back in nothing', async () => {
  const seen: (string | undefined)[] = [];
  await using server = await serve(({ headers, url }, response) => {
    seen.push(headers.authorization);
    const echoed = `you sent ${headers.authorization}`;
    const type = url === '/binary' ? 'application/pdf' : url === '/page' ? 'text/html' : 'text/plain';
    const body = url === '/page' ? `<p>you sent ${headers.authorization?.replaceAll('t', '&#116;')}` : echoed;
    response.writeHead(200, { 'content-type': type, 'x-echo': echoed }).end(body);
  });
  using web = new TestWeb({
    rules: bound.replace('PORT', String(server.port)),
    secrets: { 'api-key': secret },
    server,
  });
  const results = [
    await web.call('http.get', { url: `http://localhost:${server.port}/` }),
    await web.call('http.get', { url: `http://localhost:${server.port}/`, headers: { authorization: 'mine' } }),
    await web.call('web.fetch', { url: `http://localhost:${server.port}/page` }),
    await web.call('http.get', { url: `http://localhost:${server.port}/binary` }),
    await web.call('http.get', { url: `http://localhost:${server.port}/`, max_characters: 5 }),
  ];
  assert.deepEqual(new Set(seen), new Set([`Bearer ${secret}`]));
  assert.doesNotMatch(JSON.stringify([results, web.network]), /s3cret/);
  for (const bytes of web.workspace.kept.values()) assert.doesNotMatch(bytes.toString('latin1'), /s3cret/);
  assert.match(String(results[0]?.['body']), /you sent Bearer/);
  // Another host does not get it, and neither does its own over a wire without TLS.
  await web.call('http.get', { url: 'http://other.test/' });
  await web.call('http.get', { url: 'http://safe.test/' });
  assert.deepEqual(seen.slice(-2), [undefined, undefined]);
});

test('a redirect to another host takes neither secrets nor the caller’s own headers along', async () => {
  const seen: Record<string, unknown>[] = [];
  await using server = await serve(({ headers, url }, response) => {
    seen.push({ authorization: headers.authorization, mine: headers['x-mine'], cookie: headers.cookie });
    if (url === '/start') response.writeHead(302, { location: 'http://other.test/end' }).end();
    else response.end('done');
  });
  using web = new TestWeb({
    rules: bound.replace('PORT', String(server.port)),
    secrets: { 'api-key': secret },
    server,
  });
  const headers = { 'X-Mine': 'yes', Cookie: 'a=b' };
  await web.call('http.get', { url: `http://localhost:${server.port}/start`, headers });
  assert.deepEqual(seen, [
    { authorization: `Bearer ${secret}`, mine: 'yes', cookie: 'a=b' },
    { authorization: undefined, mine: undefined, cookie: undefined },
  ]);
});

test('the certificate of a host is checked against its name', async () => {
  const { key, certificate } = testCertificate('secure.test');
  await using server = await listen(
    createTlsServer({ key, cert: certificate }, ({ headers }, response) =>
      response.end(`hello ${headers.authorization}`),
    ),
  );
  const rules = bound.replace('PORT', '1').replace('safe.test', 'secure.test');
  using web = new TestWeb({ rules, server, ca: certificate, secrets: { 'api-key': secret } });
  const { body } = await web.call('http.get', { url: 'https://secure.test/' });
  assert.match(String(body), /^hello Bearer/);
  assert.doesNotMatch(String(body), /s3cret/);
  await assert.rejects(
    web.call('http.get', { url: 'https://other.test/' }),
    endsWith('EXECUTION_ERROR', /certificate/),
  );
  using strict = new TestWeb({ server });
  await assert.rejects(
    strict.call('http.get', { url: 'https://secure.test/' }),
    endsWith('EXECUTION_ERROR', /certificate/),
  );
});

test('a host that cannot be reached is a failure that may pass', async () => {
  using web = new TestWeb();
  await assert.rejects(
    web.call('http.get', { url: 'http://gone.test/' }),
    endsWith('UPSTREAM_UNAVAILABLE', /gone\.test/),
  );
  assert.deepEqual(web.network, [{ outcome: 'unreachable', target: 'gone.test:80', times: 1 }]);
});

test('a person sees the request, with the names of the secrets that would go along', async () => {
  using web = new TestWeb({ rules: bound.replace('PORT', '1'), secrets: { 'api-key': secret } });
  const { summary, detail } = await web.preview('http.post', {
    url: 'https://safe.test/send',
    headers: { 'X-Mine': 'yes' },
    body: 'first\nsecond',
  });
  assert.equal(summary, 'POST https://safe.test/send');
  assert.match(detail, /with: authorization: the stored secret api-key, if the host is localhost or safe\.test/);
  assert.match(detail, /body:\n {2}\| first\n {2}\| second\n/);
  assert.doesNotMatch(detail, /s3cret/);
});

test('nobody is asked about a machine that the gate would refuse anyway', async () => {
  using web = new TestWeb();
  for (const url of ['http://127.0.0.1/', 'http://localhost:8080/', 'http://[::1]/', 'http://169.254.169.254/']) {
    await assert.rejects(web.preview('web.fetch', { url }), endsWith('HOST_REFUSED'), url);
  }
  await web.preview('web.fetch', { url: 'http://site.test/' });
});

test('the span of a call is told to hosts that the operator named, and not to where they lead', async () => {
  const traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';
  const heard: string[] = [];
  await using server = await serve(({ headers }, response) => {
    heard.push(`${headers.host} ${String(headers['traceparent'] ?? 'nothing')}`);
    if (headers.host === 'ours.test') response.writeHead(302, { location: 'http://theirs.test/' }).end();
    else response.end('x');
  });
  using silent = new TestWeb({ server });
  await silent.call('web.fetch', { url: 'http://ours.test/' }, { traceparent });
  using web = new TestWeb({ server, isTraced: (authority) => authority === 'ours.test:80' });
  await web.call('web.fetch', { url: 'http://ours.test/' }, { traceparent });
  await web.call('web.fetch', { url: 'http://ours.test/' });
  assert.deepEqual(heard, [
    'ours.test nothing',
    'theirs.test nothing',
    `ours.test ${traceparent}`,
    'theirs.test nothing',
    'ours.test nothing',
    'theirs.test nothing',
  ]);
});
