import assert from 'node:assert/strict';
import { isIP } from 'node:net';
import { test } from 'node:test';
import fc from 'fast-check';
import { checkHost } from './check-host.ts';
import { parseHostPattern } from './host-pattern.ts';
import { HostRefused } from './host-refused.ts';
import { HostSyntaxError } from './parse-host.ts';

const patternsOf = (...texts: string[]) => texts.map(parseHostPattern);
const granted = patternsOf(
  'api.example.com',
  '*.example.org',
  'deep.example.net:8443',
  'localhost:5432',
  '10.0.0.5:8080',
);

function isGranted(authority: string, patterns = granted): boolean {
  try {
    checkHost(authority, patterns);
    return true;
  } catch (error) {
    assert.ok(error instanceof HostRefused, String(error));
    return false;
  }
}

test('a name is granted with the ports of the web, or with the port that the rule names', () => {
  for (const yes of ['api.example.com:443', 'api.example.com:80', 'API.Example.COM:443', 'deep.example.net:8443']) {
    assert.ok(isGranted(yes), yes);
  }
  for (const no of ['api.example.com:8443', 'api.example.com:22', 'deep.example.net:443', 'deep.example.net:80']) {
    assert.ok(!isGranted(no), no);
  }
});

test('a star stands for whole labels, one or more', () => {
  for (const yes of ['a.example.org:443', 'a.b.c.example.org:80', 'xn--bcher-kva.example.org:443']) {
    assert.ok(isGranted(yes), yes);
  }
  for (const no of ['example.org:443', 'evilexample.org:443', 'a.example.org.evil.com:443', '.example.org:443']) {
    assert.ok(!isGranted(no), no);
  }
});

test('nothing is granted where no rule grants anything', () => {
  assert.ok(!isGranted('api.example.com:443', []));
});

const tricks = {
  'a NUL in the name': ['api.example.com\0:443', 'api.example.com\0.evil.com:443', '\0api.example.com:443'],
  'a dot at the end': ['api.example.com.:443', 'api.example.com..:443', 'a.example.org.:443'],
  'a dot too many': ['api..example.com:443', '.api.example.com:443', '..example.org:443'],
  'an address': ['127.0.0.1:443', '169.254.169.254:80', '8.8.8.8:443', '10.0.0.5:443', '10.0.0.6:8080'],
  'an address as one number': ['2130706433:443', '017700000001:443', '0x7f000001:443', '0X7F000001:443'],
  'an address in other bases or fewer parts': ['0177.0.0.1:443', '0x7f.0.0.1:443', '127.1:443', '010.0.0.5:8080'],
  'an address below a granted name': ['1.2.3.4.example.org.1:443', 'a.example.org.0x1:443'],
  'an IPv6 address': ['[::1]:443', '::1:443', '[::ffff:127.0.0.1]:443', '[fe80::1%25lo]:443', '[::1]', '[]:443'],
  'user information': ['user@api.example.com:443', 'api.example.com:443@evil.com:443', 'api.example.com@evil.com:443'],
  'white space': [' api.example.com:443', 'api.example.com :443', 'api.example.com:443 ', 'api.example.com\t:443'],
  'line breaks': ['api.example.com:443\r\nX: y', 'api.example.com\n:443', 'api.example.com:443\n'],
  'something more than host and port': ['api.example.com:443/x', 'api.example.com/:443', 'http://api.example.com:443'],
  'a query, a fragment, an escape or a backslash': [
    'api.example.com?:443',
    'api.example.com#:443',
    '%61pi.example.com:443',
    'evil.com\\.example.org:443',
  ],
  'other scripts, and letters that only look like ours': [
    'bücher.example.org:443',
    '\u0430pi.example.com:443',
    'api\u3002example\u3002com:443',
    '\u212a.example.org:443',
  ],
  'A-labels that encode nothing': ['xn--.example.org:443', 'xn--a.example.org:443', 'xn--zz--99999999.example.org:443'],
  'misplaced hyphens and underscores': ['-a.example.org:443', 'a-.example.org:443', 'a_b.example.org:443'],
  'overlong names and labels': [`${'a'.repeat(64)}.example.org:443`, `${'a.'.repeat(130)}example.org:443`],
  'ports that do not exist': [
    'api.example.com',
    'api.example.com:',
    'api.example.com:0',
    'api.example.com:0443',
    'api.example.com:+443',
    'api.example.com:443.0',
    'api.example.com:65979',
    'api.example.com:4_43',
    'api.example.com:443:443',
    'api.example.com:\u0664\u0664\u0663',
  ],
  'nothing at all': ['', ':', ':443', '*', '*.example.org:443', '*:443'],
  'other spellings of localhost': [
    'LOCALHOST:5432',
    'localhost.:5432',
    'localhost:5433',
    'a.localhost:5432',
    '127.0.0.1:5432',
  ],
};

for (const [trick, authorities] of Object.entries(tricks)) {
  test(`${trick}: refused`, () => {
    for (const authority of authorities) assert.ok(!isGranted(authority), JSON.stringify(authority));
  });
}

test('an address is refused as one, in both families', () => {
  for (const address of ['127.0.0.1:80', '[::1]:80', '[fe80::1]:443']) {
    assert.throws(() => checkHost(address, granted), /it is an address, not a name/, address);
  }
});

test('a refusal names what was asked for in printable text, and the line that would grant it', () => {
  const refusalOf = (authority: string): HostRefused => {
    try {
      checkHost(authority, granted);
    } catch (error) {
      assert.ok(error instanceof HostRefused);
      return error;
    }
    assert.fail('granted');
  };
  const unknown = refusalOf('Other.example.com:8080');
  assert.equal(unknown.target, 'other.example.com:8080');
  assert.match(unknown.message, /no rule grants it/);
  const line = /hosts: \['(.*)'\]/.exec(unknown.remedy ?? '')?.[1] ?? '';
  assert.ok(isGranted('other.example.com:8080', patternsOf(line)));

  const strange = refusalOf('a\r\nb\0\u001b[31m:443');
  assert.match(strange.target, /^[\x21-\x7e]+$/);
  assert.ok(refusalOf('a'.repeat(100_000)).target.length < 400);
  assert.equal(refusalOf('127.0.0.1:443').remedy, undefined);
});

test('a rule that names an address and a port grants exactly these', () => {
  assert.deepEqual(checkHost('10.0.0.5:8080', granted), { host: '10.0.0.5', port: 8080, addresses: ['10.0.0.5'] });
  const { addresses } = checkHost('localhost:5432', granted);
  assert.deepEqual(addresses, ['127.0.0.1', '::1']);
  const six = checkHost('[fd00::5]:80', patternsOf('[fd00::5]:80'));
  assert.deepEqual(six, { host: '[fd00::5]', port: 80, addresses: ['fd00::5'] });
});

test('patterns that grant more than they seem to, or nothing, are errors', () => {
  const tooMuch = ['*', '*.*', '*.com', '**.example.com', 'a.*.com', 'api*.example.com', '*example.com', '*.', '*:443'];
  const portless = ['localhost', '10.0.0.5', '[::1]', '127.0.0.1'];
  const never = ['169.254.169.254:80', '0.0.0.0:80', '255.255.255.255:80', '224.0.0.1:80', '100.100.100.200:80'];
  const neverSix = ['[::]:80', '[fe80::1]:80', '[::ffff:127.0.0.1]:80', '[::ffff:7f00:1]:80', '[64:ff9b::1]:80'];
  const misspelt = [
    '[::0001]:80',
    '[FD00::5]:80',
    '0x7f.1:80',
    '010.0.0.5:80',
    'http://a.b',
    'a.b/',
    'a.b:x',
    '',
    ' a.b',
  ];
  for (const text of [...tooMuch, ...portless, ...never, ...neverSix, ...misspelt]) {
    assert.throws(() => parseHostPattern(text), HostSyntaxError, text);
  }
});

const scraps = [
  '.',
  ':',
  '@',
  '/',
  '\\',
  '[',
  ']',
  '%',
  '?',
  '#',
  ' ',
  '\t',
  '\r\n',
  '\0',
  '\u3002',
  '\u212a',
  '\u00df',
];
const scrap = fc.oneof(
  fc.constantFrom(...scraps, '127.0.0.1', 'evil.com', ':443', 'user:pass@', '..', '0x7f', '0'),
  fc.constantFrom('a', 'Z', '9', '-', 'xn--', 'xn--bcher-kva.', 'sub.', 'www-2.'),
  fc.string({ unit: 'binary', maxLength: 2 }),
);
/** Granted as they stand, and sometimes still granted with something put in. */
const almostGranted = fc
  .tuple(
    fc.constantFrom('api.example.com:443', 'a.example.org:80', 'a.example.org:1443', 'x.y.example.org:443', ''),
    fc.array(fc.tuple(fc.nat(24), scrap), { maxLength: 2 }),
  )
  .map(([text, insertions]): string =>
    insertions.reduce<string>((whole, [at, what]) => whole.slice(0, at) + what + whole.slice(at), text),
  );

test('whatever is granted, another reader of URLs takes it for the same host and port', () => {
  const patterns = patternsOf('api.example.com', '*.example.org', '*.example.org:1443');
  let seen = 0;
  fc.assert(
    fc.property(almostGranted, (authority) => {
      if (!isGranted(authority, patterns)) return;
      seen += 1;
      const { host, port } = checkHost(authority, patterns);
      const url = new URL(`http://${authority}/`);
      assert.equal(url.hostname, host);
      assert.equal(Number(url.port || 80), port);
      assert.equal(url.username + url.password, '');
      assert.equal(isIP(url.hostname), 0);
      assert.ok(host === 'api.example.com' || host.endsWith('.example.org'));
    }),
    { numRuns: 5000 },
  );
  assert.ok(seen > 500);
});

test('well-formed names are granted, whatever they are', () => {
  fc.assert(
    fc.property(fc.domain(), fc.integer({ min: 1, max: 65_535 }), (name, port) => {
      fc.pre(name.length < 240 && !name.split('.').some((label) => label.startsWith('xn--')));
      const authority = `${name}:${port}`;
      assert.ok(isGranted(authority, patternsOf(authority)));
      assert.ok(isGranted(`a.${authority}`, patternsOf(`*.${authority}`)));
      assert.ok(!isGranted(authority, patternsOf(`*.${authority}`)));
    }),
  );
});
