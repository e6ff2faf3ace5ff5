import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PersonLogin } from './person-login.ts';
import type { StoredLogin } from './stored-login.ts';

const url = 'https://mcp.example.com/mcp';
const stored: StoredLogin = {
  url,
  redirectUrl: 'http://127.0.0.1:1/callback',
  savedAtMs: 0,
  tokens: { access_token: 'new', refresh_token: 'again', token_type: 'Bearer', issuer: 'https://login.example.com' },
  client: { client_id: 'gate', issuer: 'https://login.example.com' },
};

function open(): { readonly login: PersonLogin; readonly asked: string[] } {
  const asked: string[] = [];
  const login = new PersonLogin(
    'web',
    { kind: 'http', url },
    {
      logins: { read: () => stored, save: async () => undefined, remove: async () => undefined },
      readSecret: () => '',
      version: '0.0.0',
      resolve: async (name) => {
        asked.push(name);
        throw new Error('no network here');
      },
    },
  );
  return { login, asked };
}

async function refusedWith(login: PersonLogin, token: string): Promise<Response> {
  const fetch = login.watch(async () => new Response(null, { status: 401 }));
  return fetch(url, { headers: { authorization: `Bearer ${token}` } });
}

test('a request that was refused with a token of before is made again with the present one, and nothing is renewed', async () => {
  const { login, asked } = open();
  await login.onUnauthorized({ response: await refusedWith(login, 'old') });
  assert.deepEqual(asked, []);
  assert.equal(await login.token(), 'new');
});

test('a request that was refused with the present token renews it', async () => {
  const { login, asked } = open();
  await assert.rejects(login.onUnauthorized({ response: await refusedWith(login, 'new') }), /no network here/);
  assert.ok(asked.includes('mcp.example.com'));
});
