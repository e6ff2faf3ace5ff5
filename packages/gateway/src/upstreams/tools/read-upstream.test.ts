import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readYaml } from '../../text/read-yaml.ts';
import { YamlReader } from '../../text/yaml-reader.ts';
import { readUpstream } from './read-upstream.ts';

function read(text: string) {
  const source = readYaml({ file: 'github.yaml', bytes: Buffer.from(text) });
  const reader = new YamlReader(source);
  const given = { file: 'github.yaml', stem: 'github', isReserved: (name: string) => name === 'files' };
  const config = source.root && readUpstream(source.root, reader, given);
  return { config, problems: reader.problems.map(({ line, message }) => `${line}: ${message}`) };
}

test('a server to start and a server to reach are read', () => {
  const { config } = read(
    'command: [node, /srv/github.js]\nsecrets: [TOKEN]\nhosts: [api.github.com]\ntools: { a: { risk: low } }',
  );
  assert.equal(config?.name, 'github');
  assert.deepEqual(config.endpoint, {
    kind: 'stdio',
    command: ['node', '/srv/github.js'],
    read: [],
    write: [],
    hosts: ['api.github.com'],
    secrets: ['TOKEN'],
    unixSockets: false,
    environment: {},
  });
  assert.deepEqual(config.assigned.get('a'), { risk: 'low' });
  const browser = read('command: [node]\nunix_sockets: true').config?.endpoint;
  assert.equal(browser?.kind === 'stdio' && browser.unixSockets, true);
  const web = read('name: web\nurl: https://mcp.example.com/mcp\nbearer_secret: TOKEN\nidle_seconds: 10').config;
  assert.deepEqual(web?.endpoint, { kind: 'http', url: 'https://mcp.example.com/mcp', bearerSecret: 'TOKEN' });
  assert.deepEqual([web?.name, web?.idleMs], ['web', 10_000]);
});

test('how the gate logs in and what a server may ask for are read', () => {
  const { config } = read(
    `url: https://mcp.example.com/mcp
may_ask: [elicitation]
oauth:
  grant: client_credentials
  issuer: https://login.example.com
  client_id: gate
  private_key: KEY
  algorithm: ES256
  scopes: [read, 'write:all']
  hosts: [10.0.0.5:8443]`,
  );
  assert.deepEqual(config?.mayAsk, ['elicitation']);
  assert.deepEqual(config.endpoint.kind === 'http' && config.endpoint.oauth, {
    grant: 'client_credentials',
    issuer: 'https://login.example.com',
    clientId: 'gate',
    privateKey: { secret: 'KEY', algorithm: 'ES256' },
    scopes: ['read', 'write:all'],
    hosts: ['10.0.0.5:8443'],
  });
});

const mistakes: readonly (readonly [string, RegExp])[] = [
  ['name: github', /^1: .*one of: a command to start, a package to start, a url/],
  ['command: [a]\nurl: https://x.example', /^1: .*one of: a command to start, a package to start, a url/],
  ['command: [node]\narguments: [a]', /^2: arguments does not go with command/],
  [`package: { name: a, version: '1', sha256: short, entry: a.js }`, /^1: sha256 is the hash of the files/],
  [`package: { name: a, version: '1', sha256: ${'a'.repeat(64)}, entry: ../a.js }`, /^1: entry must be in the package/],
  ['url: https://x.example\nhosts: [a.example]', /^2: hosts does not go with url/],
  ['name: files\nurl: https://x.example', /^1: the gate has tools of its own that are called files/],
  ['name: Not.Good\nurl: https://x.example', /^1: the name must be/],
  ['command: [./server]', /^1: the program must be an absolute path/],
  ['command: [node]\npaths: { read: [relative] }', /^2: a path must be absolute/],
  ['command: [node]\nhosts: ["*.com"]', /^2: \*\.com would grant a whole top-level domain/],
  ['command: [node]\nsecrets: ["a b"]', /^2: secret must be the name of a stored secret/],
  ['command: [node]\nenvironment: { "1A": x }', /^2: the name of a variable/],
  ['command: [node]\nhost: [A]', /^2: unknown key .*did you mean hosts/],
  ['command: [node]\ntools: { a: { risk: none } }', /^2: risk must be one of/],
  ['url: ftp://x.example', /^1: url must begin with https/],
  ['url: https://user:pass@x.example', /^1: url must hold no credentials/],
  ['url: http://x.example\nbearer_secret: T', /^1: a token is only sent over https/],
  ['url: http://169.254.169.254/', /^1: .*link-local/],
  ['url: https://x.example\nbearer_secret: T\noauth: { scopes: [a] }', /^2: bearer_secret does not go with oauth/],
  ['url: http://x.example\noauth: { scopes: [a] }', /^1: a token is only sent over https/],
  ['command: [node]\noauth: { scopes: [a] }', /^2: oauth does not go with command/],
  ['url: https://x.example\noauth: { client_id: a, client_secret: S }', /^2: .*need the issuer/],
  ['url: https://x.example\noauth: { client_secret: S, issuer: https://i.example }', /^2: .*need the client_id/],
  ['url: https://x.example\noauth: { grant: client_credentials }', /^2: client_credentials needs a client_id/],
  ['url: https://x.example\noauth: { issuer: http://i.example }', /^2: issuer must begin with https/],
  ['url: https://x.example\noauth: { client_metadata_url: https://x.example/ }', /^2: .*name a document/],
  ['url: https://x.example\noauth: { algorithm: RS256 }', /^2: algorithm goes with private_key/],
  ['url: https://x.example\noauth: { scopes: ["a b"] }', /^2: a scope has no spaces/],
  ['url: https://x.example\noauth: { hosts: [10.0.0.1] }', /^2: .*needs a port/],
  ['url: https://x.example\noauth: { redirect_port: 80 }', /^2: redirect_port must be a whole number from 1024/],
  ['url: https://x.example\nmay_ask: [roots]', /^2: roots does not go with url/],
  ['command: [node]\nmay_ask: [everything]', /^2: what it may ask must be one of elicitation, sampling, roots/],
];

for (const [text, problem] of mistakes) {
  test(`the mistake in ${JSON.stringify(text)} is told with its line`, () => {
    const { config, problems } = read(text);
    assert.equal(config, undefined);
    assert.match(problems.join('\n'), problem);
  });
}
