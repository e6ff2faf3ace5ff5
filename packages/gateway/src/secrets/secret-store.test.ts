import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { TestContext } from 'node:test';
import { requirement } from '../../../../test/requirement.ts';
import { Redactor } from '../redaction/redact.ts';
import { openTestStore } from '../stages/store.test-kit.ts';
import { createSecretsKey } from './seal-secret.ts';
import { SecretStore } from './secret-store.ts';

async function openSecrets(t: TestContext, key = createSecretsKey()) {
  const index = await openTestStore(t);
  const redactor = new Redactor();
  const learn = (value: string): void => redactor.learn(value);
  return { index, redactor, key, reopen: (other = key) => SecretStore.open({ index, key: other, learn }) };
}

const grants = [{ name: 'TOKEN', tools: ['http.*'], hosts: ['api.example.com'] }];
const use = { tool: 'http.get', host: 'api.example.com' };

test('a value comes back for a use that is granted, and for no other', async (t) => {
  const { reopen } = await openSecrets(t);
  const secrets = await reopen();
  await secrets.set('TOKEN', 'first value');
  await secrets.set('OTHER', 'other value');
  assert.deepEqual([...secrets.secretsFor(grants, use)], [['TOKEN', 'first value']]);
  assert.deepEqual([...secrets.secretsFor(grants, { tool: 'files.read' })], []);
  assert.deepEqual([...secrets.secretsFor([], use)], []);
});

test('a value survives a restart and is replaced by a later one', async (t) => {
  const { reopen } = await openSecrets(t);
  await (await reopen()).set('TOKEN', 'first value');
  await Promise.all([(await reopen()).set('TOKEN', 'second value'), (await reopen()).set('TOKEN', 'third value')]);
  assert.deepEqual([...(await reopen()).secretsFor(grants, use)], [['TOKEN', 'third value']]);
  assert.equal((await reopen()).list().length, 1);
});

test('the store holds no value, and nothing shows one from the moment it is set, nor after a restart', async (t) => {
  requirement('AUD-4');
  const { index, redactor, key, reopen } = await openSecrets(t);
  const secrets = await reopen();
  const setting = secrets.set('TOKEN', 'plain words');
  assert.equal(redactor.redactText('it says plain words'), 'it says [redacted]');
  await setting;
  const [stored] = await index.listSecrets();
  assert.ok(!Buffer.from(stored?.ciphertext ?? []).includes('plain words'));

  const fresh = new Redactor();
  await SecretStore.open({ index, key, learn: (value) => fresh.learn(value) });
  assert.equal(fresh.redactText(`it says plain words, ${key}`), 'it says [redacted], [redacted]');
});

test('the list has names and times, and says which secrets the present key does not open', async (t) => {
  const { reopen } = await openSecrets(t);
  const beforeMs = Date.now();
  await (await reopen()).set('TOKEN', 'the value');
  const [listed, ...others] = (await reopen()).list();
  assert.deepEqual(others, []);
  assert.ok(listed !== undefined && listed.updatedAtMs >= beforeMs && listed.updatedAtMs <= Date.now());
  assert.deepEqual({ ...listed, updatedAtMs: 0 }, { name: 'TOKEN', updatedAtMs: 0, isReadable: true });

  const withOtherKey = await reopen(createSecretsKey());
  assert.equal(withOtherKey.list()[0]?.isReadable, false);
  assert.throws(() => withOtherKey.secretsFor(grants, use), {
    code: 'EXECUTION_ERROR',
    message: /cannot be decrypted/,
  });
  await withOtherKey.set('TOKEN', 'the value again');
  assert.deepEqual([...withOtherKey.secretsFor(grants, use)], [['TOKEN', 'the value again']]);
});

test('a removed secret is gone, and a use that needs it fails with what to do', async (t) => {
  const { reopen } = await openSecrets(t);
  const secrets = await reopen();
  await secrets.set('TOKEN', 'the value');
  assert.equal(await secrets.remove('TOKEN'), true);
  assert.equal(await secrets.remove('TOKEN'), false);
  assert.deepEqual(secrets.list(), []);
  assert.throws(() => secrets.secretsFor(grants, use), {
    code: 'EXECUTION_ERROR',
    textForOperators: /is not set.*secret set TOKEN/,
  });
});
