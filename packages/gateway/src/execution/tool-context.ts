import { judgeLeavings } from '../policy/judge/leavings.ts';
import { coversPath } from '../policy/judge/lease.ts';
import type * as facts from '../call/call.ts';
import type { Change } from '../call/journal.ts';
import type { NetworkLog, ProgramRunner } from '@sallyport/sandbox';
import { ownText } from '../call/redacted.ts';
import type { Redacted, RedactText } from '../call/redacted.ts';
import { refuse } from '../call/refusal.ts';
import type { SecretGrant, SecretUse } from '../call/secret-grant.ts';
import type { Lease, Session } from '../call/session.ts';
import type { LeavingsJudge, SweepBook } from '../call/sweep.ts';
import type {
  Asking,
  ContentAccess,
  HostJudge,
  PathJudge,
  ToolContext,
  ToolDefinition,
  ToolUsage,
} from '../call/tool.ts';
import { noGrants } from '../call/verdict.ts';
import type { Question } from '../call/verdict.ts';
import type { JournalRepository, NewJournalEntries } from '../storage/stores.ts';
import type { CallNetworks } from './call-networks.ts';
import { judgeHosts } from './judge-hosts.ts';
import { vouchFor } from '../programs/leavings/made-file.ts';
import { narrowGrants } from '../programs/run/narrow-grants.ts';

/** A context for one tool, and what the tool reports through it. */
export interface ObservedContext {
  readonly context: ToolContext;
  readonly changes: readonly Change[];
  readonly usage: () => ToolUsage;
  readonly warnings: readonly Redacted[];
  readonly network: NetworkLog;
  /** Whether the tool said, or what it kept shows, that its effect may have begun. */
  readonly hasBegun: () => boolean;
  /** What must be over before the call is answered. Undefined: nothing. */
  readonly pending: () => Promise<unknown> | undefined;
}

/** Far above anything real, and sums of it still fit into a column. */
const largestMeasure = 2 ** 50;

/** What a context is made from. */
export type ContextFacts = facts.Begun &
  facts.Chained &
  facts.Decoded &
  facts.Opened &
  facts.Resolved &
  facts.ArgumentsChecked &
  facts.Leased &
  facts.Permitted &
  facts.ModeRead &
  facts.Judged &
  // Not while an effect is only worked out.
  facts.Consented;

/** `timed`: where the signal comes from that ends the tool. */
export type ToolContextFactory = (call: ContextFacts, timed: { readonly signal: AbortSignal }) => ObservedContext;

export interface ToolContextParts {
  readonly trashFolder: string;
  readonly journal: Pick<JournalRepository, 'writeJournal' | 'completeJournal'>;
  readonly programs: ProgramRunner;
  /** Whether this machine lets the gate watch the limits of programs only. Asked when the tool is done. */
  readonly areLimitsWatched: () => boolean;
  /** What writes files: what it may not write, no program may leave behind. */
  readonly writeTool: ToolDefinition;
  readonly sweeps: SweepBook;
  readonly networks: Pick<CallNetworks, 'open'>;
  readonly redact: RedactText;
  /** How a call names itself to whom it asks for something. Undefined: nobody follows the trace. */
  readonly traceparentOf: (call: Pick<ContextFacts, 'traceId' | 'callerSpan' | 'callId'>) => string | undefined;
  readonly content: (session: Session, signal: AbortSignal) => ContentAccess;
  readonly secrets: {
    readonly secretsFor: (grants: readonly SecretGrant[], use: SecretUse) => ReadonlyMap<string, string>;
  };
}

export function createToolContexts(parts: ToolContextParts): ToolContextFactory {
  const {
    trashFolder,
    journal,
    programs,
    areLimitsWatched,
    traceparentOf,
    writeTool,
    sweeps,
    networks,
    redact,
    content,
    secrets,
  } = parts;
  return (call, timed) => {
    const { session, tool, rules, verdict, lease } = call;
    // Only a consent lets a call with this verdict run; for a preview, the person who will be asked may see it all.
    const consented = verdict.effect === 'require_approval';
    const grants = verdict.grants === undefined ? noGrants : narrowGrants(verdict.grants, lease);
    const changes: Change[] = [];
    const network = networks.open(call.callId);
    const warnings: Redacted[] = [];
    let usage: ToolUsage = noUsage;
    let isNoted = false;
    let noting: Promise<unknown> | undefined;
    // Most tools use little of it: what costs something is made when it is asked for.
    let paths: PathJudge | undefined;
    let hosts: HostJudge | undefined;
    let access: ContentAccess | undefined;
    let leavings: LeavingsJudge | undefined;
    let writing: PathJudge | undefined;
    const context: ToolContext = {
      session,
      callId: call.callId,
      ...(verdict.rewrite === true && { rewrite: true }),
      get asParent() {
        return describeParent(call, traceparentOf(call));
      },
      workingDirectory: session.workingDirectory,
      workspace: rules.workspace,
      get signal() {
        return timed.signal;
      },
      get paths() {
        return (paths ??= narrowPaths(rules.judgePaths(askAbout(call, consented)), lease));
      },
      get hosts() {
        return (hosts ??= judgeHosts({ rules, question: questionAbout(call), lease, consented, secrets }));
      },
      shownBasis: call.consent?.basis,
      grants,
      get leavings() {
        return (leavings ??= openLeavings(call, writeTool, consented));
      },
      sweeps,
      programs,
      get policyKey() {
        return `${rules.hash} ${call.mode} ${rules.workspace.key}`;
      },
      get content() {
        return (access ??= content(session, timed.signal));
      },
      readSecrets: () => Object.fromEntries(secrets.secretsFor(grants.secrets, { tool: tool.definition.name })),
      redact,
      reportProgress: (progress) => call.onProgress?.(progress),
      trashFolder,
      journal: (...about) => journal.writeJournal({ ...describeJournaled(call), changes: about }),
      completeChange: (path, after) => journal.completeJournal(call.callId, path, after),
      noteChange: (change) => {
        changes.push(change);
        noting = Promise.all([noting, sweeps.noteWritten(change.path, vouchFor(change))]);
      },
      get writing() {
        return (writing ??= narrowPaths(openWriting(call, writeTool, consented), lease));
      },
      noteEffect: () => {
        isNoted = true;
      },
      countUsage: (more) => {
        usage = addUsage(usage, more);
      },
      warn: (message) => {
        // What could not be set aside is found again at each look.
        if (!warnings.includes(message)) warnings.push(message);
      },
      noteNetwork: network.note,
      clientRun: call.clientRun,
      get traceparent() {
        return traceparentOf(call);
      },
      get asking() {
        return openAsking(call);
      },
    };
    const hasBegun = (): boolean => isNoted || changes.length > 0;
    const pending = (): Promise<unknown> | undefined => noting;
    return {
      ...{ context, changes, usage: () => usage, network: network.log, hasBegun, pending },
      // Whatever was measured: a program may end before anybody has looked at it.
      get warnings() {
        return tool.definition.requiresSandbox && areLimitsWatched() ? [...warnings, limitsWatched] : warnings;
      },
    };
  };
}

const noUsage: ToolUsage = {};
const limitsWatched = ownText(
  'CPU time, memory and processes of programs are watched on this machine, not enforced. Time, output, open files and file sizes are.',
);

/** What the rules are asked about each path that the tool opens. */
function askAbout(call: ContextFacts, consented: boolean): Parameters<ContextFacts['rules']['judgePaths']>[0] {
  const { consent } = call;
  return {
    ...questionAbout(call),
    consented,
    agreedAgent: consent?.how === 'approved-by-agent' ? consent.by : undefined,
  };
}

/** What the rules were asked about the call. */
function questionAbout(call: ContextFacts): Question {
  const { session, membership } = call;
  return {
    tool: call.tool.definition,
    principal: session.principal,
    agent: session.agent,
    mode: call.mode,
    resources: call.resources,
    arguments: call.arguments.value,
    nowMs: call.startedAtMs,
    roles: membership.roles,
    teams: membership.teams,
    toolGranted: membership.toolGranted,
    profile: membership.profile,
    history: call.history,
  };
}

/** What programs may leave is what the same caller could write now, without being asked. */
function openLeavings(call: ContextFacts, writeTool: ToolDefinition, consented: boolean): LeavingsJudge {
  const { rules, session, mode } = call;
  const { principal, agent } = session;
  const write = openWriting(call, writeTool, false);
  const { folder: workspace } = rules.workspace;
  return judgeLeavings({ write, caller: { principal, agent, mode, consented, workspace } });
}

function openWriting(call: ContextFacts, writeTool: ToolDefinition, consented: boolean): PathJudge {
  const { rules, session, mode, membership, history } = call;
  const { principal, agent } = session;
  const asker = { principal, agent, mode, ...membership, ...(history !== undefined && { history }) };
  return rules.judgePaths({ ...asker, tool: writeTool, consented, nowMs: call.startedAtMs });
}

/** Whose changes they are. */
function describeJournaled(call: ContextFacts): Omit<NewJournalEntries, 'changes'> {
  const { callId, session, traceId, tool, step } = call;
  return {
    ...{ callId, sessionId: session.id, traceId, tool: tool.definition.name, agent: session.agent },
    ...(step === undefined ? {} : { parentCallId: step.parent.callId }),
    atMs: Date.now(),
  };
}

/** The rules, the mode and what the session did before are those of the call. */
function openAsking({ rules, session, mode, membership, history, askCaller }: ContextFacts): Asking {
  const { principal, agent } = session;
  const asker = { principal, agent, mode, ...membership, ...(history !== undefined && { history }) };
  return {
    judge: (tool, args, resources) => rules.judge({ ...asker, tool, resources, arguments: args, nowMs: Date.now() }),
    ...(askCaller === undefined ? {} : { askCaller }),
  };
}

function describeParent(call: ContextFacts, traceparent: string | undefined): facts.ParentCall {
  const { callId, session, traceId, door, source, taskId, correlationId, step } = call;
  const depth = step === undefined ? 0 : step.parent.depth + 1;
  const trace = traceparent === undefined ? {} : { traceparent };
  return { callId, sessionId: session.id, traceId, ...trace, door, source, taskId, correlationId, depth };
}

/** The path that a tool really opened must be in the lease as well. */
function narrowPaths(rules: PathJudge, lease: Lease): PathJudge {
  if (lease.paths === undefined) return rules;
  return {
    judge: (path, access) =>
      coversPath(lease, path)
        ? rules.judge(path, access)
        : refuse('OUTSIDE_LEASE', 'lease', 'The path leads out of the lease of this session.'),
  };
}

function addUsage(a: ToolUsage, b: ToolUsage): ToolUsage {
  const sum: { -readonly [Key in keyof ToolUsage]: ToolUsage[Key] } = { ...a };
  for (const key of ['cpuMs', 'networkConnections', 'bytesRead', 'bytesWritten', 'tokens', 'costMicros'] as const) {
    // In whole microseconds, which a sum of numbers would not be.
    if (isMeasure(b[key])) sum[key] = round((sum[key] ?? 0) + b[key], key === 'cpuMs' ? 1000 : 1);
  }
  if (isMeasure(b.peakMemoryBytes))
    sum.peakMemoryBytes = Math.max(sum.peakMemoryBytes ?? 0, Math.round(b.peakMemoryBytes));
  if (b.measuredBy !== undefined) sum.measuredBy = b.measuredBy;
  return sum;
}

function round(value: number, parts: number): number {
  return Math.round(value * parts) / parts;
}

/** What is no number, or beyond counting, could neither be recorded nor answered. */
function isMeasure(value: number | undefined): value is number {
  return value !== undefined && value >= 0 && value <= largestMeasure;
}
