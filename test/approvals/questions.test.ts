import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { newPlace, TestDaemon } from '../harness/daemon.ts';
import type { Answer } from '../harness/daemon.ts';
import { ownRules } from '../harness/own-rules.ts';
import { ApprovalDesk, inTrace, outputOf, postJson, writeWorkspaceFile } from './approval-desk.ts';
import type { ApprovalJson } from './approval-desk.ts';

// A decision answers what was asked, as often as it was asked, and for what was asked about: nothing more.

const rules = `version: 1
rules:
  - id: printing
    effect: require_approval
    tools: [shell.run]
    commands: ['printf *', 'cat', 'cat *', 'test *']
    paths: ['$WORKSPACE/**']
    grants: { read: ['$WORKSPACE'] }
    approvers: [rev]
  - id: after-reading
    effect: require_approval
    tools: [shell.run]
    after: [files.read]
    within: 1h
    reason: The session has read files.
  - { id: reading, effect: allow, tools: [files.read], paths: ['$WORKSPACE/**'] }
  - { id: reviewing, effect: allow, tools: ['reviews.*'], approval: waived }
  - { id: plans, effect: allow, tools: ['plans.*'], approval: waived }
  - { id: people, effect: allow, tools: ['*'], who: [operator], approval: waived }
`;

let daemon: TestDaemon;
let desk: ApprovalDesk;
let rev: string;

before(async () => {
  daemon = await TestDaemon.start(
    ownRules(newPlace(), { 'tools.yaml': rules, 'limits.yaml': 'version: 1\nrates: []\n' }),
  );
  desk = new ApprovalDesk(daemon);
  await confirmed('agents.create', { name: 'rev', role: 'director' });
  await confirmed('agents.create', { name: 'ada', role: 'director', senior_agent: 'rev' });
  rev = await daemon.newAgent('rev');
  writeWorkspaceFile(daemon, 'notes.txt');
});
after(() => daemon.remove());

const codeOf = ({ denied, error }: Answer): string | undefined => denied?.rationaleCode ?? error?.code;

async function confirmed(tool: string, input: object): Promise<void> {
  const asked = await daemon.call(tool, input);
  const confirmBinding = asked.denied?.approval?.binding;
  outputOf(confirmBinding === undefined ? asked : await daemon.call(tool, input, { confirmBinding }));
}

/** An agent with a session of its own. */
async function newAda() {
  const token = await daemon.newAgent('ada');
  return {
    run: (input: object, more: object = {}) => daemon.call('shell.run', input, { token, ...more }),
    read: async () => void outputOf(await daemon.call('files.read', { path: 'notes.txt' }, { token })),
  };
}

async function waiting(answer: Answer): Promise<ApprovalJson> {
  return desk.show(ApprovalDesk.ticketOf(answer).taskId);
}

async function review({ id, effectSha256 }: ApprovalJson): Promise<void> {
  const decision = { task_id: id, effect_sha256: effectSha256, decision: 'approve' };
  outputOf(await daemon.call('reviews.decide', decision, { token: rev }));
}

test('what was approved before another rule asks is asked about anew, and agents that it does not name decide nothing', async () => {
  const ada = await newAda();
  const print = { argv: ['printf', 'one'] };
  const earlier = await waiting(await ada.run(print));
  await review(earlier);
  await ada.read();
  assert.equal(codeOf(await ada.run(print, { approvalTaskId: earlier.id })), 'APPROVAL_MISMATCH');
  const anew = await waiting(await ada.run(print));
  assert.notEqual(anew.id, earlier.id);
  const seen = { task_id: anew.id, effect_sha256: anew.effectSha256, decision: 'approve' };
  assert.ok(codeOf(await daemon.call('reviews.decide', seen, { token: rev })));
  await desk.approve(anew.id);
  outputOf(await ada.run(print));
});

test('a card that waited when another rule began to ask does not cover the new question', async () => {
  const ada = await newAda();
  const print = { argv: ['printf', 'two'] };
  const earlier = await waiting(await ada.run(print));
  await ada.read();
  const anew = await waiting(await ada.run(print, { requestId: 'again' }));
  assert.notEqual(anew.id, earlier.id);
  await review(earlier);
  assert.equal(codeOf(await ada.run(print, { approvalTaskId: earlier.id })), 'APPROVAL_MISMATCH');
});

test('a standing approval answers the rule that asked when it was given', async () => {
  const ada = await newAda();
  const print = { argv: ['printf', 'three'] };
  const standing = { minutes: 10, uses: 5 };
  await desk.approve((await waiting(await ada.run(print))).id, { standing });
  outputOf(await ada.run(print));
  outputOf(await ada.run(print));
  await ada.read();
  assert.equal(codeOf(await ada.run(print)), 'APPROVAL_REQUIRED');
});

test('a standing approval of a command is for what it reads, its variables and how its parts are joined', async () => {
  const ada = await newAda();
  const shown = { command: 'test -e a && cat', stdin: 'shown' };
  await desk.approve((await waiting(await ada.run(shown))).id, { standing: { minutes: 10, uses: 9 } });
  outputOf(await ada.run(shown));
  outputOf(await ada.run(shown));
  for (const other of [
    { ...shown, stdin: 'not shown' },
    { ...shown, command: 'test -e a || cat' },
    { ...shown, command: 'test -e a; cat' },
  ]) {
    assert.equal(codeOf(await ada.run(other)), 'APPROVAL_REQUIRED', JSON.stringify(other));
  }
});

test('anyone who decides approves as many runs as they saw, and an agent one', async () => {
  const ada = await newAda();
  const print = { argv: ['printf', 'four'] };
  const seen = await waiting(await ada.run(print, { requestId: '1' }));
  // Between the look and the decision.
  for (const requestId of ['2', '3']) ApprovalDesk.ticketOf(await ada.run(print, { requestId }));
  const { id, effectSha256 } = seen;
  const decided = await desk.send('ApprovalService/DecideApproval', { id, effectSha256, approved: true });
  assert.equal(decided.status, 200, JSON.stringify(decided.json));
  outputOf(await ada.run(print));
  assert.equal(codeOf(await ada.run(print)), 'APPROVAL_REQUIRED');

  const many = { argv: ['printf', 'five'] };
  for (const requestId of ['1', '2', '3']) ApprovalDesk.ticketOf(await ada.run(many, { requestId }));
  await review(await waiting(await ada.run(many, { requestId: '3' })));
  outputOf(await ada.run(many));
  assert.equal(codeOf(await ada.run(many)), 'APPROVAL_REQUIRED');
});

const traceId = 'abcd'.repeat(8);

test('a confirm token and the token of a plan answer the rules that asked when they were given', async () => {
  const created = outputOf(await daemon.call('sessions.create', { agent: 'ada' }));
  const [token, sessionId] = [String(created['token']), String(created['sessionId'])];
  const { hostname: host, port } = new URL(daemon.address);
  const send = async (name: string, input: object, confirmToken = ''): Promise<Answer> => {
    const body = { name, inputJson: JSON.stringify(input), confirmToken };
    const method = 'sallyport.v1.ToolService/ExecuteTool';
    return (await postJson({ host, port }, method, body, token, inTrace(traceId))).json as unknown as Answer;
  };
  const propose = async (calls: readonly object[]): Promise<string> => {
    const plan = { summary: 'x', calls, trace_id: traceId };
    const id = (outputOf(await send('plans.propose', plan))['plan'] as { id: string }).id;
    await desk.send('PlanService/DecidePlan', { id, approvedSteps: calls.map((_, at) => at) });
    return String(outputOf(await send('plans.show', { plan_id: id }))['confirmToken']);
  };
  const print = { argv: ['printf', 'six'] };
  const read = { path: 'notes.txt' };
  const calls = [{ tool: 'shell.run', arguments: print }];
  const input = { session_id: sessionId, trace_id: traceId, calls };
  const shown = await daemon.call('confirm.issue', input);
  const confirmBinding = shown.denied?.approval?.binding;
  const issued = outputOf(await daemon.call('confirm.issue', input, { confirmBinding }));
  const planned = await propose(calls);
  // What the plan itself does was shown with it.
  const whole = await propose([{ tool: 'files.read', arguments: read }, ...calls]);
  outputOf(await send('files.read', read, whole));
  for (const given of [String(issued['confirmToken']), planned]) {
    assert.equal(codeOf(await send('shell.run', print, given)), 'APPROVAL_MISMATCH');
  }
  outputOf(await send('shell.run', print, whole));
});
