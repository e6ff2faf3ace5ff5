import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import { requirement } from '../../../../test/requirement.ts';
import { callSha256 } from '../approvals/bind-call.ts';
import { ConfirmTokens, createConfirmKey } from '../approvals/confirm-tokens.ts';
import { Redactor } from '../redaction/redact.ts';
import { createToolContexts } from '../execution/tool-context.ts';
import type { ApprovalTask, ApproverRole, NewApproval, Plan, PlanStep, StandingApproval } from '../call/approval.ts';
import type { Begun, Consented } from '../call/call.ts';
import { refuse } from '../call/refusal.ts';
import type { Refusal } from '../call/refusal.ts';
import type { Mode, Session } from '../call/session.ts';
import { ToolFailure, ToolRefused } from '../call/tool.ts';
import type { AnyTool, Effect, ToolContext } from '../call/tool.ts';
import type { Rules, Verdict } from '../call/verdict.ts';
import {
  allow,
  argumentsOf,
  askFirst,
  assertPassed,
  assertRefused,
  callOf,
  clock,
  judgedAs,
  nowMs,
  operator,
  rulesOf,
  sessionOf,
  toolOf,
  contextParts,
  runStage,
} from './facts.test-kit.ts';
import { seekApproval } from './seek-approval.ts';
import type { ApprovalParts } from './approval/approval-parts.ts';

type Answer = Consented | Refusal;
type ApprovalStore = ApprovalParts['store'];

/** Approvals in memory, as a store keeps them. */
class TestApprovals implements ApprovalStore {
  readonly tasks: ApprovalTask[] = [];
  standing: readonly StandingApproval[] = [];
  plan: Plan | undefined;

  readonly openApproval = async (task: NewApproval): Promise<ApprovalTask> => {
    const pending = this.tasks.find((each) => each.binding === task.binding && each.status === 'pending');
    if (pending !== undefined) return pending;
    this.tasks.push({ ...task, status: 'pending', wanted: 1, runsLeft: 0 });
    return this.tasks.at(-1) ?? assert.fail();
  };
  readonly findApproval = async (id: string) => this.tasks.find((task) => task.id === id);
  readonly findApprovalByBinding = async (sessionId: string, binding: string) =>
    this.tasks.findLast((task) => task.sessionId === sessionId && task.binding === binding);
  readonly countPending = async () => this.tasks.filter((task) => task.status === 'pending').length;
  readonly listPendingLike = async (sessionId: string, effectSha256: string) =>
    this.tasks.filter(
      (task) => task.sessionId === sessionId && task.effectSha256 === effectSha256 && task.status === 'pending',
    );
  readonly listStanding = () => this.standing;
  readonly findPlan = async () => this.plan;
  readonly isTokenUsed = async () => false;

  /** Ends the last task. */
  decide(status: ApprovalTask['status'], note?: string): ApprovalTask {
    const task = this.tasks.pop() ?? assert.fail();
    const decided = { ...task, status, decidedBy: 'olga', decidedAtMs: nowMs, ...(note === undefined ? {} : { note }) };
    this.tasks.push(decided);
    return decided;
  }
}

interface Asked {
  /** The rules let the session read none of the files. */
  readonly isClosed?: true;
  readonly session?: Session;
  readonly tool?: AnyTool;
  readonly path?: string;
  readonly mode?: Mode;
  readonly rulesHash?: string;
  readonly verdict?: Verdict;
  readonly call?: Partial<Begun>;
  readonly effectiveTimeoutMs?: number;
}

const tokens = new ConfirmTokens(createConfirmKey());
let store: TestApprovals;
let heard: ApprovalTask[];
let handedOver: (readonly string[] | undefined)[];
let outdated: string[];
let route: ApproverRole | undefined;
beforeEach(() => {
  outdated = [];
  store = new TestApprovals();
  heard = [];
  handedOver = [];
  route = 'senior';
});

const closed: Partial<Rules> = { judge: () => ({ ...allow, effect: 'deny' }) };

const stage = () =>
  seekApproval(
    createToolContexts(contextParts),
    new Redactor(['hunter2-secret']),
    {
      store,
      tokens,
      routeApproval: () => route,
      assigneeOf: () => 'sue',
      limits: () => ({ expireAfterMs: 300_000, remindAfterMs: 180_000, maxPending: 3 }),
      endOutdated: async ({ id }) => void outdated.push(id),
      hasRoom: (characters) => characters <= 16 * 1024 * 1024,
      onPending: (task, secrets) => {
        heard.push(task);
        handedOver.push(secrets);
      },
    },
    () => toolOf().definition,
  );

function ask(asked: Asked = {}, more: { readonly reused?: { readonly output: null; readonly callId: string } } = {}) {
  const { session = operator, tool = toolOf(), path = 'a', mode = 'NORMAL', rulesHash = 'ab'.repeat(32) } = asked;
  const facts = {
    ...callOf(asked.call),
    ...argumentsOf({ path }),
    ...judgedAs(asked.verdict ?? askFirst, rulesOf({ hash: rulesHash, ...(asked.isClosed === true ? closed : {}) })),
    ...(asked.isClosed === true ? { resources: { paths: [{ path: '/a', access: 'write' as const }] } } : {}),
    ...(asked.effectiveTimeoutMs === undefined ? {} : { effectiveTimeoutMs: asked.effectiveTimeoutMs }),
    ...more,
  };
  return Promise.resolve(
    runStage(
      stage(),
      { ...facts, traceId, session, lease: session.lease, membership: {}, tool, mode },
      clock,
    ) as Promise<Answer>,
  );
}

const bindingFor = async (asked: Asked = {}): Promise<string> =>
  ((await ask(asked)) as Refusal).approval?.binding ?? '';

function previewing(preview: (context: ToolContext) => Promise<Effect>): AnyTool {
  return toolOf({}, { preview: (_args, context) => preview(context) });
}

const effect: Effect = { summary: 'Change a note.', detail: '-old\n+new', undoable: true };

test('what the rules allow, and what is only handed out again, needs no consent and no preview', async () => {
  const tool = previewing(() => assert.fail('previewed'));
  assert.equal(assertPassed(await ask({ tool, verdict: allow })).consent, undefined);
  assert.equal(assertPassed(await ask({ tool }, { reused: { output: null, callId: 'first' } })).consent, undefined);
});

test('an operator is shown the effect and what to confirm', async () => {
  requirement('PIPE-4');
  const refusal = assertRefused(await ask(), {
    code: 'APPROVAL_REQUIRED',
    rule: 'ask-notes',
    remedy: 'Run it at a terminal, where you see its effect and confirm it. For scripts most commands take --yes.',
  });
  assert.equal(refusal.message, "notes.read needs a person's approval: Notes are dear.");
  assert.equal(refusal.approval?.effect, 'Change a note.\n-old\n+new');
  assert.match(refusal.approval?.binding ?? '', /^[0-9a-f]{64}$/);
});

test('the binding that was shown is consent, and the consent says whose', async () => {
  const binding = await bindingFor();
  assert.partialDeepStrictEqual(assertPassed(await ask({ call: { confirmBinding: binding } })), {
    consent: { by: 'olga', how: 'own-call-confirmed', atMs: nowMs, binding },
  });
});

test('the same call twice has one binding; any difference makes another, and the old one is no consent', async () => {
  requirement('PIPE-3');
  const binding = await bindingFor();
  assert.equal(await bindingFor(), binding);
  const differences: Record<string, Asked> = {
    arguments: { path: 'b' },
    tool: { tool: toolOf({ name: 'notes.send' }) },
    version: { tool: toolOf({ version: '1.0.1' }) },
    mode: { mode: 'ALERT' },
    rules: { rulesHash: 'cd'.repeat(32) },
    session: { session: { ...operator, id: '01900000-0000-7000-8000-00000000000b' } },
    'summary of the effect': { tool: previewing(async () => ({ ...effect, summary: 'Delete a note.' })) },
    'detail of the effect': { tool: previewing(async () => ({ ...effect, detail: '-older\n+new' })) },
    'what can be undone': { tool: previewing(async () => ({ ...effect, undoable: false })) },
  };
  const bindings = new Set([binding]);
  for (const [what, difference] of Object.entries(differences)) {
    const refusal = assertRefused(await ask({ ...difference, call: { confirmBinding: binding } }), {
      code: 'APPROVAL_MISMATCH',
      rule: 'ask-notes',
      remedy: 'Look at the effect again.',
    });
    bindings.add(refusal.approval?.binding ?? '');
    assert.ok(refusal.approval?.effect, what);
  }
  assert.equal(bindings.size, 1 + Object.keys(differences).length);
});

test('a call id, a request id and a time limit are not part of what is agreed to', async () => {
  const other = { callId: 'other', requestId: 'other', timeoutMs: 5, correlationId: 'other' };
  assert.equal(await bindingFor({ call: other }), await bindingFor());
});

const agent = sessionOf();
const traceId = '4bf92f3577b34da6a3ce929d0e0e4736';
const askAgent = (asked: Asked = {}) => ask({ session: agent, ...asked });

test('a call of an agent becomes a task with its effect; the agent gets the ticket and nothing of the effect', async () => {
  const binding = await bindingFor();
  for (const confirmBinding of ['', 'wrong', binding]) {
    const refusal = (await askAgent({ call: { confirmBinding, requestId: 'r-1' } })) as Refusal;
    assert.equal(refusal.code, 'APPROVAL_REQUIRED');
    assert.match(refusal.remedy ?? '', new RegExp(refusal.approval?.taskId ?? '?'));
    assert.doesNotMatch(JSON.stringify(refusal), /Change a note|-old|[0-9a-f]{64}/);
  }
  assert.equal(store.tasks.length, 1);
  const [task] = store.tasks;
  const { title, effect: shown, risk, approverRole, status, wanted, expiresAtMs, remindAtMs } = task ?? assert.fail();
  assert.deepEqual(
    [title, shown, risk, approverRole, status, wanted],
    ['Change a note.', '-old\n+new', 'low', 'senior', 'pending', 1],
  );
  assert.deepEqual([expiresAtMs - nowMs, remindAtMs - nowMs], [300_000, 180_000]);
  assert.equal(heard.length, 3);
});

test('nobody is asked about a call that will fail', async () => {
  requirement('APPR-11');
  const tool = previewing(() => Promise.reject(new ToolFailure('NOT_FOUND', 'There is no such note.')));
  const refusal = (await askAgent({ tool })) as Refusal;
  assert.deepEqual([refusal.code, refusal.message], ['NOT_FOUND', 'There is no such note.']);
  assert.equal(store.tasks.length, 0);
});

test('an agent that may not read the files learns nothing from a preview that fails: the person who decides does', async () => {
  const tool = previewing(() => Promise.reject(new ToolFailure('NOT_FOUND', 'There is no such note.')));
  const refusal = (await askAgent({ tool, isClosed: true })) as Refusal;
  assert.equal(refusal.code, 'APPROVAL_REQUIRED');
  assert.doesNotMatch(JSON.stringify(refusal), /NOT_FOUND|no such note/);
  assert.match(store.tasks[0]?.effect ?? '', /no such note/);
});

test('what was approved runs: with its task named, or simply sent again', async () => {
  requirement('APPR-6');
  await askAgent();
  const task = store.decide('approved');
  const consent = {
    by: 'olga',
    how: 'approved',
    atMs: nowMs,
    binding: task.binding,
    use: { kind: 'task', taskId: task.id, binding: task.binding },
  };
  assert.partialDeepStrictEqual(await askAgent({ call: { approvalTaskId: task.id } }), { consent });
  assert.partialDeepStrictEqual(await askAgent(), { consent });
});

test('an approval that nobody used in time no longer counts, and neither does one from the future', async () => {
  await askAgent();
  const task = store.decide('approved');
  for (const [decidedAtMs, isGood] of [
    [nowMs - 300_000, true],
    [nowMs - 300_001, false],
    [nowMs + 60_001, false],
  ] as const) {
    store.tasks[0] = { ...task, decidedAtMs };
    const answer = await askAgent({ call: { approvalTaskId: task.id } });
    assert.equal('consent' in answer, isGood);
    if (!isGood) assert.equal((answer as Refusal).code, 'APPROVAL_EXPIRED');
  }
});

test('an approval is for exactly the call and the effect that was shown', async () => {
  requirement('APPR-6');
  await askAgent();
  const { id: approvalTaskId } = store.decide('approved');
  const differences: Asked[] = [
    { path: 'b' },
    { mode: 'ALERT' },
    { rulesHash: 'cd'.repeat(32) },
    { tool: toolOf({ version: '1.0.1' }) },
    { tool: toolOf({ fileSha256: 'ef'.repeat(32) }) },
    { tool: toolOf({}, { claim: () => ({ paths: [] }), preview: async () => ({ ...effect, detail: '-older' }) }) },
    { session: { ...agent, id: '01900000-0000-7000-8000-00000000000b' } },
  ];
  for (const difference of differences) {
    const refusal = (await askAgent({ ...difference, call: { approvalTaskId } })) as Refusal;
    assert.equal(refusal.code, 'APPROVAL_MISMATCH', JSON.stringify(difference));
  }
  assert.equal(((await askAgent({ call: { approvalTaskId: 'unknown' } })) as Refusal).code, 'APPROVAL_MISMATCH');
});

test('each end of a task has its own answer, and what a person said reaches the agent', async () => {
  requirement('APPR-10');
  await askAgent();
  const { id: approvalTaskId } = store.decide('denied', 'Use the test database.');
  const denied = (await askAgent({ call: { approvalTaskId } })) as Refusal;
  assert.equal(denied.code, 'APPROVAL_DENIED');
  assert.match(denied.message, /olga decided against the call\. They say: Use the test database\./);
  for (const [status, code] of [
    ['expired', 'APPROVAL_EXPIRED'],
    ['used', 'APPROVAL_USED'],
  ] as const) {
    store.decide(status);
    assert.equal(((await askAgent({ call: { approvalTaskId } })) as Refusal).code, code);
  }
  // Without naming it, the same call asks anew.
  assert.equal(((await askAgent()) as Refusal).code, 'APPROVAL_REQUIRED');
  assert.equal(store.tasks.length, 2);
});

test('where nobody could decide, nobody is asked', async () => {
  requirement('APPR-3');
  route = undefined;
  assert.equal(((await askAgent()) as Refusal).code, 'NO_APPROVER');
  assert.equal(store.tasks.length, 0);
});

test('a session has only so many calls waiting; one that waits already may ask again', async () => {
  for (const path of ['a', 'b', 'c']) await askAgent({ path });
  assert.equal(((await askAgent({ path: 'd' })) as Refusal).code, 'TOO_MANY_APPROVALS');
  assert.equal(((await askAgent({ path: 'c' })) as Refusal).code, 'APPROVAL_REQUIRED');
});

test('a standing approval covers its tool and scope, for its session, under the same rules and in the same mode', async () => {
  requirement('APPR-9');
  await askAgent();
  const [{ scopeSha256 } = assert.fail()] = store.tasks;
  const standing = {
    id: 'st',
    sessionId: agent.id,
    agent: agent.agent,
    tool: 'notes.read',
    scopeSha256,
    risk: 'low',
    rulesHash: 'ab'.repeat(32),
    mode: 'NORMAL',
    grantedBy: 'olga',
    grantedAtMs: nowMs,
    expiresAtMs: nowMs + 60_000,
  } as const;
  store.standing = [standing];
  // Other arguments, the same scope.
  const { consent } = assertPassed(await askAgent({ path: 'b' }));
  assert.deepEqual(
    [consent?.by, consent?.how, consent?.use],
    ['olga', 'standing-approval', { kind: 'standing', standingId: 'st' }],
  );
  const reaching = toolOf({}, { claim: () => ({ paths: [] }) });
  for (const asked of [
    { mode: 'ALERT' },
    { rulesHash: 'cd'.repeat(32) },
    { tool: toolOf({ name: 'notes.send' }) },
  ] as Asked[]) {
    assert.ok(!('consent' in (await askAgent({ tool: reaching, ...asked }))));
  }
  store.standing = [{ ...standing, scopeSha256: 'other' }];
  assert.ok(!('consent' in (await askAgent({ path: 'b' }))));
});

test('a confirm token covers its calls for its session and trace until it expires; each failure has its own code', async () => {
  requirement('APPR-7');
  const covered = callSha256(toolOf().definition, argumentsOf({ path: 'a' }).arguments.sha256);
  const claims = {
    sessionId: agent.id,
    traceId,
    calls: [covered],
    tools: ['notes.read'],
    rulesHash: 'ab'.repeat(32),
    mode: 'NORMAL' as const,
    issuedBy: 'olga',
    issuedAtMs: nowMs,
    expiresAtMs: nowMs + 60_000,
    reusable: false,
  };
  const tryToken = async (more: Partial<typeof claims>, asked: Asked = {}) =>
    askAgent({ ...asked, call: { confirmToken: tokens.issue({ ...claims, ...more }).token } });
  const { consent } = assertPassed(await tryToken({}));
  assert.deepEqual([consent?.by, consent?.how, consent?.use?.kind], ['olga', 'confirm-token', 'token']);
  const codeOf = (answer: Answer) => (answer as Refusal).code;
  assert.equal(codeOf(await askAgent({ call: { confirmToken: 'nonsense' } })), 'CONFIRM_TOKEN_INVALID');
  assert.equal(codeOf(await tryToken({ traceId: '0'.repeat(32) })), 'CONFIRM_TOKEN_TRACE');
  assert.equal(codeOf(await tryToken({ sessionId: 'another' })), 'CONFIRM_TOKEN_TRACE');
  assert.equal(codeOf(await tryToken({ expiresAtMs: nowMs })), 'CONFIRM_TOKEN_EXPIRED');
  assert.equal(codeOf(await tryToken({}, { path: 'b' })), 'CONFIRM_TOKEN_SCOPE');
});

test('a plan lets its steps through in their order, each soon after the one before', async () => {
  requirement('APPR-8');
  const shaOf = (path: string) => callSha256(toolOf().definition, argumentsOf({ path }).arguments.sha256);
  const steps = ['a', 'b'].map((path) => ({ tool: 'notes.read', callSha256: shaOf(path) }) as PlanStep);
  const plan = { id: 'p', status: 'approved', approvedSteps: [0, 1], started: 0, steps } as unknown as Plan;
  const { token } = tokens.issue({
    sessionId: agent.id,
    traceId,
    calls: steps.map((step) => step.callSha256),
    tools: ['notes.read'],
    rulesHash: 'ab'.repeat(32),
    mode: 'NORMAL' as const,
    issuedBy: 'olga',
    issuedAtMs: nowMs,
    expiresAtMs: nowMs + 3_600_000,
    reusable: false,
    planId: 'p',
  });
  const step = async (path: string) => askAgent({ path, call: { confirmToken: token } });
  store.plan = plan;
  assert.equal(((await step('b')) as Refusal).code, 'CONFIRM_TOKEN_SCOPE');
  const { use } = assertPassed(await step('a')).consent ?? assert.fail();
  assert.ok(use?.kind === 'token');
  assert.deepEqual(use.step, { planId: 'p', index: 0 });
  store.plan = { ...plan, started: 1, lastOutcomeAtMs: nowMs - 60_001 };
  assert.equal(((await step('b')) as Refusal).code, 'CONFIRM_TOKEN_EXPIRED');
  store.plan = { ...plan, started: 1, lastOutcomeAtMs: nowMs - 60_000 };
  assert.ok('consent' in (await step('b')));
  store.plan = { ...plan, started: 2 };
  assert.equal(((await step('b')) as Refusal).code, 'CONFIRM_TOKEN_SCOPE');
  store.plan = { ...plan, approvedSteps: [1] };
  assert.ok('consent' in (await step('b')));
});

test('a step that needs no consent is counted too, and a token ends with a change of rules or mode', async () => {
  requirement('APPR-8');
  const shaOf = (path: string) => callSha256(toolOf().definition, argumentsOf({ path }).arguments.sha256);
  const steps = ['a', 'b'].map((path) => ({ tool: 'notes.read', callSha256: shaOf(path) }) as PlanStep);
  store.plan = { id: 'p', status: 'approved', approvedSteps: [0, 1], started: 0, steps } as unknown as Plan;
  const { token: confirmToken } = tokens.issue({
    sessionId: agent.id,
    traceId,
    calls: steps.map((step) => step.callSha256),
    tools: ['notes.read'],
    rulesHash: 'ab'.repeat(32),
    mode: 'NORMAL',
    issuedBy: 'olga',
    issuedAtMs: nowMs,
    expiresAtMs: nowMs + 3_600_000,
    reusable: false,
    planId: 'p',
  });
  const { consent } = assertPassed(await askAgent({ verdict: allow, call: { confirmToken } }));
  assert.equal(consent?.how, 'confirm-token');
  const outOfTurn = (await askAgent({ verdict: allow, path: 'b', call: { confirmToken } })) as Refusal;
  assert.equal(outOfTurn.code, 'CONFIRM_TOKEN_SCOPE');
  for (const changed of [{ rulesHash: 'cd'.repeat(32) }, { mode: 'ALERT' }] as Asked[]) {
    assert.equal(((await askAgent({ ...changed, call: { confirmToken } })) as Refusal).code, 'CONFIRM_TOKEN_EXPIRED');
  }
});

test('known secrets are not shown in the effect', async () => {
  requirement('AUD-4');
  const tool = previewing(async () => ({ ...effect, detail: '+password: hunter2-secret' }));
  const { approval } = (await ask({ tool })) as Refusal;
  assert.equal(approval?.effect, 'Change a note.\n+password: [secret 1: 14 characters]');
});

test('what is kept of a call that waits has marks for its secrets; what they stand for is handed over and kept nowhere', async () => {
  requirement('AUD-4');
  const tool = previewing(async () => ({ ...effect, summary: 'Set hunter2-secret.', detail: '+hunter2-secret' }));
  const refusal = (await ask({ session: sessionOf(), tool })) as Refusal;
  const [task = assert.fail()] = store.tasks;
  assert.deepEqual([task.title, task.effect], ['Set [secret 1: 14 characters].', '+[secret 1: 14 characters]']);
  assert.deepEqual(task.masked, [{ number: 1, characters: 14, isHeld: true }]);
  assert.deepEqual(handedOver, [['hunter2-secret']]);
  assert.ok(!JSON.stringify([store.tasks, refusal]).includes('hunter2'));
});

test('a request that joins a task hands over what its marks stand for only if the marks are the same', async () => {
  const tool = previewing(async () => ({ ...effect, summary: 'Set hunter2-secret.', detail: '+hunter2-secret' }));
  await ask({ session: sessionOf(), tool });
  await ask({ session: sessionOf(), tool });
  const [task = assert.fail()] = store.tasks;
  // As if the gate had learned another secret since.
  store.tasks[0] = { ...task, masked: [{ number: 1, characters: 3 }] };
  await ask({ session: sessionOf(), tool });
  assert.deepEqual(handedOver, [['hunter2-secret'], ['hunter2-secret'], undefined]);
});

test('an effect that cannot be worked out is refused with the code of the failure', async () => {
  const tool = previewing(() => Promise.reject(new ToolFailure('NOT_FOUND', 'There is no such note.')));
  const refusal = assertRefused(await ask({ tool }), {
    code: 'NOT_FOUND',
    rule: 'preview',
    remedy: 'The effect of notes.read could not be worked out.',
  });
  assert.equal(refusal.message, 'There is no such note.');
});

test('a gate inside the preview refuses the call in its own words', async () => {
  const inner = refuse('UNSAFE_PATH', 'links', 'The path leads through a link.');
  assert.equal(await ask({ tool: previewing(() => Promise.reject(new ToolRefused(inner))) }), inner);
});

test('nobody is asked about a call of an agent that a gate inside its tool refuses', async () => {
  const inner = refuse('PROTECTED_PATH', 'protected-path', 'It belongs to somebody else.');
  assert.equal(await askAgent({ tool: previewing(() => Promise.reject(new ToolRefused(inner))) }), inner);
  assert.deepEqual(store.tasks, []);
});

test('a preview that breaks stops the call', async () => {
  requirement('PIPE-2');
  await assert.rejects(ask({ tool: previewing(() => Promise.reject(new Error('inside'))) }), /inside/);
});

test('a preview has no more time than the call', async () => {
  const waitForSignal = ({ signal }: ToolContext): Promise<Effect> =>
    new Promise((_resolve, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason as Error));
    });
  const tool = previewing(waitForSignal);
  const refusal = (await ask({ tool, effectiveTimeoutMs: 5 })) as Refusal;
  assert.equal(refusal.code, 'TIMEOUT');
  const leaving = new AbortController();
  const cancelled = ask({ tool, call: { signal: leaving.signal } });
  leaving.abort();
  assert.equal(((await cancelled) as Refusal).code, 'CANCELLED');
});

test('an effect that was cut through a character can still be confirmed', async () => {
  const tool = previewing(async () => ({ ...effect, detail: 'cut \ud83d' }));
  const binding = await bindingFor({ tool });
  assert.ok('consent' in (await ask({ tool, call: { confirmBinding: binding } })));
});
