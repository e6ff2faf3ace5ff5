import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { after, before, test } from 'node:test';
import { assertDescribed } from '../../packages/gateway/src/doors/http/openapi.test-kit.ts';
import { TestDaemon } from '../harness/daemon.ts';
import { requirement } from '../requirement.ts';
import { ApprovalDesk, listWorkspace, postJson, writeWorkspaceFile } from './approval-desk.ts';

let daemon: TestDaemon;
let desk: ApprovalDesk;
let token: string;
let tcp: object;

before(async () => {
  daemon = await TestDaemon.start();
  desk = new ApprovalDesk(daemon);
  token = await daemon.newAgent('ada');
  const { hostname: host, port } = new URL(daemon.address);
  tcp = { host, port };
});
after(() => daemon.remove());

interface Result {
  readonly call_id: string;
  readonly status: string;
  readonly output?: unknown;
  readonly error?: { readonly code: string };
  readonly approval_task_id?: string;
  readonly audit?: Readonly<Record<string, unknown>>;
}

async function send(message: object): Promise<{ status: number; json: Readonly<Record<string, unknown>> }> {
  const { status, json } = await postJson(tcp, 'v1/messages', message, token);
  assertDescribed(json['type'] === 'tool.results' ? 'ToolResults' : 'PlanStatus', json);
  return { status, json };
}

async function execute(message: object): Promise<{ status: number; results: readonly Result[] }> {
  const { status, json } = await send({ type: 'tool.execute', ...message });
  return { status, results: json['results'] as readonly Result[] };
}

test('a plan and its calls, as messages: proposed, approved, made, and answered with what is on record', async () => {
  requirement('WIRE-8');
  for (const name of ['a.txt', 'b.txt']) writeWorkspaceFile(daemon, name);
  const traceId = '4bf92f3577b34da6a3ce929d0e0e4736';
  const calls = ['a.txt', 'b.txt'].map((path) => ({ tool: 'files.delete', args: { path }, reason: 'Old.' }));
  const proposed = await send({ type: 'chat.assistant_plan', trace_id: traceId, summary: 'Tidy up.', calls });
  assert.equal(proposed.status, 202);
  const planId = proposed.json['plan_id'];
  await desk.send('PlanService/DecidePlan', { id: planId, approvedSteps: [0, 1] });
  const shown = await execute({ tool: 'plans.show', args: { plan_id: planId } });
  const [{ output } = assert.fail()] = shown.results;
  const { confirmToken } = output as { confirmToken: string };
  const { status, results } = await execute({
    trace_id: traceId,
    confirm_token: confirmToken,
    calls: calls.map(({ tool, args }, at) => ({ tool, args, call_id: `step-${at}` })),
  });
  assert.equal(status, 200);
  assert.deepEqual(
    results.map((result) => [result.call_id, result.status]),
    [
      ['step-0', 'ok'],
      ['step-1', 'ok'],
    ],
  );
  assert.deepEqual(listWorkspace(daemon), []);
  const { call_id: callId, ...audit } = results[0]?.audit ?? {};
  const record = (await daemon.records()).find((each) => each.kind === 'intent' && each.callId === callId);
  assert.equal(record?.payload['arguments_sha256'], audit['args_hash']);
  assert.equal(audit['args_hash'], hash('sha256', '{"path":"a.txt","recursive":false}'));
  assert.deepEqual(
    [audit['trace_id'], audit['tool'], audit['result'], audit['approved_by']],
    [traceId, 'files.delete', 'ok', 'operator'],
  );
  assert.deepEqual((audit['decision'] as { result: string }).result, 'allowed');
  assert.match(String(audit['summary']), /1 file moved to the trash/);
});

test('a call that waits for a person says so, with its task, and the calls after it are not made', async () => {
  requirement('WIRE-8');
  writeWorkspaceFile(daemon, 'c.txt');
  const calls = [
    { tool: 'files.list', args: { path: '.' } },
    { tool: 'files.delete', args: { path: 'c.txt' } },
  ];
  const { status, results } = await execute({ calls: [...calls, ...calls] });
  assert.equal(status, 202);
  assert.deepEqual(
    results.map((result) => result.status),
    ['ok', 'pending_approval', 'skipped', 'skipped'],
  );
  const taskId = results[1]?.approval_task_id ?? '';
  await desk.approve(taskId);
  const again = await execute({ ...calls[1], approval_task_id: taskId });
  assert.deepEqual([again.status, again.results[0]?.status], [200, 'ok']);
});

test('blocked, failed and unknown calls each keep their code, and the decision says why', async () => {
  requirement('WIRE-8');
  for (const [call, status, word, code] of [
    [{ tool: 'files.read', args: { path: '/etc/passwd' } }, 403, 'blocked', 'NO_RULE_ALLOWS'],
    [{ tool: 'files.read', args: { path: 'gone.txt' } }, 404, 'error', 'NOT_FOUND'],
    [{ tool: 'files.reed', args: {} }, 404, 'blocked', 'UNKNOWN_TOOL'],
    [{ tool: 'files.read', args: {} }, 400, 'blocked', 'INVALID_ARGUMENTS'],
  ] as const) {
    const answer = await execute(call);
    const [{ audit = {}, ...result } = assert.fail()] = answer.results;
    assert.deepEqual([answer.status, result.status, result.error?.code], [status, word, code]);
    assert.notEqual((audit['decision'] as { reason?: string }).reason ?? '', '');
  }
});

test('a plan that a gate would stop is answered at once', async () => {
  const calls = [{ tool: 'files.read', args: { path: '/etc/passwd' } }];
  const { status, json } = await send({ type: 'chat.assistant_plan', summary: 'Look.', calls });
  assert.deepEqual([status, json['status'], json['plan_id']], [200, 'refused', undefined]);
  assert.match(JSON.stringify(json['steps']), /NO_RULE_ALLOWS/);
});

test('without a credential nothing is read, and what is no message is on record', async () => {
  const message = { type: 'tool.execute', tool: 'files.list' };
  assert.equal((await postJson(tcp, 'v1/messages', message, 'sp_unknown')).status, 401);
  const from = (await daemon.records()).length;
  const { status, json } = await postJson(tcp, 'v1/messages', { type: 'tool.perform' }, token);
  assert.deepEqual([status, json['code']], [400, 'invalid_argument']);
  assert.match(JSON.stringify(await daemon.records(from)), /MALFORMED_CALL/);
});
