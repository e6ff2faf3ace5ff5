import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { TestDaemon } from '../harness/daemon.ts';
import { requirement } from '../requirement.ts';
import { ApprovalDesk, followStream, postJson, writeWorkspaceFile } from './approval-desk.ts';

let daemon: TestDaemon;
let token: string;
let taskId: string;
let tcp: object;
let agentSocket: object;

before(async () => {
  daemon = await TestDaemon.start();
  const { hostname: host, port } = new URL(daemon.address);
  tcp = { host, port };
  agentSocket = { socketPath: join(daemon.place.home, 'run', 'agent', 'sallyport.sock') };
  token = await daemon.newAgent('ada');
  writeWorkspaceFile(daemon, 'a.txt');
  const answer = await daemon.call('files.delete', { path: 'a.txt' }, { token });
  ({ taskId } = ApprovalDesk.ticketOf(answer));
});
after(() => daemon.remove());

test("an agent's token reaches no decision, at any door, by any name", async () => {
  requirement('APPR-6');
  const { effectSha256 } = await new ApprovalDesk(daemon).show(taskId);
  const methods: [string, object][] = [
    ['ApprovalService/ListApprovals', {}],
    ['ApprovalService/GetApproval', { id: taskId }],
    ['ApprovalService/DecideApproval', { id: taskId, approved: true, effectSha256 }],
    ['ApprovalService/DecideApproval', { id: taskId, approved: false }],
    ['ApprovalService/ListStandingApprovals', {}],
    ['ApprovalService/RevokeStandingApproval', { id: 'x' }],
    ['PlanService/DecidePlan', { id: 'x', approvedSteps: [0] }],
    ['PlanService/DecidePlan', { id: 'x' }],
  ];
  for (const [method, body] of methods) {
    const { status, json } = await postJson(tcp, `sallyport.v1.${method}`, body, token);
    assert.deepEqual([status, json['code']], [403, 'permission_denied'], method);
    // At the socket of agents approvals do not exist at all; plans do, and deciding about them is not theirs.
    const there = await postJson(agentSocket, `sallyport.v1.${method}`, body, token);
    assert.ok([403, 404].includes(there.status), `${method} ${there.status}`);
  }
  for (const [tool, input] of [
    ['approvals.list', {}],
    ['approvals.approve', { task_id: taskId, effect_sha256: effectSha256 }],
    ['approvals.deny', { task_id: taskId }],
    ['approvals.reveal', { task_id: taskId, reason: 'To see.' }],
    ['plans.approve', { plan_id: 'x' }],
    ['confirm.issue', { session_id: 'x', trace_id: '0'.repeat(32), calls: [{ tool: 'files.delete' }] }],
    ['confirm.rotate_key', {}],
  ] as const) {
    const answer = await daemon.call(tool, input, { token });
    assert.equal(answer.denied?.rationaleCode, 'UNKNOWN_TOOL', tool);
  }
  assert.equal((await new ApprovalDesk(daemon).show(taskId)).status, 'pending');
});

test('an attempt to decide with the token of an agent is on record', async () => {
  const from = (await daemon.records()).length;
  await postJson(tcp, 'sallyport.v1.ApprovalService/DecideApproval', { id: taskId, approved: true }, token);
  const [record] = (await daemon.records(from)).filter(({ payload }) => payload['tool'] === 'approvals.approve');
  assert.deepEqual([record?.kind, record?.payload['agent']], ['refusal', 'ada']);
});

test("neither the operator's credential over TCP nor an unknown one gets in", async () => {
  for (const credential of [daemon.operatorToken, 'sp_unknown', '']) {
    const { status } = await postJson(tcp, 'sallyport.v1.ApprovalService/ListApprovals', {}, credential);
    assert.equal(status, 401);
  }
});

interface WatchEvent {
  readonly event: string;
  readonly approval: { readonly id: string; readonly effect: string };
}

const watch = (credential: string, target: object) =>
  followStream<WatchEvent>(target, 'ApprovalService/WatchApprovals', credential);

test('a person follows what waits, and then what happens', async () => {
  requirement('APPR-4');
  const events = watch(daemon.operatorToken, { socketPath: daemon.operatorSocket });
  const next = async () => {
    const { value } = await events.next();
    return value ?? assert.fail('the stream ended');
  };
  const first = await next();
  assert.deepEqual([first.event, first.approval.id], ['pending', taskId]);
  assert.match(first.approval.effect, /a\.txt/);
  writeWorkspaceFile(daemon, 'b.txt');
  const asked = ApprovalDesk.ticketOf(await daemon.call('files.delete', { path: 'b.txt' }, { token }));
  const second = await next();
  assert.deepEqual([second.event, second.approval.id], ['pending', asked.taskId]);
  await new ApprovalDesk(daemon).approve(asked.taskId);
  const third = await next();
  assert.deepEqual([third.event, third.approval.id], ['decided', asked.taskId]);
  await events.return(undefined);
});

test('of many that wait a person hears the first, how many there are, and reads the rest in pages', async () => {
  const socket = { socketPath: daemon.operatorSocket };
  for (const name of ['c.txt', 'd.txt', 'e.txt']) {
    writeWorkspaceFile(daemon, name);
    await daemon.call('files.delete', { path: name }, { token });
  }
  const events = followStream<WatchEvent & { readonly pendingApprovals?: number }>(
    socket,
    'ApprovalService/WatchApprovals',
    daemon.operatorToken,
    { mostPending: 2 },
  );
  const told = [(await events.next()).value, (await events.next()).value, (await events.next()).value];
  await events.return(undefined);
  assert.deepEqual(
    told.map((each) => each?.event),
    ['pending', 'pending', 'listed'],
  );
  const lastTold = told[1]?.approval.id;
  const waiting = told[2]?.pendingApprovals ?? 0;
  assert.ok(waiting >= 4, String(waiting));
  const list = async (more: object) => {
    const { json } = await daemon.post('sallyport.v1.ApprovalService/ListApprovals', { limit: 200, ...more });
    return json as { readonly approvals: readonly { id: string; effect: string }[] };
  };
  const { approvals: rest } = await list({ status: 'pending', after: lastTold, whole: true });
  const { approvals: all } = await list({ status: 'pending' });
  assert.equal(rest.length, waiting - 2);
  assert.deepEqual([told[0]?.approval.id, lastTold, ...rest.map(({ id }) => id)], all.map(({ id }) => id).toReversed());
  assert.match(rest.at(-1)?.effect ?? '', /e\.txt/);
  assert.equal(all[0]?.effect ?? '', '');
  assert.match(JSON.stringify(await list({ after: lastTold })), /Name a status/);
});

test('an agent follows nothing', async () => {
  const calls = [{ tool: 'files.delete', inputJson: '{"path":"a.txt"}' }];
  await postJson(tcp, 'sallyport.v1.PlanService/ProposePlan', { summary: 'Something to watch.', calls }, token);
  for (const method of ['ApprovalService/WatchApprovals', 'PlanService/WatchPlans']) {
    const events = followStream(tcp, method, token);
    const { value } = await events.next();
    assert.match(JSON.stringify(value), /permission_denied/, method);
    await events.return(undefined);
  }
});
