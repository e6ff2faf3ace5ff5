import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { test } from 'node:test';
import type { TestContext } from 'node:test';
import type { Json, JsonObject } from '@sallyport/contract';
import { requirement } from '../../../../../test/requirement.ts';
import { isRefusal } from '../../call/refusal.ts';
import { modes } from '../../call/session.ts';
import type { Session } from '../../call/session.ts';
import { confirmations, risks, ToolFailure } from '../../call/tool.ts';
import type { ToolContext } from '../../call/tool.ts';
import { Registry } from '../../registry/registry.ts';
import { operator, sessionOf } from '../../stages/facts.test-kit.ts';
import { authenticate } from '../authenticate.ts';
import { createTestSession, openTestStore } from '../../stages/store.test-kit.ts';
import { readRoot } from './lease-arguments.ts';
import { newToken, sessionTools } from './sessions.ts';
import type { SessionPlaces } from './sessions.ts';

/** All that the tools return. */
type Output = Record<'sessionId' | 'token' | 'expiresAtMs' | 'callbackSecret' | 'workspace', string> & {
  readonly sessions: Record<string, Json>[];
};

const places: SessionPlaces = {
  own: '/workspace',
  findRoot: (folder) => ['/projects/a', '/workspace'].find((root) => folder === root || folder.startsWith(`${root}/`)),
  resolve: readRoot,
};
const options = { places, callbackSecret: (id: string) => `secret of ${id}` };

/** The tools over a real store, called as the gate calls them: arguments checked first, the result afterwards. */
async function openTools(t: TestContext, session: Session = operator) {
  const store = await openTestStore(t);
  const registry = new Registry();
  for (const tool of sessionTools(store, { ...options, endSession: store.endSession })) registry.register(tool);
  const context = { session } as ToolContext;
  const find = (name: string) => registry.find(`sessions.${name}`) ?? assert.fail(name);
  const violationsOf = (name: string, args: JsonObject) => find(name).input.check(args);
  const call = async (name: string, args: JsonObject = {}): Promise<Output> => {
    assert.deepEqual(violationsOf(name, args), []);
    const output = await find(name).tool.run(args, context);
    assert.deepEqual(find(name).output.check(output), []);
    return output as Output;
  };
  return { store, registry, call, find, violationsOf };
}

test('every definition is whole, and for operators only', async (t) => {
  const { registry } = await openTools(t);
  assert.deepEqual(
    registry.all.map(({ definition }) => definition.name),
    ['sessions.create', 'sessions.end', 'sessions.list', 'sessions.show'],
  );
  for (const { definition } of registry.all) {
    assert.equal(definition.audience, 'operator');
    assert.match(definition.version, /^\d+\.\d+\.\d+$/);
    assert.ok(definition.description !== '' && definition.tags.length > 0 && definition.category !== '');
    assert.ok(risks.includes(definition.risk) && confirmations.includes(definition.confirmation));
    assert.deepEqual(definition.allowedModes, modes);
    assert.ok(definition.timeoutMs > 0 && definition.timeoutMs <= 3_600_000);
    assert.equal(definition.inputSchema['type'], 'object');
    assert.equal(definition.outputSchema['type'], 'object');
    for (const flag of ['mutates', 'idempotent', 'requiresApproval', 'requiresSandbox'] as const) {
      assert.equal(typeof definition[flag], 'boolean', flag);
    }
  }
});

test('a new session opens with the token that was shown, and only its hash is stored', async (t) => {
  const { call, store } = await openTools(t);
  const created = await call('create', { agent: 'ada', tools: ['files.*'], max_calls: 5 });
  const token = created.token;
  const found = authenticate(store, { credential: token, door: 'tcp' }, Date.now());
  if (isRefusal(found)) assert.fail(found.message);
  assert.deepEqual(
    { ...found, createdAtMs: 0 },
    sessionOf({
      id: created.sessionId,
      agent: 'ada',
      createdAtMs: 0,
      workspace: '/workspace',
      lease: { ...found.lease, tools: ['files.*'] },
      budget: { calls: 5 },
    }),
  );
  assert.ok(!JSON.stringify(await store.listSessions()).includes(token));
  assert.equal(store.findSessionByToken(token), undefined);
  assert.ok(store.findSessionByToken(hash('sha256', token)));
});

test('tokens are random and recognisable', () => {
  const tokens = new Set(Array.from({ length: 1000 }, newToken));
  assert.equal(tokens.size, 1000);
  for (const token of tokens) assert.match(token, /^sp_[A-Za-z0-9_-]{43}$/);
});

test('a session may use every tool unless its tools are named, starts in the workspace and does not expire', async (t) => {
  const { call, store } = await openTools(t);
  const { sessionId: id, expiresAtMs: expiry } = await call('create', { agent: 'ada' });
  const session = store.findSession(id);
  assert.deepEqual(session?.lease.tools, ['*']);
  assert.equal(session.lease.paths, undefined);
  assert.equal(session.workingDirectory, '/workspace');
  assert.equal(session.expiresAtMs, undefined);
  assert.equal(expiry, undefined);
});

test('an expiry is counted from now, and shown', async (t) => {
  const { call, store } = await openTools(t);
  const beforeMs = Date.now();
  const created = await call('create', { agent: 'ada', expires_in_minutes: 5 });
  const { expiresAtMs = 0 } = store.findSession(created.sessionId) ?? {};
  assert.ok(expiresAtMs >= beforeMs + 300_000 && expiresAtMs <= Date.now() + 300_000);
  assert.equal(created.expiresAtMs, String(expiresAtMs));
});

test('a session works in the daemon’s workspace, in the accepted root around the client, or where the operator says', async (t) => {
  requirement('PKG-3');
  const { call, store } = await openTools(t);
  const open = async (args: JsonObject) => {
    const { sessionId: id, workspace } = await call('create', { agent: 'ada', ...args });
    const session = store.findSession(id);
    assert.equal(session?.workspace, workspace);
    return [workspace, session?.workingDirectory];
  };
  assert.deepEqual(await open({}), ['/workspace', '/workspace']);
  assert.deepEqual(await open({ client_folder: '/projects/a/src' }), ['/projects/a', '/projects/a']);
  assert.deepEqual(await open({ working_directory: '/projects/a/src' }), ['/projects/a', '/projects/a/src']);
  assert.deepEqual(await open({ workspace: '/projects/a/src' }), ['/projects/a/src', '/projects/a/src']);
  // A client that names another folder opens nothing.
  assert.deepEqual(await open({ client_folder: '/etc' }), ['/workspace', '/workspace']);
  assert.deepEqual(await open({ client_folder: '/projects/ab' }), ['/workspace', '/workspace']);
  assert.deepEqual(await open({ client_folder: '/projects/a/../b' }), ['/workspace', '/workspace']);
  const before = (await store.listSessions()).length;
  for (const workspace of ['/etc', '/projects', '/projects/b', 'relative']) {
    await assert.rejects(open({ workspace }), { code: 'INVALID_ARGUMENTS' });
  }
  assert.equal((await store.listSessions()).length, before);
});

test('a working directory is absolute and comes out normal; nothing is created for one that is not', async (t) => {
  const { call, store } = await openTools(t);
  const { sessionId: id } = await call('create', { agent: 'ada', working_directory: '/a/./b/../c' });
  assert.equal(store.findSession(id)?.workingDirectory, '/a/c');
  for (const folder of ['relative', '', './x', '~/x', '/a\0b']) {
    await assert.rejects(
      call('create', { agent: 'ada', working_directory: folder }),
      (error) => error instanceof ToolFailure && error.code === 'INVALID_ARGUMENTS',
      JSON.stringify(folder),
    );
  }
  assert.equal((await store.listSessions()).length, 1);
});

test('a callback is kept with the session; its secret is shown once, and never again', async (t) => {
  const { call, find, store } = await openTools(t);
  const url = 'https://agents.example.com/hook';
  const { sessionId: id, callbackSecret: secret } = await call('create', { agent: 'ada', callback_url: url });
  assert.equal(secret, `secret of ${id}`);
  assert.equal(store.findSession(id)?.callbackUrl, url);
  assert.equal((await call('list')).sessions[0]?.['callbackUrl'], url);
  const shown = JSON.stringify([await call('list'), await call('show', { session_id: id }), store.findSession(id)]);
  assert.ok(!shown.includes(secret));
  const preview = await find('create').tool.preview({ agent: 'a', callback_url: url }, {
    session: operator,
  } as ToolContext);
  assert.match(preview.detail, /sent to https:\/\/agents\.example\.com\/hook/);
  assert.equal((await call('create', { agent: 'bob' })).callbackSecret, '');
});

test('a callback that would leave the machine unencrypted, or holds a password, is refused', async (t) => {
  const { call, store } = await openTools(t);
  for (const url of ['http://10.0.0.1/x', 'ftp://a.com', 'a.com', '', 'https://u:p@a.com/', 'file:///etc/passwd']) {
    await assert.rejects(call('create', { agent: 'ada', callback_url: url }), { code: 'INVALID_ARGUMENTS' }, url);
  }
  assert.equal((await store.listSessions()).length, 0);
});

test('arguments out of bounds do not pass the schema', async (t) => {
  const { violationsOf } = await openTools(t);
  for (const [args, field, rule] of [
    [{}, 'agent', 'required'],
    [{ agent: '' }, 'agent', 'min_length'],
    [{ agent: 'a'.repeat(129) }, 'agent', 'max_length'],
    [{ agent: 'two words' }, 'agent', 'pattern'],
    [{ agent: 'line\n' }, 'agent', 'pattern'],
    [{ agent: 'a', max_calls: 0 }, 'max_calls', 'minimum'],
    [{ agent: 'a', max_calls: 1e300 }, 'max_calls', 'maximum'],
    [{ agent: 'a', expires_in_minutes: 525_601 }, 'expires_in_minutes', 'maximum'],
    [{ agent: 'a', tools: [] }, 'tools', 'min_items'],
    [{ agent: 'a', tools: [''] }, 'tools.0', 'min_length'],
    [{ agent: 'a', principal: 'operator' }, 'principal', 'unknown'],
  ] as const) {
    const found = violationsOf('create', { ...args }).map((violation) => `${violation.field} ${violation.rule}`);
    assert.ok(found.includes(`${field} ${rule}`), `${JSON.stringify(args).slice(0, 80)}: ${found.join(', ')}`);
  }
});

test('the largest budget that passes can be stored', async (t) => {
  const { call, store } = await openTools(t);
  const { sessionId: id } = await call('create', { agent: 'ada', max_calls: 1_000_000_000 });
  assert.deepEqual(store.findSession(id)?.budget, { calls: 1_000_000_000 });
});

test('the list shows who may come in, without tokens, and the others on request', async (t) => {
  const { call, store } = await openTools(t);
  const active = await call('create', { agent: 'active', tools: ['files.*'], max_calls: 3 });
  const ended = await call('create', { agent: 'ended' });
  await store.endSession(ended.sessionId);
  await createTestSession(store, { agent: 'expired', expiresAtMs: Date.now() - 1 });

  const [only, ...others] = (await call('list')).sessions;
  assert.deepEqual(others, []);
  const { createdAtMs, lease, ...rest } = only ?? {};
  assert.ok(Number(createdAtMs) > 0);
  assert.match(JSON.stringify(lease), /"status":"in force".*"tools":\["files\.\*"\]/);
  assert.deepEqual(rest, {
    sessionId: active.sessionId,
    agent: 'active',
    principal: 'agent',
    status: 'active',
    door: '',
    spent: { calls: '0', activeMs: '0', tokens: '0', costMicros: '0' },
    budget: { maxCalls: '3' },
    tools: ['files.*'],
    workspace: '/workspace',
    workingDirectory: '/workspace',
    callbackUrl: '',
  });
  const all = (await call('list', { include_ended: true })).sessions;
  assert.deepEqual(Object.fromEntries(all.map(({ agent, status }) => [agent, status])), {
    active: 'active',
    ended: 'ended',
    expired: 'expired',
  });
  assert.ok(!JSON.stringify(all).includes(active.token));
});

test('ending is final, seen at the next call, and says whether anything changed', async (t) => {
  const { call, store } = await openTools(t);
  const { sessionId: id, token } = await call('create', { agent: 'ada' });
  assert.deepEqual(await call('end', { session_id: id }), { sessionId: id, ended: true });
  const refused = authenticate(store, { credential: token, door: 'tcp' }, Date.now());
  assert.ok(isRefusal(refused) && refused.code === 'SESSION_ENDED');
  assert.deepEqual(await call('end', { session_id: id }), { sessionId: id, ended: false });
});

test('an unknown session cannot be ended, and neither can that of a person', async (t) => {
  const { call } = await openTools(t);
  await assert.rejects(call('end', { session_id: 'nobody' }), { code: 'NOT_FOUND' });
  const store = await openTestStore(t);
  const own = await createTestSession(store, { principal: 'operator' });
  const end = sessionTools(store, { ...options, endSession: store.endSession }).at(-1);
  await assert.rejects(async () => end?.run({ session_id: own.id }, { session: own } as ToolContext), {
    code: 'EXECUTION_ERROR',
  });
  assert.equal(store.findSession(own.id)?.status, 'active');
});

test('what the log gets to read holds no token, and a preview changes nothing', async (t) => {
  requirement('AUD-4');
  const { call, find, store } = await openTools(t);
  const args = { agent: 'ada', tools: ['*'] };
  const created = await call('create', args);
  const id = created.sessionId;
  assert.equal(find('create').tool.summarize(args, created), `created session ${id} for ada`);
  assert.equal(find('list').tool.summarize({}, await call('list')), '1 session');
  assert.equal(find('end').tool.summarize({ session_id: id }, {}), `ended session ${id}`);
  for (const [name, given] of [
    ['create', { agent: 'bob', tools: [] }],
    ['list', {}],
    ['end', { session_id: id }],
  ] as const) {
    const effect = await find(name).tool.preview(given, { session: operator } as ToolContext);
    assert.notEqual(effect.summary, '');
    assert.deepEqual(find(name).tool.claim(given, operator), { paths: [] });
  }
  assert.equal((await store.listSessions()).length, 1);
  assert.equal(store.findSession(id)?.status, 'active');
});
