import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { status } from '@grpc/grpc-js';
import type { ServiceError } from '@grpc/grpc-js';
import { TestDaemon } from '../harness/daemon.ts';
import { openAdministration, readDetail } from './administration-client.ts';
import type { Fields } from './administration-client.ts';

let daemon: TestDaemon;
let sessions: ReturnType<typeof openAdministration>;
let leases: ReturnType<typeof openAdministration>;

before(async () => {
  daemon = await TestDaemon.start();
  sessions = openAdministration('SessionService', daemon.operatorSocket, daemon.operatorToken);
  leases = openAdministration('LeaseService', daemon.operatorSocket, daemon.operatorToken);
});
after(async () => {
  sessions.close();
  leases.close();
  await daemon.remove();
});

async function refusalOf(answer: Promise<Fields>): Promise<ServiceError> {
  return answer.then(
    (response) => assert.fail(JSON.stringify(response)),
    (error: unknown) => error as ServiceError,
  );
}

async function newSession(agent: string, more: Fields = {}): Promise<{ session_id: string; token: string } & Fields> {
  return (await sessions.call('CreateSession', { agent, ...more })) as Awaited<ReturnType<typeof newSession>>;
}

test('a session is created, and its token opens the gate for the agent', async () => {
  const { session_id: id, ...created } = await newSession('ada', {
    scope: { tools: ['files.list'], paths: { names: [daemon.place.workspace] }, hosts: { names: [] } },
    expires_in_minutes: 60,
    budget: { max_calls: 5, max_active_seconds: 7 },
    call: { request_id: 'mine', context: { task_id: 'task' } },
  });
  assert.equal(created.agent, 'ada');
  assert.ok(Number(created['expires_at_ms']) > Date.now());
  const { request_id: requestId, call_id: callId } = created['call'] as Fields;
  assert.equal(requestId, 'mine');
  const listed = await daemon.call('files.list', { path: '.' }, { token: created.token });
  assert.ok(listed.success, JSON.stringify(listed));

  const { session, lease } = await sessions.call('GetSession', { session_id: id });
  const { created_at_ms: createdAt, expires_at_ms: expiresAt, lease: inForce, ...shown } = session as Fields;
  assert.deepEqual(inForce, lease);
  assert.ok(Number(createdAt) > 0 && expiresAt === created['expires_at_ms']);
  assert.deepEqual(shown, {
    session_id: id,
    agent: 'ada',
    principal: 'agent',
    status: 'active',
    budget: { _max_calls: 'max_calls', max_calls: 5, _max_active_seconds: 'max_active_seconds', max_active_seconds: 7 },
    spent: { ...(shown['spent'] as Fields), calls: 1, tokens: 0, cost_micros: 0 },
    tools: ['files.list'],
    workspace: daemon.place.workspace,
    working_directory: daemon.place.workspace,
    callback_url: '',
    door: '',
    _expires_at_ms: 'expires_at_ms',
  });
  const { status: standing, scope } = lease as Fields;
  assert.equal(standing, 'in force');
  // A list that is empty permits nothing; one that is absent leaves it to the rules.
  assert.deepEqual(scope, {
    tools: ['files.list'],
    paths: { names: [daemon.place.workspace] },
    hosts: { names: [] },
    commands: null,
    git_operations: null,
    providers: null,
    models: null,
  });
  const record = (await daemon.records()).find((each) => each.callId === callId && each.kind === 'intent');
  assert.equal(record?.payload['tool'], 'sessions.create');
  assert.equal(record?.payload['request_id'], 'mine');
  assert.equal(record?.payload['task_id'], 'task');
});

test('the token is shown once: no list, no session and no record has it', async () => {
  const { session_id: id, token } = await newSession('bob');
  assert.match(token, /^sp_/);
  const { sessions: listed } = await sessions.call('ListSessions');
  assert.ok((listed as Fields[]).some((session) => session['session_id'] === id));
  const shown = [listed, await sessions.call('GetSession', { session_id: id }), await daemon.records()];
  assert.ok(!JSON.stringify(shown).includes(token.slice(3)));
});

test('a terminated session is out, and listed only on request', async () => {
  const { session_id: id, token } = await newSession('eve');
  const { ended } = await sessions.call('TerminateSession', { session_id: id });
  assert.equal(ended, true);
  assert.equal((await sessions.call('TerminateSession', { session_id: id }))['ended'], false);
  const answer = await daemon.post('sallyport.v1.ToolService/ExecuteTool', { name: 'files.list' }, token);
  assert.equal(answer.status, 401);
  const find = async (request: Fields) => {
    const { sessions: listed } = await sessions.call('ListSessions', request);
    return (listed as Fields[]).find((session) => session['session_id'] === id)?.['status'];
  };
  assert.equal(await find({}), undefined);
  assert.equal(await find({ include_ended: true }), 'ended');
});

test('leases are granted, listed newest first, and revoked', async () => {
  const { session_id: id, token } = await newSession('ada', { scope: { tools: ['files.list'] } });
  const list = () => daemon.call('files.list', { path: '.' }, { token });
  const granted = await leases.call('GrantLease', {
    session_id: id,
    scope: { tools: ['files.read'], git_operations: { names: ['DIFF'] } },
    budget: { max_cost_micros: 900_000_000_000 },
    expires_in_minutes: 5,
  });
  const { scope, budget, status: standing } = granted['lease'] as Fields;
  assert.deepEqual((scope as Fields)['tools'], ['files.read']);
  assert.deepEqual((scope as Fields)['git_operations'], { names: ['DIFF'] });
  assert.equal((budget as Fields)['max_cost_micros'], 900_000_000_000);
  assert.equal(standing, 'in force');
  assert.equal((await list()).denied?.rationaleCode, 'OUTSIDE_LEASE');

  // No tools means all of them.
  await leases.call('GrantLease', { session_id: id });
  assert.ok((await list()).success);
  const { leases: all } = await leases.call('ListLeases', { session_id: id });
  const seen = (all as { status: string; scope: { tools: string[] }; ended_at_ms: number }[]).map((each) => [
    each.status,
    ...each.scope.tools,
  ]);
  assert.deepEqual(seen, [
    ['in force', '*'],
    ['ended', 'files.read'],
    ['ended', 'files.list'],
  ]);
  assert.equal((await leases.call('RevokeLease', { session_id: id }))['revoked'], true);
  assert.equal((await leases.call('RevokeLease', { session_id: id }))['revoked'], false);
  assert.ok((await list()).denied);
});

test('what is refused or fails is an RPC error that tells code, rule and remedy, and is on record', async () => {
  const malformed = await refusalOf(newSession('two words', { budget: { max_calls: '18446744073709551615' } }));
  assert.equal(malformed.code, status.INVALID_ARGUMENT);
  const detail = readDetail(malformed);
  const denied = detail['denied'] as { rationale_code: string; rule_id: string; remedy: string; violations: Fields[] };
  assert.equal(denied.rationale_code, 'INVALID_ARGUMENTS');
  assert.equal(denied.rule_id, 'input-schema');
  assert.match(denied.remedy, /sallyport tool show sessions\.create/);
  assert.ok(malformed.details.includes(denied.remedy));
  assert.deepEqual(denied.violations.map(({ field, rule }) => `${String(field)} ${String(rule)}`).sort(), [
    'agent pattern',
    'max_calls maximum',
  ]);
  const records = await daemon.records();
  assert.ok(records.some(({ callId, kind }) => callId === detail['call_id'] && kind === 'refusal'));

  const missing = await refusalOf(leases.call('ListLeases', { session_id: 'nobody' }));
  assert.equal(missing.code, status.NOT_FOUND);
  assert.equal((readDetail(missing)['error'] as Fields)['code'], 'NOT_FOUND');
});

test('the same details reach clients of Connect', async () => {
  const { status: http, json } = await daemon.post('sallyport.v1.SessionService/GetSession', { sessionId: 'nobody' });
  const { code, details } = json as { code: string; details: { type: string; value: string }[] };
  assert.equal(http, 404);
  assert.equal(code, 'not_found');
  assert.deepEqual(
    details.map(({ type }) => type),
    ['sallyport.v1.ExecuteToolResponse'],
  );
});

test('the services exist at the operator socket only, and there only for operators', async () => {
  const { token } = await newSession('mallory');
  const agentSocket = join(daemon.place.home, 'run', 'agent', 'sallyport.sock');
  const doors = [
    [agentSocket, status.UNIMPLEMENTED],
    [new URL(daemon.address).host, status.UNIMPLEMENTED],
    [daemon.operatorSocket, status.UNAUTHENTICATED],
  ] as const;
  for (const [target, expected] of doors) {
    const strangers = target === daemon.operatorSocket ? [token, '', 'sp_guess'] : [token, daemon.operatorToken];
    for (const credential of strangers) {
      for (const service of ['SessionService', 'LeaseService'] as const) {
        const client = openAdministration(service, target, credential);
        try {
          assert.ok(client.methods.length >= 3);
          for (const method of client.methods) {
            const { code } = await refusalOf(client.call(method, { session_id: 'x', agent: 'x' }));
            assert.equal(status[code], status[expected], `${service}/${method} at ${target}`);
          }
        } finally {
          client.close();
        }
      }
    }
  }
});
