import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LoginHostRefused, openLoginFetch } from './login-fetch.ts';

const own = new URL('https://mcp.example.com/mcp');

test('a login goes to the server itself, to named hosts, and to public names over https', async () => {
  const asked: string[] = [];
  const { fetch, close } = openLoginFetch({
    url: own,
    hosts: ['10.0.0.5:8443', 'localhost:9000'],
    resolve: async (name) => {
      asked.push(name);
      throw new Error('no network here');
    },
  });
  for (const place of ['https://mcp.example.com/.well-known/x', 'https://login.example.org:8443/token']) {
    await assert.rejects(async () => fetch(place), /no network here/);
  }
  assert.deepEqual(asked, ['mcp.example.com', 'login.example.org']);
  const refused = [
    'http://login.example.org/',
    'http://mcp.example.com/',
    'https://10.0.0.5/',
    'http://10.0.0.5:8443/',
    'https://127.0.0.1:9001/',
    'http://localhost:9001/',
    'https://app.localhost/',
    'https://169.254.169.254/latest',
    'https://[::1]/',
    'https://0x7f.1/',
    'https://2130706433/',
    'ftp://login.example.org/',
    'file:///etc/passwd',
  ];
  for (const place of refused) await assert.rejects(async () => fetch(place), LoginHostRefused, place);
  close();
});

test('a public name that leads to an inner address is not connected to', async () => {
  for (const address of ['127.0.0.1', '10.0.0.5', '169.254.169.254', '::1']) {
    const { fetch, close } = openLoginFetch({ url: own, hosts: [], resolve: async () => [address] });
    await assert.rejects(async () => fetch('https://login.example.org/token'), { name: 'HostRefused' });
    close();
  }
});

test('a login that leads from host to host comes to an end', async () => {
  const { fetch, close } = openLoginFetch({ url: own, hosts: [], resolve: async () => ['10.0.0.1'] });
  const hosts = Array.from({ length: 6 }, (_, n) => `https://host-${n}.example/`);
  for (const host of hosts) await assert.rejects(async () => fetch(host), { name: 'HostRefused' });
  await assert.rejects(async () => fetch('https://one-more.example/'), /too many hosts/);
  close();
});
