import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { containsHost, overlapsHost, parseHost } from './host-pattern.ts';
import type { HostPattern } from './host-pattern.ts';

function host(text: string): HostPattern {
  const parsed = parseHost(text);
  assert.ok(parsed !== undefined, `${text} is no host`);
  return parsed;
}

test('a host has one spelling: small letters', () => {
  assert.equal(host('API.Example.COM').text, 'api.example.com');
  assert.deepEqual(host('*.example.com:8443'), {
    text: '*.example.com:8443',
    name: 'example.com',
    below: true,
    isAddress: false,
    port: 8443,
  });
  for (const text of [
    'localhost',
    'localhost:5432',
    '10.0.0.5:8080',
    '[fd00::5]',
    '[fd00::5]:8080',
    'xn--bcher-kva.de',
  ])
    assert.equal(host(text).text, text);
});

test('what is not a host name is refused', () => {
  const odd = [
    ...['', '*', '.', '..', 'a..b', '.a', 'a.b..', '*.', 'a.*', '*a.com', '*.*.com', '**.com', 'a b', 'a/b', 'a@b'],
    ...[
      '::1',
      '[::1',
      '[FD00::5]',
      '[fd00:0::5]',
      '[::ffff:7f00:1]',
      '[64:ff9b::7f00:1]',
      '127.1',
      '0x7f.1',
      '1.2.3.4.5',
      '*.10.0.0.5',
      'a_b.com',
      '_a.com',
    ],
    ...[
      'example.com.',
      'example.com.:8443',
      'xn--a',
      'xn--',
      'a:',
      'a:0',
      'a:65536',
      'a:080',
      'a:b',
      'a:1:2',
      'http://a',
      'a?b',
      'a#b',
      '-a.com',
      'a-.com',
    ],
    ...['ex\u00e4mple.com', 'exam\u212aple.com', 'a\0b', 'a\n', 'a%2eb', `${'a'.repeat(64)}.com`, 'a.'.repeat(130)],
  ];
  for (const text of odd) assert.equal(parseHost(text), undefined, JSON.stringify(text));
});

const relations: readonly (readonly [pattern: string, host: string, contains: boolean, overlaps: boolean])[] = [
  ['example.com', 'example.com', true, true],
  ['example.com', 'EXAMPLE.com', true, true],
  ['[fd00::5]:8080', '[fd00::5]:8080', true, true],
  ['10.0.0.5', '10.0.0.6', false, false],
  ['example.com', 'api.example.com', false, false],
  ['example.com', 'evil-example.com', false, false],
  ['example.com', 'example.com.evil.org', false, false],
  ['*.example.com', 'api.example.com', true, true],
  ['*.example.com', 'a.b.example.com', true, true],
  ['*.example.com', 'example.com', false, false],
  ['*.example.com', 'evilexample.com', false, false],
  ['*.example.com', '*.example.com', true, true],
  ['*.example.com', '*.api.example.com', true, true],
  ['*.api.example.com', '*.example.com', false, true],
  ['api.example.com', '*.example.com', false, true],
  ['example.com', '*.example.com', false, false],

  // Ports: an opening without one is for 443 and 80, a closing for any
  ['example.com', 'example.com:443', true, true],
  ['example.com', 'example.com:80', true, true],
  ['example.com', 'example.com:8443', false, true],
  ['example.com:8443', 'example.com:8443', true, true],
  ['example.com:8443', 'example.com', false, true],
  ['example.com:443', 'example.com', false, true],
  ['example.com:8443', 'example.com:8444', false, false],
];

test('hosts are compared by whole labels and by port', () => {
  for (const [pattern, other, contains, overlaps] of relations) {
    assert.equal(containsHost(host(pattern), host(other)), contains, `${pattern} contains ${other}`);
    assert.equal(overlapsHost(host(pattern), host(other)), overlaps, `${pattern} overlaps ${other}`);
    assert.equal(overlapsHost(host(other), host(pattern)), overlaps, `${other} overlaps ${pattern}`);
  }
});

test('what contains a host overlaps with it', () => {
  const text = fc.constantFrom('a.c', '*.a.c', 'b.a.c', '*.b.a.c', 'a.c:8443', '*.a.c:8443', 'c', '*.c');
  fc.assert(
    fc.property(text, text, (a, b) => {
      assert.ok(!containsHost(host(a), host(b)) || overlapsHost(host(a), host(b)));
    }),
  );
});
