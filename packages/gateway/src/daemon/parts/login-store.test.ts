import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { StoredLogin } from '../../upstreams/login/stored-login.ts';
import { openLoginStore } from './login-store.ts';

const login: StoredLogin = {
  url: 'https://mcp.example/mcp',
  redirectUrl: 'http://127.0.0.1:1/callback',
  savedAtMs: 1,
  tokens: { access_token: 'the-access-token', refresh_token: 'the-refresh-token', token_type: 'Bearer', issuer: 'x' },
  client: { client_id: 'public', client_secret: 'the-client-secret' },
};

function openStore(learned: string[], stored = new Map<string, string>()) {
  return openLoginStore(
    {
      list: () => [...stored.keys()].map((name) => ({ name, updatedAtMs: 0, isReadable: true })),
      secretsFor: (grants) => new Map(grants.map(({ name }) => [name, stored.get(name) ?? ''])),
      set: async (name, value) => void stored.set(name, value),
      remove: async (name) => stored.delete(name),
    },
    (secret) => void learned.push(secret),
  );
}

test('a login comes back as it was kept, and its parts are known before anybody can use them', async () => {
  const stored = new Map<string, string>();
  const [first, second]: [string[], string[]] = [[], []];
  await openStore(first, stored).save('web', login);
  const parts = ['the-access-token', 'the-refresh-token', 'the-client-secret'];
  assert.deepEqual(first, parts);
  // No name that a rule could grant to a tool contains a colon.
  assert.deepEqual([...stored.keys()], ['upstream-login:web']);
  const later = openStore(second, stored);
  assert.deepEqual(later.read('web'), login);
  assert.deepEqual(second, parts);
  assert.equal(later.read('other'), undefined);
  await later.remove('web');
  assert.equal(later.read('web'), undefined);
});

test('what is not a login is ignored', () => {
  for (const text of ['', 'null', '[]', '{"url": 1}', '{"url": "x", "tokens": {}}']) {
    assert.equal(openStore([], new Map([['upstream-login:web', text]])).read('web'), undefined, text);
  }
});
