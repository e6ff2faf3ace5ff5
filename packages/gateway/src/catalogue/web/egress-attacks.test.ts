import assert from 'node:assert/strict';
import { createServer } from 'node:net';
import { test } from 'node:test';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import type { Code } from '@sallyport/contract';
import { requirement } from '../../../../../test/requirement.ts';
import { ToolFailure } from '../../call/tool.ts';
import { endsWith } from '../files/test-workspace.ts';
import { listen, publicAddress, serve, TestWeb } from './web.test-kit.ts';

/** Nothing was dialled, and the refusal names where the call wanted to go. */
async function refused(url: string, named: RegExp, web = new TestWeb()): Promise<void> {
  using opened = web;
  await assert.rejects(opened.call('web.fetch', { url }), endsWith('HOST_REFUSED', named));
  assert.deepEqual(opened.dialled, [], url);
}

// Every host is allowed by the rules of these tests: it is the gate that says no.
const machines: readonly (readonly [what: string, hosts: readonly string[]])[] = [
  ['loopback', ['127.0.0.1', '127.1.2.3', '[::1]', 'localhost']],
  ['private', ['10.0.0.1', '172.16.0.1', '192.168.1.1', '100.64.0.1', '[fc00::1]', '[fd12:3456::1]']],
  ['link-local', ['169.254.1.1', '[fe80::1]']],
  ['metadata', ['169.254.169.254', '100.100.100.200', '168.63.129.16', '[fd00:ec2::254]']],
  ['unspecified, broadcast and multicast', ['0.0.0.0', '255.255.255.255', '224.0.0.1', '[::]', '[ff02::1]']],
];

for (const [what, hosts] of machines) {
  test(`${what} addresses are not reached`, async () => {
    for (const host of hosts) {
      const web = new TestWeb();
      await refused(`http://${host}/`, new RegExp(host.replaceAll(/[[\].]/g, '\\$&')), web);
      assert.deepEqual(web.network.at(-1)?.outcome, 'refused', host);
      assert.equal(web.network.at(-1)?.target, `${host}:80`);
    }
  });
}

const spellings: Readonly<Record<string, readonly string[]>> = {
  decimal: ['2130706433', '2852039166', '3232235777'],
  hexadecimal: ['0x7f000001', '0x7f.0.0.1', '0xA9FEA9FE'],
  octal: ['0177.0.0.1', '017700000001', '0251.0376.0251.0376'],
  short: ['127.1', '10.1', '192.168.257', '0'],
  'IPv6-mapped': ['[::ffff:127.0.0.1]', '[::ffff:7f00:1]', '[::127.0.0.1]', '[64:ff9b::7f00:1]', '[2002:7f00:1::]'],
  'long IPv6': ['[0:0:0:0:0:0:0:1]', '[0000::0001]'],
  'other digits and dots': ['127。0。0。1', '１２７.0.0.1', '①②⑦.0.0.1'],
};

for (const [what, hosts] of Object.entries(spellings)) {
  test(`addresses in ${what} form are not reached, whatever they mean`, async () => {
    for (const host of hosts) await refused(`http://${host}/`, /does not connect to/);
  });
}

test('a granted machine is reached by the one spelling that the rule has, and by no other', async () => {
  await using server = await serve((_, response) => response.end('here'));
  const rules = `  - { id: own, effect: allow, tools: ['*'], approval: waived, grants: { hosts: ['127.0.0.1:${server.port}'] } }`;
  using web = new TestWeb({ rules });
  assert.equal((await web.call('http.get', { url: `http://127.0.0.1:${server.port}/` }))['body'], 'here');
  for (const host of ['2130706433', '0x7f.1', '127.1', '[::ffff:127.0.0.1]', 'localhost']) {
    await assert.rejects(
      web.call('http.get', { url: `http://${host}:${server.port}/` }),
      endsWith('HOST_REFUSED'),
      host,
    );
  }
  assert.equal(web.dialled.length, 1);
});

test('a name that leads to any machine of the own network is refused, and on record', async () => {
  const addresses = ['127.0.0.1', '10.1.2.3', '169.254.169.254', '::1', '::ffff:10.0.0.1', 'fe80::1', '0.0.0.0'];
  for (const address of addresses) {
    for (const answer of [[address], [publicAddress, address]]) {
      const web = new TestWeb({ names: { 'inner.test': [answer] } });
      await refused('http://inner.test/', /inner\.test:80: the name leads to/, web);
      assert.deepEqual(web.network, [{ outcome: 'refused', target: 'inner.test:80', times: 1 }]);
    }
  }
});

test('a name server that answers differently the next time changes nothing', async () => {
  await using server = await serve((_, response) => response.end('public'));
  using web = new TestWeb({ names: { 'rebind.test': [[publicAddress], ['127.0.0.1']] }, server });
  assert.equal((await web.call('http.get', { url: 'http://rebind.test/' }))['body'], 'public');
  assert.deepEqual([web.resolved, web.dialled], [['rebind.test'], [`${publicAddress} 80`]]);
  // The next call asks again, and sees what the name has become.
  await assert.rejects(web.call('http.get', { url: 'http://rebind.test/' }), endsWith('HOST_REFUSED', /loopback/));
  assert.equal(web.dialled.length, 1);
});

test('names, addresses and redirects are checked again where they are used', async () => {
  requirement('EXEC-10');
  await using server = await serve(({ url = '' }, response) => {
    if (url.startsWith('/to/')) response.writeHead(302, { location: `http://${url.slice(4)}/` }).end();
    else response.end('public');
  });
  const rules = "  - { id: two, effect: allow, tools: ['web.*'], hosts: [a.test, b.test, inner.test] }";
  const names = { 'inner.test': [['10.0.0.1']], 'b.test': [[publicAddress], ['169.254.169.254']] };
  using web = new TestWeb({ rules, names, server });
  assert.equal((await web.call('web.fetch', { url: 'http://a.test/to/b.test' }))['text'], 'public');
  for (const [host, code] of [
    ['other.test', 'NO_RULE_ALLOWS'],
    ['inner.test', 'HOST_REFUSED'],
    ['b.test', 'HOST_REFUSED'],
    ['10.0.0.1', 'NO_RULE_ALLOWS'],
  ] as const) {
    await assert.rejects(web.call('web.fetch', { url: `http://a.test/to/${host}` }), endsWith(code), host);
    await assert.rejects(web.call('web.fetch', { url: `http://${host}/` }), endsWith(code), host);
  }
  assert.deepEqual(new Set(web.dialled), new Set([`${publicAddress} 80`]));
});

test('a redirect is checked like a call of its own: addresses, names, schemes and users', async () => {
  const targets: readonly (readonly [location: string, onRecord: RegExp])[] = [
    ['http://127.0.0.1/', /^127\.0\.0\.1:80$/],
    ['http://2852039166/latest/meta-data', /^169\.254\.169\.254:80$/],
    ['http://0x7f.1:8080/', /^127\.0\.0\.1:8080$/],
    ['http://[::ffff:7f00:1]/', /::ffff:7f00:1/],
    ['//localhost:6379/', /^localhost:6379$/],
    ['http://inner.test/', /^inner\.test:80$/],
    ['http://inner.test:22/', /^inner\.test:22$/],
    ['file:///etc/passwd', /file:/],
    ['gopher://inner.test/', /gopher:/],
    ['ftp://inner.test/', /ftp:/],
    ['data:text/plain,hello', /data:/],
    ['http://user:pass@other.test/', /other\.test/],
  ];
  for (const [location, onRecord] of targets) {
    await using server = await serve((_, response) => response.writeHead(302, { location }).end());
    using web = new TestWeb({ names: { 'inner.test': [['10.0.0.1']] }, server });
    await assert.rejects(web.call('web.fetch', { url: 'http://start.test/' }), endsWith('HOST_REFUSED'), location);
    assert.deepEqual(web.dialled, [`${publicAddress} 80`], location);
    const { outcome, target } = web.network.at(-1) ?? assert.fail('nothing is on record');
    assert.equal(outcome, 'refused');
    assert.match(target, onRecord);
  }
});

test('a redirect to a host that the rules deny, or ask about, is not followed', async () => {
  await using server = await serve((request, response) => {
    if (request.headers.host === 'open.test') response.writeHead(302, { location: 'https://closed.test/x' }).end();
    else response.end('should not be read');
  });
  const open = "  - { id: open, effect: allow, tools: ['web.*'], hosts: [open.test] }\n";
  const asks = "  - { id: asks, effect: require_approval, tools: ['web.*'], hosts: [closed.test] }\n";
  for (const [rules, code] of [
    [open, 'NO_RULE_ALLOWS'],
    [open + asks, 'HOST_REFUSED'],
  ] as const) {
    using web = new TestWeb({ rules, server });
    await assert.rejects(web.call('web.fetch', { url: 'http://open.test/' }), endsWith(code, /closed\.test/));
    assert.deepEqual(web.network, [
      { outcome: 'connected', target: 'open.test:80', times: 1 },
      { outcome: 'refused', target: 'closed.test:443', times: 1 },
    ]);
  }
});

test('who agreed to a call agreed to its host, and to none that an answer names', async () => {
  await using server = await serve((request, response) => {
    const { url, headers } = request;
    if (url === '/moved') response.writeHead(301, { location: '/here' }).end();
    else if (url === '/away') response.writeHead(301, { location: 'http://other.test/' }).end();
    else response.end(`${headers.host}${url}`);
  });
  const rules = "  - { id: asks, effect: require_approval, tools: ['web.*'], hosts: ['*'] }\n";
  using web = new TestWeb({ rules, server });
  assert.equal((await web.call('web.fetch', { url: 'http://site.test/moved' }))['text'], 'site.test/here');
  await assert.rejects(
    web.call('web.fetch', { url: 'http://site.test/away' }),
    endsWith('HOST_REFUSED', /other\.test/),
  );
});

test('redirects without an end are given up', async () => {
  await using server = await serve((_, response) => response.writeHead(302, { location: '/again' }).end());
  using web = new TestWeb({ server });
  await assert.rejects(web.call('http.get', { url: 'http://loop.test/' }), endsWith('EXECUTION_ERROR', /more than 5/));
});

test('a user name in an address, and everything that can be read as one, is refused', async () => {
  for (const url of [
    'http://good.test@evil.test/',
    'http://good.test:80@evil.test/',
    'http://:@evil.test/',
    'http://good.test\\@evil.test/',
    'http://good.test%40evil.test/',
    'http://good.test%2eevil.test/',
    'http://good.test\t/',
    'http://good.test\u00ad.evil.test/',
    'http:good.test/',
    'http:///good.test/',
    'http://good.test./',
    'http://good_host.test/',
    ' http://good.test/',
  ]) {
    await refused(url, /does not connect/);
  }
});

test('a port is reached only where a rule names it', async () => {
  const rules = "  - { id: web, effect: allow, tools: ['*'], hosts: ['*', 'api.test:8443'] }";
  for (const port of [22, 25, 3306, 6379, 8080]) {
    using web = new TestWeb({ rules });
    await assert.rejects(
      web.call('http.get', { url: `http://api.test:${port}/` }),
      endsWith('NO_RULE_ALLOWS', /api\.test/),
    );
    assert.deepEqual(web.dialled, []);
  }
  for (const url of ['http://api.test:0/', 'http://api.test:65536/', 'http://api.test:99999999/']) {
    await refused(url, /does not connect/);
  }
});

test('other schemes are refused', async () => {
  for (const url of [
    'file:///etc/passwd',
    'ftp://site.test/',
    'gopher://site.test/',
    'data:text/html,x',
    'javascript:1',
    'ws://site.test/',
    'unix:///run/x',
    '/etc/passwd',
    'site.test',
  ]) {
    await refused(url, /only http/);
  }
});

async function fails(web: TestWeb, code: Code, named: RegExp, args: Record<string, number> = {}): Promise<void> {
  await assert.rejects(web.call('http.get', { url: 'http://big.test/', ...args }), endsWith(code, named));
  assert.deepEqual(web.network[0], { outcome: 'connected', target: 'big.test:80', times: 1 });
}

test('a body that is too large is not read to its end, whether it says so or not', async () => {
  let sent = 0;
  await using announced = await serve((_, response) => {
    response.writeHead(200, { 'content-length': String(2 ** 40) });
    response.write('x');
  });
  await using endless = await serve((_, response) => {
    const more = (): void => {
      while (!response.destroyed && response.write(Buffer.alloc(64 * 1024))) sent += 64 * 1024;
    };
    response.on('drain', more);
    more();
  });
  for (const server of [announced, endless]) {
    using web = new TestWeb({ server });
    await fails(web, 'TOO_LARGE', /big\.test:80/, { max_bytes: 100_000 });
  }
  assert.ok(sent < 64 * 1024 * 1024, `${sent} bytes were taken`);
});

test('a small body that unpacks to a large one is given up at the limit', async () => {
  const bomb = Buffer.alloc(64 * 1024 * 1024);
  for (const [encoding, bytes] of [
    ['gzip', gzipSync(bomb)],
    ['br', brotliCompressSync(bomb, { params: { 1: 1 } })],
  ] as const) {
    await using server = await serve((_, response) => {
      response.writeHead(200, { 'content-encoding': encoding, 'content-type': 'text/plain' }).end(bytes);
    });
    using web = new TestWeb({ server });
    await fails(web, 'TOO_LARGE', /big\.test:80/);
  }
});

test('packings that are nested, unknown or broken are errors', async () => {
  for (const [encoding, body] of [
    ['gzip, gzip', gzipSync(gzipSync('x'))],
    ['compress', Buffer.from('x')],
    ['gzip', Buffer.from('this was never packed')],
    ['br', gzipSync('another packing')],
    ['__proto__', Buffer.from('x')],
  ] as const) {
    await using server = await serve((_, response) =>
      response.writeHead(200, { 'content-encoding': encoding }).end(body),
    );
    using web = new TestWeb({ server });
    await fails(web, 'EXECUTION_ERROR', /packed|unpacked/);
  }
});

test('a host that takes its time is given up when the time of the call is up', async () => {
  await using silent = await serve(() => undefined);
  await using drip = await serve((_, response) => {
    response.writeHead(200);
    const timer = setInterval(() => response.write('x'), 20);
    response.on('close', () => clearInterval(timer));
  });
  await using headers = await listen(
    createServer((socket) => {
      socket.on('error', () => undefined).write('HTTP/1.1 200 OK\r\n');
      const timer = setInterval(() => socket.write('x: y\r\n'), 20);
      socket.on('close', () => clearInterval(timer));
    }),
  );
  for (const server of [silent, drip, headers]) {
    using web = new TestWeb({ server });
    const timed = new AbortController();
    setTimeout(() => timed.abort(new ToolFailure('TIMEOUT', 'The call took too long.')), 300);
    const call = web.call('http.get', { url: 'http://slow.test/' }, { signal: timed.signal });
    await assert.rejects(call, endsWith('TIMEOUT'));
    assert.deepEqual(web.network, [{ outcome: 'connected', target: 'slow.test:80', times: 1 }]);
  }
});

test('an answer that is no HTTP, or has headers without end, is an error', async () => {
  for (const text of [
    'SSH-2.0-OpenSSH_9\r\n',
    'HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nxx',
    `HTTP/1.1 200 OK\r\nx: ${'y'.repeat(100_000)}\r\n\r\n`,
  ]) {
    await using server = await listen(createServer((socket) => void socket.on('error', () => undefined).end(text)));
    using web = new TestWeb({ server });
    await assert.rejects(
      web.call('http.get', { url: 'http://odd.test/' }),
      endsWith('EXECUTION_ERROR', /odd\.test:80/),
    );
  }
});
