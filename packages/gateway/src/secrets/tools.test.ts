import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { TestContext } from 'node:test';
import type { JsonObject } from '@sallyport/contract';
import { requirement } from '../../../../test/requirement.ts';
import type { ToolContext } from '../call/tool.ts';
import { Registry } from '../registry/registry.ts';
import { createSecretsKey } from './seal-secret.ts';
import { SecretStore } from './secret-store.ts';
import { operator } from '../stages/facts.test-kit.ts';
import { openTestStore } from '../stages/store.test-kit.ts';
import { secretTools } from './tools.ts';

async function openTools(t: TestContext) {
  const secrets = await SecretStore.open({
    index: await openTestStore(t),
    key: createSecretsKey(),
    learn: () => undefined,
  });
  const registry = new Registry();
  for (const tool of secretTools(secrets)) registry.register(tool);
  const context = { session: operator } as ToolContext;
  const find = (name: string) => registry.find(`secrets.${name}`) ?? assert.fail(name);
  const call = async (name: string, args: JsonObject = {}): Promise<JsonObject> => {
    assert.deepEqual(find(name).input.check(args), []);
    const output = await find(name).tool.run(args, context);
    assert.deepEqual(find(name).output.check(output), []);
    return output as JsonObject;
  };
  return { registry, find, call, context };
}

test('secrets are set, listed without their values, and removed', async (t) => {
  requirement('AUD-4');
  const { call } = await openTools(t);
  assert.deepEqual(await call('set', { name: 'GITHUB_TOKEN', value: 'plain words' }), { name: 'GITHUB_TOKEN' });
  const { secrets } = (await call('list')) as { secrets: { name: string; updatedAtMs: string; readable: boolean }[] };
  assert.deepEqual(
    secrets.map(({ name, readable }) => [name, readable]),
    [['GITHUB_TOKEN', true]],
  );
  assert.ok(Number(secrets[0]?.updatedAtMs) > 0);
  assert.ok(!JSON.stringify(secrets).includes('plain words'));
  assert.deepEqual(await call('remove', { name: 'GITHUB_TOKEN' }), { name: 'GITHUB_TOKEN' });
  assert.deepEqual(await call('list'), { secrets: [] });
  await assert.rejects(call('remove', { name: 'GITHUB_TOKEN' }), { code: 'NOT_FOUND' });
});

test('every tool is for operators only, and the value is declared secret', async (t) => {
  const { registry, find } = await openTools(t);
  assert.deepEqual(
    registry.all.map(({ definition }) => [definition.name, definition.audience]),
    ['secrets.list', 'secrets.remove', 'secrets.set'].map((name) => [name, 'operator']),
  );
  assert.deepEqual(find('set').tool.definition.secretArguments, ['value']);
});

test('nothing that is recorded or shown holds the value', async (t) => {
  requirement('AUD-4');
  const { find, context } = await openTools(t);
  const args = { name: 'A', value: 'plain words' };
  const { tool } = find('set');
  const texts = [await tool.preview(args, context), tool.summarize(args, { name: 'A' }), await tool.run(args, context)];
  assert.ok(!JSON.stringify(texts).includes('plain words'));
  assert.match((await find('remove').tool.preview({ name: 'A' }, context)).detail, /cannot be brought back/);
});

test('values too short to be kept out of texts, and names that are not valid, are refused', async (t) => {
  const { find } = await openTools(t);
  for (const [args, field, rule] of [
    [{ name: 'A', value: 'short12' }, 'value', 'min_length'],
    [{ name: 'A', value: 'x'.repeat(65_537) }, 'value', 'max_length'],
    [{ name: '1A', value: 'long enough' }, 'name', 'pattern'],
    [{ name: 'A B', value: 'long enough' }, 'name', 'pattern'],
    [{ name: 'A\n', value: 'long enough' }, 'name', 'pattern'],
    [{ value: 'long enough' }, 'name', 'required'],
  ] as const) {
    const found = find('set').input.check({ ...args });
    assert.ok(
      found.some((violation) => violation.field === field && violation.rule === rule),
      JSON.stringify(found),
    );
    assert.ok(!JSON.stringify(found).includes('long enough') && !JSON.stringify(found).includes('short12'));
  }
});
