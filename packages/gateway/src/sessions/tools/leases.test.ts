import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { TestContext } from 'node:test';
import type { JsonObject } from '@sallyport/contract';
import { requirement } from '../../../../../test/requirement.ts';
import type { ToolContext } from '../../call/tool.ts';
import { Registry } from '../../registry/registry.ts';
import { operator } from '../../stages/facts.test-kit.ts';
import { createTestSession, openTestStore } from '../../stages/store.test-kit.ts';
import { leaseTools } from './leases.ts';

async function openTools(t: TestContext) {
  const store = await openTestStore(t);
  const session = await createTestSession(store);
  const registry = new Registry();
  for (const tool of leaseTools(store)) registry.register(tool);
  const call = async (name: string, args: JsonObject): Promise<JsonObject> => {
    const found = registry.find(`leases.${name}`) ?? assert.fail(name);
    assert.deepEqual(found.input.check(args), []);
    const output = await found.tool.run(args, { session: operator } as ToolContext);
    assert.deepEqual(found.output.check(output), []);
    return output as JsonObject;
  };
  return { store, session, call };
}

test('a granted lease replaces the former one for good', async (t) => {
  requirement('PERM-2');
  const { store, session, call } = await openTools(t);
  const scope = { tools: ['files.read'], paths: ['/work/./a/'], git_operations: ['DIFF'] };
  const granted = await call('grant', { session_id: session.id, ...scope, expires_in_minutes: 5, max_calls: 3 });
  const { lease } = granted as { lease: JsonObject };
  const shown = { tools: ['files.read'], paths: { names: ['/work/a'] }, gitOperations: { names: ['DIFF'] } };
  assert.deepEqual([lease['scope'], lease['budget']], [shown, { maxCalls: '3' }]);
  assert.equal(lease['status'], 'in force');
  const { leases } = (await call('show', { session_id: session.id })) as unknown as { leases: JsonObject[] };
  assert.deepEqual(
    leases.map(({ status }) => status),
    ['in force', 'ended'],
  );
  assert.equal(store.findSession(session.id)?.lease.tools[0], 'files.read');
});

test('a revoked lease leaves a session that can call nothing', async (t) => {
  const { store, session, call } = await openTools(t);
  assert.deepEqual(await call('revoke', { session_id: session.id }), { sessionId: session.id, revoked: true });
  assert.deepEqual(await call('revoke', { session_id: session.id }), { sessionId: session.id, revoked: false });
  assert.ok(store.findSession(session.id)?.lease.endedAtMs);
});

test('leases are for agents that are there, and paths of a lease are absolute', async (t) => {
  const { store, session, call } = await openTools(t);
  await assert.rejects(call('grant', { session_id: 'nobody', tools: ['*'] }), { code: 'NOT_FOUND' });
  const person = await createTestSession(store, { principal: 'operator' });
  await assert.rejects(call('revoke', { session_id: person.id }), { code: 'EXECUTION_ERROR' });
  for (const path of ['relative', '/a\0b', '~']) {
    const args = { session_id: session.id, tools: ['*'], paths: [path] };
    await assert.rejects(call('grant', args), { code: 'INVALID_ARGUMENTS' }, path);
  }
  await store.endSession(session.id);
  await assert.rejects(call('grant', { session_id: session.id, tools: ['*'] }), { code: 'EXECUTION_ERROR' });
});
