import assert from 'node:assert/strict';
import { test } from 'node:test';
import { requirement } from '../../../../test/requirement.ts';
import { isSecretName } from './secret-names.ts';

test('names that say that they hold a secret are recognised in every way of writing them', () => {
  requirement('AUD-4');
  for (const name of [
    'password',
    'PASSWORD',
    'userPassword',
    'db_pass',
    'dbpassword',
    'X-Api-Key',
    'apikey',
    'myApiKey',
    'access_token',
    'Set-Cookie',
    'clientSecret',
    'client.secret',
    'private_key',
    'AWS_SECRET_ACCESS_KEY',
    'credentials',
    'connectionString',
    'Authorization',
    'proxy-authorization',
    'otp',
    'passphrase',
    'seed phrase',
    'refresh_token_old',
    '--api-key',
  ]) {
    assert.ok(isSecretName(name), name);
  }
});

test('names that are about secrets, or only sound like them, are not', () => {
  for (const name of [
    'path',
    'tokenizer',
    'token_count',
    'max_token_limit',
    'token_type',
    'password_file',
    'PASSWORD_POLICY',
    'secret_name',
    'tokenExpiresAt',
    'bypass',
    'compass',
    'secretary',
    'keyboard',
    'key',
    'author',
  ]) {
    assert.ok(!isSecretName(name, 'x'), name);
  }
});

test('several secrets are secret, the number of them is not', () => {
  assert.ok(isSecretName('tokens', ['a']));
  assert.ok(isSecretName('api_keys', { a: 'b' }));
  assert.ok(!isSecretName('max_tokens', 4096));
  assert.ok(!isSecretName('tokens', 17));
});

test('names without end are neither remembered nor looked at to the end', () => {
  for (let n = 0; n < 5000; n++) assert.ok(!isSecretName(`name-${n}`));
  assert.ok(isSecretName('password'));
  assert.ok(!isSecretName(`${'x_'.repeat(100_000)}password`));
});
