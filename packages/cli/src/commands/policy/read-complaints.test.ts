import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { readComplaints } from './read-complaints.ts';

const read = (path: string) => ({ kind: 'path', path, access: 'read' });
const write = (path: string) => ({ kind: 'path', path, access: 'write' });
const host = (name: string) => ({ kind: 'host', host: name });

const sayings: readonly (readonly [says: string, means: object])[] = [
  ['cat: /srv/words: No such file or directory', read('/srv/words')],
  ["ls: cannot access '/srv/my words': No such file or directory", read('/srv/my words')],
  ['cat: notes.md: No such file or directory', read('notes.md')],
  ["Error: ENOENT: no such file or directory, open '/srv/words'", read('/srv/words')],
  ["Error: EACCES: permission denied, open '/srv/words'", read('/srv/words')],
  ["FileNotFoundError: [Errno 2] No such file or directory: '/srv/words'", read('/srv/words')],
  ["PermissionError: [Errno 13] Permission denied: '/srv/words'", read('/srv/words')],
  ['open /srv/words: no such file or directory', read('/srv/words')],
  ['/tool/bin/x.sh: line 3: /srv/words: No such file or directory', read('/srv/words')],
  ['/tool/bin/x.sh: 9: cannot open /srv/words: No such file', read('/srv/words')],
  ['/bin/sh: 1: cannot create /srv/out: Read-only file system', write('/srv/out')],
  ['/tool/bin/x.sh: 4: cannot create /srv/out: Directory nonexistent', write('/srv/out')],
  ["touch: cannot touch '/srv/out': No such file or directory", write('/srv/out')],
  ['mkdir: cannot create directory ‘/srv/out’: Read-only file system', write('/srv/out')],
  ["OSError: [Errno 30] Read-only file system: '/srv/out'", write('/srv/out')],
  ["Error: EROFS: read-only file system, open '/srv/out'", write('/srv/out')],
  ["Error: ENOENT: no such file or directory, mkdir '/srv/out'", write('/srv/out')],
  ['Error: getaddrinfo ENOTFOUND api.example.com', host('api.example.com')],
  ['Error: getaddrinfo EAI_AGAIN api.example.com', host('api.example.com')],
  ['curl: (6) Could not resolve host: api.example.com', host('api.example.com')],
  ['wget: unable to resolve host address ‘api.example.com’', host('api.example.com')],
  ["HTTPSConnectionPool(host='api.example.com', port=443): Max retries", host('api.example.com:443')],
  ['dial tcp: lookup api.example.com on 127.0.0.53:53: no such host', host('api.example.com')],
  ['Sallyport does not connect to api.example.com:443: no rule grants it.', host('api.example.com:443')],
  ['x failed with exit code 1. Sallyport refused to connect it to api.example.com:443.', host('api.example.com:443')],
  ['<urlopen error [Errno -3] Temporary failure in name resolution>', { kind: 'network' }],
  ['connect: Network is unreachable', { kind: 'network' }],
];

for (const [says, means] of sayings) {
  test(`understood: ${says}`, () => assert.deepEqual(readComplaints(`first\n${says}\nlast\n`), [means]));
}

test('each complaint is told once, and other lines are passed over', () => {
  const once = 'cat: /a: No such file or directory\n';
  assert.deepEqual(readComplaints(once.repeat(3)), [read('/a')]);
  assert.deepEqual(readComplaints('reading /srv/words\nconnected to api.example.com\nValueError: bad\n'), []);
  assert.deepEqual(readComplaints('env: ‘nodejs’: No such file or directory'), [read('nodejs')]);
});

test('whatever a program says, reading it ends, and soon', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 200 }), (text) => {
      readComplaints(`${text} No such file or directory: ${text}`);
    }),
  );
  readComplaints(`${"'".repeat(50_000)}: no such file`);
  readComplaints(`${': '.repeat(50_000)}: permission denied`);
  readComplaints(`Sallyport refused to connect it to ${'a.b:1, '.repeat(20_000)}`);
});
