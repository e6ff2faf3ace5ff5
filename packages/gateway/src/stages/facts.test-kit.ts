import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { canonicalJson } from '@sallyport/contract';
import { CallNetworks } from '../execution/call-networks.ts';
import { Sweeps } from '../programs/leavings/sweeps.ts';
import type { ToolContextParts } from '../execution/tool-context.ts';
import type { Code, JsonObject } from '@sallyport/contract';
import type { ArgumentsChecked, Begun, Judged, ParentCall } from '../call/call.ts';
import { isRefusal } from '../call/refusal.ts';
import type { Refusal } from '../call/refusal.ts';
import { modes } from '../call/session.ts';
import type { Lease, Session } from '../call/session.ts';
import type { AnyTool, ToolDefinition } from '../call/tool.ts';
import type { Limits, Rules, Verdict } from '../call/verdict.ts';
import type { Context, Stage, Working } from '../call/stage.ts';
import { ownText } from '../call/redacted.ts';
import { loneWorkspace } from '../call/workspace.ts';

// Facts for tests: each builder returns the plainest one, and the test adds what is special about its own.

export const nowMs = Date.UTC(2030, 0, 1);
export const clock: Context = { nowMs: () => nowMs };
export const still: AbortSignal = new AbortController().signal;

export function callOf(more: Partial<Begun> = {}): Begun {
  return {
    door: 'agent-socket',
    source: 'unix:agent',
    requestId: 'r-1',
    toolName: 'notes.read',
    input: '',
    timeoutMs: 0,
    dedupeKey: '',
    taskId: '',
    correlationId: '',
    confirmBinding: '',
    signal: still,
    isEnded: false,
    cancellation: more.signal ?? still,
    callId: '01900000-0000-7000-8000-000000000001',
    startedAtMs: nowMs,
    beganAtMs: 0,
    ...more,
  };
}

export function parentOf(more: Partial<ParentCall> = {}): ParentCall {
  return {
    callId: '01900000-0000-7000-8000-0000000000ca',
    sessionId: '01900000-0000-7000-8000-00000000000a',
    traceId: '4bf92f3577b34da6a3ce929d0e0e4736',
    door: 'agent-socket',
    source: 'unix:agent',
    taskId: '',
    correlationId: '',
    depth: 0,
    ...more,
  };
}

export const nothingSpent = { calls: 0, activeMs: 0, tokens: 0, costMicros: 0 };

export function leaseOf(more: Partial<Lease> = {}): Lease {
  return {
    id: '01900000-0000-7000-8000-0000000000aa',
    tools: ['*'],
    grantedAtMs: nowMs - 1000,
    budget: {},
    spent: nothingSpent,
    ...more,
  };
}

export function sessionOf(more: Partial<Session> = {}): Session {
  return {
    id: '01900000-0000-7000-8000-00000000000a',
    principal: 'agent',
    agent: 'ada',
    status: 'active',
    createdAtMs: nowMs - 1000,
    workingDirectory: '/workspace',
    lease: leaseOf(),
    budget: {},
    spent: nothingSpent,
    ...more,
  };
}

export const operator: Session = sessionOf({ principal: 'operator', agent: 'olga' });

export function definitionOf(more: Partial<ToolDefinition> = {}): ToolDefinition {
  return {
    name: 'notes.read',
    aliases: [],
    version: '1.0.0',
    description: 'Reads a note.',
    tags: [],
    category: 'read_only',
    inputSchema: { type: 'object' },
    outputSchema: {},
    risk: 'low',
    confirmation: 'never',
    mutates: false,
    scopes: [],
    allowedModes: modes,
    requiresApproval: false,
    requiresSandbox: false,
    timeoutMs: 10_000,
    idempotent: true,
    audience: 'everyone',
    ...more,
  };
}

export function toolOf(definition: Partial<ToolDefinition> = {}, more: Partial<AnyTool> = {}): AnyTool {
  return {
    definition: definitionOf(definition),
    claim: () => ({ paths: [] }),
    preview: () => Promise.resolve({ summary: 'Change a note.', detail: '-old\n+new', undoable: true }),
    run: () => Promise.resolve({ done: true }),
    summarize: () => 'one note',
    ...more,
  };
}

export function argumentsOf(value: JsonObject = {}): ArgumentsChecked {
  return {
    arguments: { value, sha256: hash('sha256', canonicalJson(value)) },
    resources: { paths: [] },
    effectiveTimeoutMs: 10_000,
  };
}

export const limits: Limits = {
  rates: [],
  teamRates: [],
  repeats: { warnAt: 3, delayAt: 4, delayMs: 1, refuseAt: 6, refuseChangesAt: 5, windowMs: 600_000 },
  quarantine: { at: 50, windowMs: 600_000, weights: { denied: 1, error: 0, timeout: 2 } },
  anomalies: { quietMs: 600_000, combinations: [] },
  teamAnomalies: { quietMs: 600_000, combinations: [] },
  approvals: { expireAfterMs: 300_000, remindAfterMs: 180_000, maxPending: 20 },
  maxRunning: 64,
  maxRunningPerSession: 32,
  undoForMs: 86_400_000,
  maxArgumentBytes: 1024,
};

export const allow: Verdict = { effect: 'allow', rule: { id: 'allow-notes' }, reason: 'Notes are open.' };
export const askFirst: Verdict = {
  effect: 'require_approval',
  rule: { id: 'ask-notes' },
  reason: 'Notes are dear.',
};

export function rulesOf(more: Partial<Rules> = {}): Rules {
  return {
    hash: 'ab'.repeat(32),
    count: 1,
    folder: '/rules',
    limits,
    workspace: loneWorkspace('/workspace'),
    looksAtHistory: false,
    acceptsNew: () => false,
    rolesOf: () => [],
    judge: () => allow,
    judgePaths: () => ({ judge: () => undefined }),
    ...more,
  };
}

export function judgedAs(verdict: Verdict, rules: Rules = rulesOf()): Judged {
  return { rules, verdict };
}

/** Runs a stage on a copy of the facts: the call with what it added, or its refusal. */
export function runStage<Needs extends object, Adds extends object>(
  stage: Stage<Needs, Adds>,
  facts: Needs,
  context: Context = clock,
): Adds | Refusal | Promise<Adds | Refusal> {
  const { signal = still } = facts as { signal?: AbortSignal };
  const ending = { get: () => signal.aborted };
  const call = Object.defineProperty({ ...facts }, 'isEnded', ending) as Working<Needs, Adds>;
  const added = (refusal: Refusal | undefined): Adds | Refusal => refusal ?? (call as unknown as Adds);
  const passing = stage.run(call, context);
  return passing instanceof Promise ? passing.then(added) : added(passing);
}

/** What a refusal says, to the letter. `remedy` undefined: there is no remedy. */
export interface ExpectedRefusal {
  readonly code: Code;
  readonly rule: string;
  readonly remedy: string | undefined;
  /** Absent: not compared. */
  readonly forOperators?: string;
}

export function assertRefused(result: object, expected: ExpectedRefusal): Refusal {
  assert.ok(isRefusal(result), 'the stage let the call go on');
  const { code, remedy, forOperators } = result;
  const told = expected.forOperators === undefined ? {} : { forOperators };
  assert.deepEqual({ code, rule: result.rule.id, remedy, ...told }, expected);
  assert.notEqual(result.message, '');
  return result;
}

/** The facts a stage added. Fails when it refused. */
export function assertPassed<Adds extends object>(result: Adds | Refusal): Adds {
  if (isRefusal(result)) assert.fail(`refused with ${result.code}: ${result.message}`);
  return result;
}

/** What a tool context is made of, for stages whose tools use none of it. */
export const contextParts: ToolContextParts = {
  trashFolder: '/trash',
  journal: { writeJournal: () => Promise.resolve(), completeJournal: () => Promise.resolve(false) },
  redact: ownText,
  traceparentOf: () => undefined,
  programs: { run: () => Promise.reject(new Error('no program runs here')) },
  areLimitsWatched: () => false,
  content: () => ({
    keep: () => Promise.reject(new Error('nothing is kept here')),
    sizeOf: () => Promise.reject(new Error('nothing is kept here')),
    read: () => {
      throw new Error('nothing is kept here');
    },
  }),
  secrets: { secretsFor: () => new Map() },
  networks: new CallNetworks(),
  sweeps: new Sweeps(),
  writeTool: toolOf().definition,
};
