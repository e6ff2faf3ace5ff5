import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { TestContext } from 'node:test';
import type { JsonObject } from '@sallyport/contract';
import { requirement } from '../../../../../test/requirement.ts';
import type { Door } from '../../call/call.ts';
import { isRefusal } from '../../call/refusal.ts';
import type { Session } from '../../call/session.ts';
import type { ToolContext } from '../../call/tool.ts';
import { Registry } from '../../registry/registry.ts';
import { operator } from '../../stages/facts.test-kit.ts';
import { authenticate } from '../../sessions/authenticate.ts';
import { createTestSession, openTestStore } from '../../stages/store.test-kit.ts';
import { peopleTools } from './people.ts';

type Added = Record<'personId' | 'name' | 'credential', string>;

async function openTools(t: TestContext) {
  const store = await openTestStore(t);
  const first = await createTestSession(store, { principal: 'operator', agent: 'operator' });
  const registry = new Registry();
  for (const tool of peopleTools(store, {
    workspace: '/workspace',
    endSession: store.endSession,
    address: () => 'http://127.0.0.1:1',
  }))
    registry.register(tool);
  const find = (name: string) => registry.find(`people.${name}`) ?? assert.fail(name);
  const call = async <Output>(name: string, args: JsonObject = {}, session: Session = first): Promise<Output> => {
    assert.deepEqual(find(name).input.check(args), []);
    const output = await find(name).tool.run(args, { session } as ToolContext);
    assert.deepEqual(find(name).output.check(output), []);
    return output as Output;
  };
  const enter = (credential: string, door: Door = 'operator-socket') =>
    authenticate(store, { credential, door }, Date.now());
  return { store, first, registry, find, call, enter };
}

test('each person has a credential of their own, of which only the hash is stored', async (t) => {
  const { call, enter, store } = await openTools(t);
  const ada = await call<Added>('add', { name: 'ada' });
  const bob = await call<Added>('add', { name: 'bob@example.com' });
  assert.notEqual(ada.credential, bob.credential);
  for (const { name, credential, personId: id } of [ada, bob]) {
    const session = enter(credential);
    if (isRefusal(session)) assert.fail(session.message);
    assert.deepEqual([session.agent, session.principal, session.id], [name, 'operator', id]);
    assert.deepEqual(enter(credential, 'tcp'), session);
    const elsewhere = enter(credential, 'agent-socket');
    assert.ok(isRefusal(elsewhere) && elsewhere.code === 'WRONG_DOOR');
    assert.ok(!JSON.stringify(await store.listSessions()).includes(credential));
  }
});

test('a revoked credential opens nothing, and the others stay', async (t) => {
  const { call, enter } = await openTools(t);
  const ada = await call<Added>('add', { name: 'ada' });
  const bob = await call<Added>('add', { name: 'bob' });
  assert.deepEqual(await call('revoke', { person_id: ada.personId }), { personId: ada.personId, revoked: true });
  const refused = enter(ada.credential);
  assert.ok(isRefusal(refused) && refused.code === 'SESSION_ENDED');
  assert.ok(!isRefusal(enter(bob.credential)));
  assert.deepEqual(await call('revoke', { person_id: ada.personId }), { personId: ada.personId, revoked: false });
});

test('nobody revokes the first operator or themselves, and agents are not people', async (t) => {
  const { call, store, first } = await openTools(t);
  const ada = await call<Added>('add', { name: 'ada' });
  const asAda = store.findSession(ada.personId);
  const agent = await createTestSession(store, { agent: 'coder' });
  for (const [id, by, code] of [
    [first.id, first, 'EXECUTION_ERROR'],
    [first.id, asAda, 'EXECUTION_ERROR'],
    [ada.personId, asAda, 'EXECUTION_ERROR'],
    [agent.id, first, 'NOT_FOUND'],
    ['nobody', first, 'NOT_FOUND'],
  ] as const) {
    await assert.rejects(call('revoke', { person_id: id }, by), { code }, id);
    assert.notEqual(store.findSession(id)?.status, 'ended');
  }
});

test('a name belongs to one person at a time', async (t) => {
  const { call } = await openTools(t);
  const ada = await call<Added>('add', { name: 'ada' });
  for (const name of ['ada', 'ADA', 'operator', 'Operator']) {
    await assert.rejects(call('add', { name }), { code: 'ALREADY_EXISTS' }, name);
  }
  await call('revoke', { person_id: ada.personId });
  assert.notEqual((await call<Added>('add', { name: 'ada' })).personId, ada.personId);
});

test('the list shows people without credentials, and the revoked on request', async (t) => {
  const { call, store } = await openTools(t);
  const ada = await call<Added>('add', { name: 'ada' });
  const bob = await call<Added>('add', { name: 'bob' });
  await createTestSession(store, { agent: 'coder' });
  await call('revoke', { person_id: ada.personId });
  const list = async (args: JsonObject) =>
    (await call<{ people: { name: string; status: string }[] }>('list', args)).people.map(({ name, status }) => [
      name,
      status,
    ]);
  assert.deepEqual(await list({ include_revoked: false }), [
    ['operator', 'active'],
    ['bob', 'active'],
  ]);
  assert.deepEqual(await list({ include_revoked: true }), [
    ['operator', 'active'],
    ['ada', 'revoked'],
    ['bob', 'active'],
  ]);
  assert.ok(!JSON.stringify(await call('list', { include_revoked: true })).includes(bob.credential));
});

test('what is recorded or shown holds no credential', async (t) => {
  requirement('AUD-4');
  const { call, find } = await openTools(t);
  const ada = await call<Added>('add', { name: 'ada' });
  assert.equal(find('add').tool.summarize({ name: 'ada' }, ada), `added ada as ${ada.personId}`);
  const context = { session: operator } as ToolContext;
  const effect = await find('revoke').tool.preview({ person_id: ada.personId }, context);
  assert.match(effect.summary, /ada/);
  assert.equal(effect.undoable, false);
});

test('who takes the name of somebody who left does not take their office', async (t) => {
  const { call, store } = await openTools(t);
  const sue = await call<Added>('add', { name: 'sue' });
  await store.changeOrganisation({ kind: 'put-team', team: { name: 'web', senior: 'sue' } });
  await call('revoke', { person_id: sue.personId });
  await assert.rejects(call('add', { name: 'sue' }), { code: 'ALREADY_EXISTS', message: /still has an office/ });
  await store.changeOrganisation({ kind: 'put-team', team: { name: 'web' } });
  await call('add', { name: 'sue' });
});
