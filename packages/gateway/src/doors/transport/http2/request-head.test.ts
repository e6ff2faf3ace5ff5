import assert from 'node:assert/strict';
import { constants } from 'node:http2';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { requirement } from '../../../../../../test/requirement.ts';
import { encodeLiterals, NodeServer } from './node-peer.test-kit.ts';
import type { NodeHead, NodeVerdict } from './node-peer.test-kit.ts';
import { checkTrailers, parseRequestHead } from './request-head.ts';

const target = [':method', 'POST', ':scheme', 'http', ':path', '/', ':authority', 'a'];
const unescape = (text: string): string => JSON.parse(`"${text}"`) as string;
const read = (line: string): string[] => {
  const at = line.indexOf(' ');
  return [unescape(line.slice(0, at)), unescape(line.slice(at + 1))];
};
/** The lines of a head, a name and a value each, with a space in between; `...` stands for a whole target. */
const lines = (text: string): string[] => text.split('|').flatMap((line) => (line === '...' ? target : read(line)));

/** Node leaves away what it does not like in a header; here the request is malformed then, as RFC 9113 wants it. */
function assertAgrees(fields: readonly string[], verdict: NodeVerdict): void {
  const head = parseRequestHead(fields);
  const what = JSON.stringify(fields);
  assert.notEqual(verdict, 'lost', what);
  if (typeof verdict !== 'object' || verdict.raw.length < fields.length || hasLoosePath(verdict)) {
    assert.equal(head, undefined, what);
    return;
  }
  assert.ok(head, what);
  assert.equal(Object.getPrototypeOf(head.headers), null);
  assert.deepEqual({ headers: { ...head.headers }, raw: head.raw }, verdict, what);
  assert.deepEqual(Object.entries(head.headers), Object.entries(verdict.headers));
}

/** For schemes other than those of HTTP, node:http2 takes any path. */
function hasLoosePath({ headers }: NodeHead): boolean {
  const path = headers[':path'];
  if (typeof path !== 'string' || path.startsWith('/')) return false;
  return path !== '*' || headers[':method'] !== 'OPTIONS';
}

describe('parseRequestHead', () => {
  const accepted = [
    '...',
    '...|te trailers|te TRAILERS',
    '...|x ',
    '...|x a\\tb \\u00ff',
    '...|content-length 0005',
    '...|content-length 9223372036854775807',
    '...|content-length 000000000000000000000000000000007',
    '...|__proto__ a|__proto__ b|constructor c|tostring d|has_own e',
    '...|cookie a=b|cookie c=d|cookie e=f',
    '...|set-cookie a=b|set-cookie c=d',
    '...|authorization a|authorization b|user-agent c|user-agent d|content-type e|content-type f',
    '...|x a|2 b|x c|1 d',
    '...|host b',
    ':method GET|:scheme HTTPS|:path /a?b=c#d\\u00ff|host [::1]:80',
    ':scheme ftp|:path /|:authority a|:method x-own',
    ':method OPTIONS|:scheme http|:path *|:authority a',
    ':method CONNECT|:authority a:1|content-length 7',
  ];
  const malformed = [
    ...[
      '...|X a',
      '...|x-Y a',
      '...|x\\u0020y a',
      '...| a',
      '...|x\\u0000 a',
      '...|x: a',
      '...|\\u00e9 a',
      '...|(x) a',
    ],
    ...[
      '...|x \\u0000',
      '...|x a\\rb',
      '...|x a\\nb',
      '...|x \\u007f',
      '...|x  a',
      '...|x a ',
      '...|x \\ta',
      '...|x  ',
    ],
    ...[
      '...|:path /',
      '...|x a|:method GET',
      'x a|...',
      '...|:status 200',
      '...|:protocol websocket',
      '...|:x a',
      '...|: a',
    ],
    ...[
      ':scheme http|:path /|:authority a',
      ':method GET|:path /|:authority a',
      ':method GET|:scheme http|:authority a',
    ],
    ...[':method GET|:scheme http|:path /', ':method |:scheme http|:path /|:authority a'],
    ...[':method GET|:scheme |:path /|:authority a', ':method GET|:scheme http|:path |:authority a'],
    ...[':method GET|:scheme http|:path /|:authority ', ':method G T|:scheme http|:path /|:authority a'],
    ...[':method GET|:scheme 1|:path /|:authority a', ':method GET|:scheme http|:path / a|:authority a'],
    ...[':method GET|:scheme http|:path a|:authority a', ':method GET|:scheme http|:path *|:authority a'],
    ...[':method GET|:scheme http|:path *a|:authority a', ':method OPTIONS|:scheme http|:path *a|:authority a'],
    ...[':method GET|:scheme http|:path /|:authority u@a', ':method GET|:scheme http|:path /|:authority a/b'],
    ...[':method GET|:scheme http|:path /|host u@a', ':method GET|:scheme http|:path /|host ', '...|host a|host a'],
    ...[':method CONNECT|:authority a|:path /', ':method CONNECT|:authority a|:scheme http', ':method CONNECT|host a'],
    ...[
      'connection close',
      'keep-alive a',
      'proxy-connection a',
      'transfer-encoding chunked',
      'upgrade h2c',
      'te gzip',
    ].map((line) => `...|${line}`),
    ...['', '-1', '+1', '1a', '1,1', '0x1', '9223372036854775808', '10000000000000000000000000'].map(
      (length) => `...|content-length ${length}`,
    ),
    ...['...|content-length 1|content-length 1', '...|content-length 1|content-length 2'],
  ];

  it('takes what node:http2 takes, and gives it the same form', async () => {
    requirement('WIRE-4');
    const server = new NodeServer();
    for (const text of accepted) {
      const fields = lines(text);
      assert.ok(parseRequestHead(fields), text);
      assertAgrees(fields, await server.judge(encodeLiterals(fields)));
    }
    server.close();
  });

  it('refuses malformed heads, as node:http2 does unless that leaves away what is wrong', async () => {
    requirement('WIRE-3');
    const server = new NodeServer();
    for (const text of malformed) {
      const fields = lines(text);
      assert.equal(parseRequestHead(fields), undefined, text);
      assertAgrees(fields, await server.judge(encodeLiterals(fields)));
    }
    server.close();
  });

  it('joins the values of a repeated header as node:http2 does, whichever it is', async () => {
    const server = new NodeServer();
    const names = Object.entries(constants).filter(([key]) => key.startsWith('HTTP2_HEADER_'));
    assert.ok(names.length > 70);
    for (const [, name] of names) {
      for (const [first, second] of [
        ['a', 'b'],
        ['trailers', 'trailers'],
      ] as const) {
        const fields = [...target, String(name), first, String(name), second];
        assertAgrees(fields, await server.judge(encodeLiterals(fields)));
      }
    }
    server.close();
  });

  it('agrees with node:http2 about any head', async () => {
    requirement('WIRE-3');
    const server = new NodeServer();
    await fc.assert(
      fc.asyncProperty(anyHead, async (fields) => {
        assertAgrees(fields, await server.judge(encodeLiterals(fields)));
      }),
      { numRuns: 500 },
    );
    server.close();
  });

  it('tells how long the body has to be', () => {
    assert.equal(parseRequestHead(lines('...'))?.contentLength, undefined);
    assert.equal(parseRequestHead(lines('...|content-length 0012'))?.contentLength, 12);
    assert.equal(parseRequestHead(lines(':method CONNECT|:authority a|content-length 7'))?.contentLength, undefined);
  });

  it('takes names of the language for plain names', () => {
    requirement('NFR-4');
    const head = parseRequestHead(lines('...|__proto__ a|constructor b|__proto__ c'));
    assert.deepEqual(Object.keys(head?.headers ?? {}).slice(4), ['__proto__', 'constructor']);
    assert.equal(head?.headers['__proto__'], 'a, c');
  });

  it('needs no more time than a long value is long', () => {
    requirement('NFR-4');
    const start = performance.now();
    for (const value of [`a${' '.repeat(60_000)}`, `a${' \t'.repeat(30_000)}b`, '0'.repeat(60_000)]) {
      for (const name of ['x', 'host', 'content-length', 'te']) parseRequestHead([...target, name, value]);
      parseRequestHead([':method', 'GET', ':scheme', value, ':path', `/${value}`, ':authority', value]);
    }
    assert.ok(performance.now() - start < 500);
  });
});

describe('checkTrailers', () => {
  const wellFormed = ['', 'x a', 'grpc-status 0|x ', '__proto__ a'];
  const malformed = [':path /', ':status 200', 'X a', 'x a\\n', 'connection close', 'te gzip', 'x  a', 'host b', ': a'];

  it('judges as node:http2 does, unless that leaves away what is wrong', async () => {
    requirement('WIRE-3');
    const server = new NodeServer();
    for (const text of [...wellFormed, ...malformed]) {
      const fields = text === '' ? [] : lines(text);
      const verdict = await server.judgeTrailers(encodeLiterals([...target, 'host', 'a']), encodeLiterals(fields));
      const isTaken = typeof verdict === 'object' && verdict.raw.length === fields.length;
      assert.equal(checkTrailers(fields), isTaken, text);
      assert.equal(isTaken, wellFormed.includes(text), text);
    }
    server.close();
  });

  it('refuses a length that comes too late', () => {
    assert.equal(checkTrailers(['content-length', '0']), false);
  });
});

const anyName = fc.oneof(
  fc.constantFrom(
    'host',
    'te',
    'content-length',
    'cookie',
    'set-cookie',
    'etag',
    'x',
    'accept',
    '__proto__',
    'upgrade',
    'age',
  ),
  fc.constantFrom(
    ...[':method', ':scheme', ':path', ':authority', ':status', ':protocol', 'X-y', '', 'a b', 'priority', 'via'],
  ),
  fc.string({ maxLength: 4, unit: fc.integer({ min: 0, max: 255 }).map((code) => String.fromCharCode(code)) }),
);
const anyValue = fc.oneof(
  fc.constantFrom(
    '',
    'a',
    '7',
    '08',
    'trailers',
    '/',
    '*',
    'OPTIONS',
    'CONNECT',
    'GET',
    'http',
    'a.b:1',
    ' ',
    'u=1, i',
  ),
  fc.string({ maxLength: 4, unit: fc.integer({ min: 0, max: 255 }).map((code) => String.fromCharCode(code)) }),
);
const anyTarget = fc
  .tuple(
    fc.constantFrom('GET', 'OPTIONS', 'CONNECT', 'g\u00e9t'),
    fc.constantFrom('http', 'https', 'HTTP', 'x', '1'),
    fc.constantFrom('/', '*', '/a', 'a', '/ '),
    fc.constantFrom('a', '[::1]', 'a b'),
    fc.subarray([0, 2, 4, 6], { minLength: 2 }),
  )
  .map(([method, scheme, path, authority, kept]) => {
    const whole = [':method', method, ':scheme', scheme, ':path', path, ':authority', authority];
    return kept.flatMap((at) => whole.slice(at, at + 2));
  });
const anyHead = fc
  .tuple(
    fc.oneof({ weight: 2, arbitrary: fc.constant(target) }, anyTarget),
    fc.array(fc.tuple(anyName, anyValue), { maxLength: 5 }),
  )
  .map(([start, more]) => [...start, ...more.flat()]);
