import assert from 'node:assert/strict';
import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { newPlace, TestDaemon } from '../harness/daemon.ts';
import type { Answer } from '../harness/daemon.ts';
import { ownRules } from '../harness/own-rules.ts';
import { requirement } from '../requirement.ts';
import { ApprovalDesk, listWorkspace, outputOf, postJson, writeWorkspaceFile } from './approval-desk.ts';
import type { ApprovalJson } from './approval-desk.ts';

// Agents that a rule lets decide in a person's place, and every way in which one might decide about more than that.

const rules = `version: 1
rules:
  - id: printing
    effect: allow
    tools: [shell.run]
    commands: ['printf *']
    paths: ['$WORKSPACE/**']
    grants: { read: ['$WORKSPACE'] }
    approvers: [rev, mate, ada]
  - id: echoing
    effect: require_approval
    tools: [shell.run]
    commands: ['echo *']
    paths: ['$WORKSPACE/**']
  - { id: deleting, effect: allow, tools: [files.delete], paths: ['$WORKSPACE/**'], approvers: [rev] }
  - { id: reviewing, effect: allow, tools: ['reviews.*'], modes: [NORMAL, LOCKDOWN], approval: waived }
  - { id: plans, effect: allow, tools: ['plans.*'], approval: waived }
  - { id: people, effect: allow, tools: ['*'], who: [operator], approval: waived }
`;

/** Which tools a role has is not what this is about. */
const role = 'director';

let daemon: TestDaemon;
let desk: ApprovalDesk;
const tokens: Record<string, string> = {};

before(async () => {
  const place = ownRules(newPlace(), { 'tools.yaml': rules, 'limits.yaml': limits(300) });
  daemon = await TestDaemon.start(place);
  desk = new ApprovalDesk(daemon);
  await confirmed('agents.create', { name: 'rev', role });
  await confirmed('agents.create', { name: 'mate', role });
  await confirmed('agents.create', { name: 'ada', role, senior_agent: 'rev' });
  for (const agent of ['rev', 'mate', 'ada']) tokens[agent] = await daemon.newAgent(agent);
});
after(() => daemon.remove());

function limits(expireSeconds: number): string {
  const remind = Math.floor(expireSeconds / 2);
  return `version: 1\nrates: []\napprovals: { expire_seconds: ${expireSeconds}, remind_seconds: ${remind} }\n`;
}

const codeOf = ({ denied, error }: Answer): string | undefined => denied?.rationaleCode ?? error?.code;
const as = (agent: string, tool: string, input: object, more: object = {}) =>
  daemon.call(tool, input, { token: tokens[agent] ?? agent, ...more });
const print = (name: string, more: object = {}) => as('ada', 'shell.run', { argv: ['printf', name] }, more);

/** The call of a person who looks at its effect and confirms it. */
async function confirmed(tool: string, input: object): Promise<void> {
  const asked = await daemon.call(tool, input);
  const confirmBinding = asked.denied?.approval?.binding;
  outputOf(confirmBinding === undefined ? asked : await daemon.call(tool, input, { confirmBinding }));
}

async function askFor(name: string): Promise<ApprovalJson> {
  return desk.show(ApprovalDesk.ticketOf(await print(name)).taskId);
}

/** As the agent that decides, having seen this effect. */
function decide(agent: string, { id, effectSha256 }: ApprovalJson, decision = 'approve', more: object = {}) {
  return as(agent, 'reviews.decide', { task_id: id, effect_sha256: effectSha256, decision, ...more });
}

test('a senior agent that the rule names sees the call, decides, and the record says that an agent did', async () => {
  requirement('APPR-3');
  const task = await askFor('one');
  assert.equal(task.risk, 'high');
  const listed = outputOf(await as('rev', 'reviews.list', {}))['approvals'] as { id: string; effect: string }[];
  assert.deepEqual(
    listed.map((each) => [each.id, each.effect]),
    [[task.id, '']],
  );
  const shown = outputOf(await as('rev', 'reviews.show', { task_id: task.id }))['approval'] as ApprovalJson;
  assert.equal(shown.effectSha256, task.effectSha256);
  assert.match(shown.effect ?? '', /runs: printf one/);
  assert.equal((outputOf(await decide('rev', task))['approval'] as ApprovalJson).status, 'approved');
  const decided = (await desk.show(task.id)) as ApprovalJson & { decidedByAgent?: boolean };
  assert.deepEqual([decided.decidedBy, decided.decidedByAgent], ['rev', true]);
  const ran = await print('one', { approvalTaskId: task.id });
  assert.equal(outputOf(ran)['stdout'], 'one');
  const records = await daemon.records();
  const intent = records.find(({ kind, callId }) => kind === 'intent' && callId === ran.callId);
  const consent = intent?.payload['consent'] as { by: string; how: string; task: string };
  assert.deepEqual([consent.by, consent.how, consent.task], ['rev', 'approved-by-agent', task.id]);
  const decisions = records.filter(({ kind, payload }) => kind === 'intent' && payload['tool'] === 'reviews.decide');
  assert.deepEqual(
    decisions.map(({ payload }) => [payload['agent'], payload['principal']]),
    [['rev', 'agent']],
  );
  assert.equal(codeOf(await print('one', { approvalTaskId: task.id })), 'APPROVAL_USED', 'one decision is one run');
});

test('it denies, and asks for changes with a note that reaches the caller', async () => {
  const denied = await askFor('two');
  outputOf(await decide('rev', denied, 'deny'));
  const answer = await print('two', { approvalTaskId: denied.id });
  assert.equal(codeOf(answer), 'APPROVAL_DENIED');
  assert.match(answer.denied?.message ?? '', /Agent rev decided against/);
  const changed = await askFor('three');
  assert.equal(codeOf(await decide('rev', changed, 'request_changes')), 'INVALID_ARGUMENTS');
  outputOf(await decide('rev', changed, 'request_changes', { note: 'Put it into a folder.' }));
  const told = await print('three', { approvalTaskId: changed.id });
  assert.match(told.denied?.message ?? '', /Put it into a folder\./);
});

test('an agent that is named but not senior, or senior but not named, decides nothing', async () => {
  requirement('APPR-3');
  const task = await askFor('four');
  assert.equal(codeOf(await decide('mate', task)), 'RULE_DENIES', 'named, and not senior');
  assert.deepEqual(outputOf(await as('mate', 'reviews.list', {}))['approvals'], []);
  assert.equal(codeOf(await as('mate', 'reviews.show', { task_id: task.id })), 'RULE_DENIES');
  const unnamed = await as('ada', 'shell.run', { argv: ['echo', 'hello'] });
  const other = await desk.show(ApprovalDesk.ticketOf(unnamed).taskId);
  assert.equal(codeOf(await decide('rev', other)), 'NOT_FOUND', 'senior, and not named: it looks like no task');
  assert.equal(codeOf(await as('rev', 'reviews.show', { task_id: other.id })), 'NOT_FOUND');
  assert.deepEqual([(await desk.show(task.id)).status, (await desk.show(other.id)).status], ['pending', 'pending']);
});

test('nobody decides about a call of their own, from whichever session', async () => {
  requirement('APPR-3');
  const task = await askFor('five');
  const second = await daemon.newAgent('ada');
  for (const own of ['ada', second]) {
    assert.equal(codeOf(await decide(own, task)), 'RULE_DENIES');
    assert.deepEqual(outputOf(await as(own, 'reviews.list', {}))['approvals'], []);
  }
  assert.equal((await desk.show(task.id)).status, 'pending');
});

test('what is critical stays with people, although a rule names the agent', async () => {
  requirement('APPR-3');
  writeWorkspaceFile(daemon, 'old.txt');
  const { taskId } = ApprovalDesk.ticketOf(await as('ada', 'files.delete', { path: 'old.txt' }));
  const task = await desk.show(taskId);
  assert.equal(task.risk, 'critical');
  assert.equal(codeOf(await decide('rev', task)), 'NOT_FOUND');
  assert.equal((await desk.show(taskId)).status, 'pending');
  assert.ok(listWorkspace(daemon).includes('old.txt'));
});

test('the decision names the effect that was seen: another hash, or none, decides nothing', async () => {
  const task = await askFor('six');
  const wrong = { ...task, effectSha256: '0'.repeat(64) };
  for (const decision of ['approve', 'deny']) {
    assert.equal(codeOf(await decide('rev', wrong, decision)), 'APPROVAL_MISMATCH');
  }
  assert.equal(codeOf(await as('rev', 'reviews.decide', { task_id: task.id, decision: 'deny' })), 'INVALID_ARGUMENTS');
  assert.equal((await desk.show(task.id)).status, 'pending');
});

test("the operator's tools and service stay closed to an agent, and it approves nothing for more than one call", async () => {
  requirement('APPR-3');
  const task = await askFor('seven');
  const named = { task_id: task.id, effect_sha256: task.effectSha256 };
  for (const [tool, input] of [
    ['approvals.list', {}],
    ['approvals.show', { task_id: task.id }],
    ['approvals.approve', named],
    ['approvals.deny', named],
    ['approvals.reveal', { task_id: task.id, reason: 'to see it' }],
    ['approvals.standing_list', {}],
    ['confirm.issue', {}],
    ['plans.approve', { plan_id: task.id }],
  ] as const) {
    assert.equal(codeOf(await as('rev', tool, input)), 'UNKNOWN_TOOL', tool);
  }
  const { hostname: host, port } = new URL(daemon.address);
  const body = { id: task.id, approved: true, effectSha256: task.effectSha256 };
  const served = await postJson(
    { host, port },
    'sallyport.v1.ApprovalService/DecideApproval',
    body,
    tokens['rev'] ?? '',
  );
  assert.notEqual(served.status, 200);
  for (const more of [{ standing: { minutes: 5, uses: 2 } }, { standing: { for_session: true } }]) {
    assert.equal(codeOf(await decide('rev', task, 'approve', more)), 'INVALID_ARGUMENTS');
  }
  const calls = [{ tool: 'shell.run', arguments: { argv: ['printf', 'planned'] } }];
  const { plan } = outputOf(await as('ada', 'plans.propose', { summary: 'Print.', calls }));
  assert.equal(codeOf(await decide('rev', { ...task, id: (plan as { id: string }).id })), 'NOT_FOUND');
  assert.equal((await desk.show(task.id)).status, 'pending');
});

test('a secret in the effect stays masked for an agent', async () => {
  const value = 'correct-horse-battery-staple';
  outputOf(await daemon.call('secrets.set', { name: 'deploy-key', value }));
  const task = await askFor(`key ${value}`);
  const shown = JSON.stringify(outputOf(await as('rev', 'reviews.show', { task_id: task.id })));
  assert.match(shown, /\[secret 1: deploy-key, 28 characters\]/);
  assert.ok(!shown.includes(value));
});

test('a person still decides about the same call, and the first decision wins', async () => {
  const task = await askFor('eight');
  await desk.approve(task.id);
  assert.equal(codeOf(await decide('rev', task, 'deny')), 'ALREADY_EXISTS');
  assert.equal((await desk.show(task.id)).status, 'approved');
});

test('a session that has ended decides nothing', async () => {
  const task = await askFor('nine');
  const created = outputOf(await daemon.call('sessions.create', { agent: 'rev' }));
  outputOf(await daemon.call('sessions.end', { session_id: created['sessionId'] }));
  await assert.rejects(decide(String(created['token']), task), /401 .*The session was ended/);
  const narrow = await daemon.newAgent('rev', { tools: ['files.*'] });
  assert.equal(codeOf(await decide(narrow, task)), 'OUTSIDE_LEASE', 'the lease counts as for any tool');
  assert.equal((await desk.show(task.id)).status, 'pending');
});

test('in LOCKDOWN no agent decides', async () => {
  const task = await askFor('ten');
  await confirmed('mode.set', { mode: 'LOCKDOWN', cause: 'a test' });
  assert.equal(codeOf(await decide('rev', task)), 'MODE_FORBIDS');
  assert.equal(codeOf(await as('rev', 'reviews.list', {})), 'MODE_FORBIDS');
  assert.equal((await desk.show(task.id)).status, 'pending');
  await confirmed('mode.set', { mode: 'RECOVERY', cause: 'the way out' });
  await confirmed('mode.set', { mode: 'NORMAL', cause: 'the end of it' });
});

test('what is for whom counts at the moment of the decision: the organisation changes, then the rules', async () => {
  const task = await askFor('eleven');
  await confirmed('agents.delete', { name: 'rev' });
  tokens['rev'] = await daemon.newAgent('rev');
  assert.equal(codeOf(await decide('rev', task)), 'RULE_DENIES', 'no member, no office');
  await confirmed('agents.create', { name: 'rev', role });
  appendFileSync(join(daemon.place.home, 'governance', 'tools.yaml'), '\n# Another set of rules.\n');
  await confirmed('policy.apply', {});
  const late = await decide('rev', task);
  assert.equal(codeOf(late), 'RULE_DENIES');
  assert.match(late.denied?.message ?? '', /rules have changed/);
  assert.equal((await desk.show(task.id)).status, 'pending');
});

test('nobody decides after the time is over', async (t) => {
  const place = ownRules(newPlace(), { 'tools.yaml': rules, 'limits.yaml': limits(2) });
  const short = await TestDaemon.start(place);
  t.after(() => short.remove());
  for (const [tool, input] of [
    ['agents.create', { name: 'rev', role }],
    ['agents.create', { name: 'ada', role, senior_agent: 'rev' }],
  ] as const) {
    const confirmBinding = (await short.call(tool, input)).denied?.approval?.binding ?? '';
    outputOf(await short.call(tool, input, { confirmBinding }));
  }
  const [ada, rev] = [await short.newAgent('ada'), await short.newAgent('rev')];
  const input = { argv: ['printf', 'late'] };
  const { taskId } = ApprovalDesk.ticketOf(await short.call('shell.run', input, { token: ada }));
  const { effectSha256 } = await new ApprovalDesk(short).show(taskId);
  const waited = await short.call('shell.run', input, { token: ada, approvalTaskId: taskId, waitMs: '10000' });
  assert.equal(codeOf(waited), 'APPROVAL_EXPIRED');
  const named = { task_id: taskId, effect_sha256: effectSha256, decision: 'approve' };
  assert.equal(codeOf(await short.call('reviews.decide', named, { token: rev })), 'APPROVAL_EXPIRED');
});
