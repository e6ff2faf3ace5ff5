import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { SecretGrant } from '../call/secret-grant.ts';
import { grantedSecrets } from './granted-secrets.ts';

const github: SecretGrant = { name: 'GITHUB', tools: ['http.*'], hosts: ['api.github.com', '*.githubusercontent.com'] };
const database: SecretGrant = { name: 'DATABASE', tools: ['reports.run'], hosts: [] };
const grants = [github, database];

test('a secret for a host goes with requests of its tools to that host, and nowhere else', () => {
  assert.deepEqual(grantedSecrets(grants, { tool: 'http.get', host: 'api.github.com' }), ['GITHUB']);
  assert.deepEqual(grantedSecrets(grants, { tool: 'http.get', host: 'API.GitHub.com.' }), ['GITHUB']);
  assert.deepEqual(grantedSecrets(grants, { tool: 'http.get', host: 'raw.githubusercontent.com' }), ['GITHUB']);
  for (const host of [
    'github.com',
    'api.github.com.evil.example',
    'evil-api.github.com',
    'xapi.github.com',
    'githubusercontent.com',
    'evilgithubusercontent.com',
    '.githubusercontent.com',
    '',
    '.',
    '*',
  ]) {
    assert.deepEqual(grantedSecrets(grants, { tool: 'http.get', host }), [], host);
  }
  assert.deepEqual(grantedSecrets(grants, { tool: 'https.get', host: 'api.github.com' }), []);
});

test('a secret for a host is never handed to the tool itself, and one for the tool not to a host', () => {
  assert.deepEqual(grantedSecrets(grants, { tool: 'http.get' }), []);
  assert.deepEqual(grantedSecrets(grants, { tool: 'reports.run' }), ['DATABASE']);
  assert.deepEqual(grantedSecrets(grants, { tool: 'reports.run', host: 'db.internal' }), []);
});

test('a pattern of hosts stands for whole names below one; other forms match nothing', () => {
  for (const pattern of ['*', '*.', 'api.*', '*.*.com', '**.github.com', 'a*.github.com', '']) {
    const wide = [{ ...github, hosts: [pattern] }];
    assert.deepEqual(grantedSecrets(wide, { tool: 'http.get', host: 'api.github.com' }), [], pattern);
  }
});

test('each name comes once, however many grants fit, and none without a grant', () => {
  assert.deepEqual(grantedSecrets([database, { ...database }], { tool: 'reports.run' }), ['DATABASE']);
  assert.deepEqual(grantedSecrets([], { tool: 'reports.run' }), []);
});
