import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import type { Answer } from '../harness/daemon.ts';
import { TestDaemon } from '../harness/daemon.ts';
import { requirement } from '../requirement.ts';
import {
  ApprovalDesk,
  followStream,
  inTrace,
  listWorkspace,
  outputOf,
  postJson,
  writeWorkspaceFile,
} from './approval-desk.ts';
import type { Json } from './approval-desk.ts';

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

interface ProposedPlan {
  readonly plan: {
    readonly id?: string;
    readonly status: string;
    readonly traceId: string;
    readonly steps: readonly { tool: string; effect?: string; refusal?: string; reason?: string }[];
    readonly approvedSteps?: readonly number[];
    readonly note?: string;
  };
  readonly confirmToken?: string;
}

interface Planned {
  readonly tool: string;
  readonly input: Json;
}

const deletion = (path: string): Planned => ({ tool: 'files.delete', input: { path } });

async function propose(calls: readonly Planned[], more: object = {}): Promise<ProposedPlan> {
  const body = {
    summary: 'Tidy up.',
    calls: calls.map(({ tool, input }) => ({ tool, inputJson: JSON.stringify(input), reason: 'It is old.' })),
    ...more,
  };
  const { status, json } = await postJson(tcp, 'sallyport.v1.PlanService/ProposePlan', body, token);
  assert.equal(status, 200, JSON.stringify(json));
  return json as unknown as ProposedPlan;
}

async function getPlan(id: string, as = token): Promise<ProposedPlan> {
  return (await postJson(tcp, 'sallyport.v1.PlanService/GetPlan', { id }, as)).json as unknown as ProposedPlan;
}

async function approve(id: string, approvedSteps: readonly number[]): Promise<ProposedPlan> {
  const { status, json } = await desk.send('PlanService/DecidePlan', { id, approvedSteps });
  assert.equal(status, 200, JSON.stringify(json));
  return getPlan(id);
}

/** A call with the token of a plan, in a trace. */
async function run(
  { tool, input }: Planned,
  { plan, confirmToken }: ProposedPlan,
  traceId = plan.traceId,
): Promise<Answer> {
  const body = { name: tool, inputJson: JSON.stringify(input), confirmToken };
  const { json } = await postJson(tcp, 'sallyport.v1.ToolService/ExecuteTool', body, token, inTrace(traceId));
  return json as unknown as Answer;
}

const codeOf = ({ denied }: Answer) => denied?.rationaleCode;

test('a plan is shown whole, approved, and its token lets exactly those calls through, in order', async () => {
  requirement('APPR-8');
  for (const name of ['a.txt', 'b.txt', 'c.txt']) writeWorkspaceFile(daemon, name);
  const steps = [deletion('a.txt'), { tool: 'files.read', input: { path: 'b.txt' } }, deletion('b.txt')];
  const proposed = await propose(steps);
  assert.equal(proposed.plan.status, 'pending');
  assert.ok(
    proposed.plan.steps.every(({ effect }) => effect === ''),
    'the agent learns nothing of the effects',
  );
  assert.equal(proposed.confirmToken, '');
  const id = proposed.plan.id ?? '';
  const { json } = await desk.send('PlanService/GetPlan', { id });
  assert.match(JSON.stringify(json), /Delete a\.txt.*Delete b\.txt/s);
  assert.equal((json as unknown as ProposedPlan).confirmToken, '', 'the token is for the agent');

  const approved = await approve(id, [0, 1, 2]);
  assert.equal(approved.plan.status, 'approved');
  assert.equal((await getPlan(id)).confirmToken, approved.confirmToken, 'asking again gives the same token');
  const [first, second, third] = steps as [Planned, Planned, Planned];
  assert.equal(codeOf(await run(third, approved)), 'CONFIRM_TOKEN_SCOPE', 'not in order');
  assert.equal(codeOf(await run(deletion('c.txt'), approved)), 'CONFIRM_TOKEN_SCOPE', 'not in the plan');
  assert.equal(codeOf(await run(first, approved, '1'.repeat(32))), 'CONFIRM_TOKEN_TRACE');
  outputOf(await run(first, approved));
  assert.equal(codeOf(await run(first, approved)), 'CONFIRM_TOKEN_SCOPE', 'each step once');
  outputOf(await run(second, approved));
  outputOf(await run(third, approved));
  assert.deepEqual(listWorkspace(daemon), ['c.txt']);
});

test('of a plan some steps may be approved, and only they run', async () => {
  requirement('APPR-8');
  for (const name of ['d.txt', 'e.txt', 'f.txt']) writeWorkspaceFile(daemon, name);
  const steps = ['d.txt', 'e.txt', 'f.txt'].map(deletion) as [Planned, Planned, Planned];
  const { plan } = await propose(steps);
  const approved = await approve(plan.id ?? '', [2, 0]);
  assert.deepEqual(approved.plan.approvedSteps, [0, 2]);
  assert.equal(codeOf(await run(steps[1], approved)), 'CONFIRM_TOKEN_SCOPE');
  outputOf(await run(steps[0], approved));
  outputOf(await run(steps[2], approved));
  assert.ok(listWorkspace(daemon).includes('e.txt'));
  const again = await desk.send('PlanService/DecidePlan', { id: plan.id, approvedSteps: [1] });
  assert.match(JSON.stringify(again.json), /operator has approved it already/);
});

test('a plan that a gate would stop says where and why, and nobody is asked', async () => {
  requirement('APPR-8');
  const formerPlans = JSON.stringify((await desk.send('PlanService/ListPlans', {})).json);
  const { plan } = await propose([
    deletion('a.txt'),
    { tool: 'files.read', input: { path: '/etc/passwd' } },
    { tool: 'files.write', input: { path: 'x' } },
    { tool: 'files.reed', input: {} },
    { tool: 'approvals.approve', input: {} },
  ]);
  assert.equal(plan.status, 'refused');
  assert.equal(plan.id, '');
  const refusals = plan.steps.map(({ refusal = '' }) => refusal.split(':')[0]);
  assert.deepEqual(refusals, ['', 'NO_RULE_ALLOWS', 'INVALID_ARGUMENTS', 'UNKNOWN_TOOL', 'UNKNOWN_TOOL']);
  assert.equal(JSON.stringify((await desk.send('PlanService/ListPlans', {})).json), formerPlans);
});

test('a proposal can wait for its decision, and a denial says what to change', async () => {
  requirement('APPR-8', 'APPR-10');
  writeWorkspaceFile(daemon, 'g.txt');
  const waiting = propose([deletion('g.txt')], { waitMs: 60_000, traceId: 'ab'.repeat(16) });
  const find = async (): Promise<string> => {
    const { json } = await desk.send('PlanService/ListPlans', {});
    const plans = (json['plans'] ?? []) as { id: string; status: string }[];
    return plans.find(({ status }) => status === 'pending')?.id ?? find();
  };
  const id = await find();
  await desk.send('PlanService/DecidePlan', { id, note: 'Keep it until Friday.' });
  const { plan, confirmToken } = await waiting;
  assert.deepEqual([plan.status, plan.note, plan.traceId], ['denied', 'Keep it until Friday.', 'ab'.repeat(16)]);
  assert.equal(confirmToken, '');
});

test('a plan is its own agent’s, and its token may be revoked', async () => {
  writeWorkspaceFile(daemon, 'h.txt');
  const { plan } = await propose([deletion('h.txt')]);
  const eve = await daemon.newAgent('eve');
  const theirs = await postJson(tcp, 'sallyport.v1.PlanService/GetPlan', { id: plan.id }, eve);
  assert.equal(theirs.status, 404);
  const approved = await approve(plan.id ?? '', [0]);
  outputOf(await daemon.call('confirm.revoke', { token_id: plan.id }));
  assert.equal(codeOf(await run(deletion('h.txt'), approved)), 'CONFIRM_TOKEN_USED');
  assert.ok(listWorkspace(daemon).includes('h.txt'));
});

test('a file that an earlier step makes need not exist when the plan is proposed', async () => {
  mkdirSync(join(daemon.place.workspace, 'made'));
  const steps = [{ tool: 'files.write', input: { path: 'made/new.txt', content: 'x' } }, deletion('made/new.txt')] as [
    Planned,
    Planned,
  ];
  const { plan } = await propose(steps);
  const { json } = await desk.send('PlanService/GetPlan', { id: plan.id });
  assert.match(JSON.stringify(json), /The effect could not be worked out \(NOT_FOUND\)/);
  const approved = await approve(plan.id ?? '', [0, 1]);
  outputOf(await run(steps[0], approved));
  outputOf(await run(steps[1], approved));
});

test('a step does what was shown when the plan was proposed, unless the steps before it change that', async () => {
  requirement('APPR-6');
  for (const folder of ['bound', 'there']) mkdirSync(join(daemon.place.workspace, folder));
  writeWorkspaceFile(daemon, 'bound/a.txt');
  const move = { tool: 'files.move_glob', input: { from: 'bound', patterns: ['*.txt'], to: 'there' } };
  const aside = { tool: 'files.write', input: { path: 'aside.txt', content: 'x' } };
  const { plan } = await propose([aside, move]);
  const approved = await approve(plan.id ?? '', [0, 1]);
  outputOf(await run(aside, approved));
  writeWorkspaceFile(daemon, 'bound/b.txt');
  assert.equal(codeOf(await run(move, approved)), 'APPROVAL_MISMATCH');
  assert.deepEqual(listWorkspace(daemon, 'there'), []);
  const write = { tool: 'files.write', input: { path: 'bound/c.txt', content: 'x' } };
  const { plan: second } = await propose([write, move]);
  const { json } = await desk.send('PlanService/GetPlan', { id: second.id });
  assert.match(JSON.stringify(json), /Step 1 may change this effect/);
  const both = await approve(second.id ?? '', [0, 1]);
  outputOf(await run(write, both));
  outputOf(await run(move, both));
  assert.deepEqual(listWorkspace(daemon, 'there'), ['a.txt', 'b.txt', 'c.txt']);
});

interface PlanEvent {
  readonly event: string;
  readonly plan: { readonly id: string; readonly status: string; readonly steps: readonly { effect?: string }[] };
}

test('a person follows plans, whole, from what waits to what became of it; also beside approvals in one stream', async () => {
  requirement('APPR-8');
  for (const { id } of await pendingPlans()) await desk.send('PlanService/DecidePlan', { id });
  writeWorkspaceFile(daemon, 'i.txt');
  const { plan: waiting } = await propose([deletion('i.txt')]);
  const socket = { socketPath: daemon.operatorSocket };
  const streams = [
    followStream<PlanEvent>(socket, 'PlanService/WatchPlans', daemon.operatorToken),
    followStream<PlanEvent>(socket, 'ApprovalService/WatchApprovals', daemon.operatorToken, { withPlans: true }),
  ];
  const next = async (): Promise<(string | undefined)[][]> =>
    Promise.all(
      streams.map(async (events) => {
        const { event, plan } = (await events.next()).value ?? assert.fail('the stream ended');
        return [event, plan.id, plan.status, plan.steps[0]?.effect?.split('\n')[0]];
      }),
    );
  const twice = <Value>(value: Value): Value[] => [value, value];
  const seen = await next();
  assert.deepEqual(seen, twice(['pending', waiting.id, 'pending', seen[0]?.[3]]));
  assert.match(seen[0]?.[3] ?? '', /i\.txt/);
  const { plan: second } = await propose([deletion('i.txt')]);
  assert.deepEqual((await next())[0]?.slice(0, 2), ['pending', second.id]);
  await approve(second.id ?? '', [0]);
  assert.deepEqual((await next())[1]?.slice(0, 3), ['decided', second.id, 'approved']);
  for (const events of streams) await events.return(undefined);
});

async function pendingPlans(): Promise<readonly { readonly id: string }[]> {
  const { json } = await desk.send('PlanService/ListPlans', { limit: 200 });
  const plans = (json['plans'] ?? []) as { id: string; status: string }[];
  return plans.filter(({ status }) => status === 'pending');
}
