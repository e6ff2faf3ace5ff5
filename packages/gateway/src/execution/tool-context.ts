import type * as facts from '../call/call.ts';
import type { AbortLike } from '../call/cancellation.ts';
import type { Change } from '../call/journal.ts';
import type { NetworkLog, ProgramRunner } from '@sallyport/sandbox';
import { ownText } from '../call/redacted.ts';
import type { Redacted, RedactText } from '../call/redacted.ts';
import type { Session } from '../call/session.ts';
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
import type { Grants } from '../call/verdict.ts';
import type { Workspace } from '../call/workspace.ts';
import type { JournalRepository, NewJournalEntries } from '../storage/stores.ts';
import type { CallNetwork, CallNetworks } from './call-networks.ts';
import { addUsage } from './add-usage.ts';
import type { HostJudgeParts } from './judge-hosts.ts';
import { openAsking, openHosts, openLeavings, openPaths, openWriting } from './open-judges.ts';
import type { JudgedCall } from './open-judges.ts';
import { vouchFor } from '../programs/leavings/made-file.ts';
import { narrowGrants } from '../programs/run/narrow-grants.ts';

/** A context for one tool, and what the tool reports through it. */
export interface ObservedContext {
  readonly context: ToolContext;
  readonly changes: readonly Change[];
  readonly usage: ToolUsage;
  readonly warnings: readonly Redacted[];
  /** Undefined: it asked nothing of the network. */
  readonly network: NetworkLog | undefined;
  /** Whether the tool said, or what it kept shows, that its effect may have begun. */
  readonly hasBegun: boolean;
  /** What must be over before the call is answered. Undefined: nothing. */
  readonly pending: Promise<unknown> | undefined;
}

/** What a context is made from. */
export type ContextFacts = JudgedCall & facts.Chained & facts.Decoded;

/** What ends the tool. */
interface Timed {
  readonly signal: AbortSignal;
  readonly cancellation: AbortLike;
}

export type ToolContextFactory = (call: ContextFacts, timed: Timed) => ObservedContext;

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
  readonly secrets: HostJudgeParts['secrets'];
}

export function createToolContexts(parts: ToolContextParts): ToolContextFactory {
  return (call, timed) => new Observed(parts, call, timed);
}

/**
 * What a tool has reported so far, and what was made for it because it asked. Most tools use little of what they are
 * offered, so nothing is made before.
 */
class Observed implements ObservedContext {
  readonly context: ToolContext;
  readonly changes: Change[] = [];
  usage: ToolUsage = noUsage;
  pending: Promise<unknown> | undefined;
  isNoted = false;
  told: Redacted[] = nothingTold;
  calling: CallNetwork | undefined;
  grants: Grants | undefined;
  paths: PathJudge | undefined;
  hosts: HostJudge | undefined;
  content: ContentAccess | undefined;
  leavings: LeavingsJudge | undefined;
  writing: PathJudge | undefined;
  readonly #parts: ToolContextParts;
  readonly #call: ContextFacts;

  constructor(parts: ToolContextParts, call: ContextFacts, timed: Timed) {
    this.#parts = parts;
    this.#call = call;
    this.context = new CallContext(parts, call, timed, this);
  }

  get hasBegun(): boolean {
    return this.isNoted || this.changes.length > 0;
  }

  get network(): NetworkLog | undefined {
    return this.calling?.log;
  }

  /** Whatever was measured: a program may end before anybody has looked at it. */
  get warnings(): readonly Redacted[] {
    const isWatched = this.#call.tool.definition.requiresSandbox && this.#parts.areLimitsWatched();
    return isWatched ? [...this.told, limitsWatched] : this.told;
  }
}

/**
 * A context that costs next to nothing until a tool uses it: every member is made when it is asked for. A changed one is
 * made with `changeContext`; a copy of its own members would lack the rest. What it learns is kept in `seen`, which it
 * shares with those.
 */
class CallContext implements ToolContext {
  readonly session: Session;
  readonly callId: string;
  private readonly parts: ToolContextParts;
  private readonly call: ContextFacts;
  private readonly timed: Timed;
  private readonly seen: Observed;

  constructor(parts: ToolContextParts, call: ContextFacts, timed: Timed, seen: Observed) {
    this.session = call.session;
    this.callId = call.callId;
    this.parts = parts;
    this.call = call;
    this.timed = timed;
    this.seen = seen;
  }

  get asParent(): facts.ParentCall {
    return describeParent(this.call, this.parts.traceparentOf(this.call));
  }

  get workingDirectory(): string {
    return this.call.session.workingDirectory;
  }

  get workspace(): Workspace {
    return this.call.rules.workspace;
  }

  get signal(): AbortSignal {
    return this.timed.signal;
  }

  get cancellation(): AbortLike {
    return this.timed.cancellation;
  }

  get paths(): PathJudge {
    const { call, seen } = this;
    return (seen.paths ??= openPaths(call));
  }

  get hosts(): HostJudge {
    return (this.seen.hosts ??= openHosts(this.call, this.parts.secrets));
  }

  get shownBasis(): string | undefined {
    return this.call.consent?.basis;
  }

  get grants(): Grants {
    const { verdict, lease } = this.call;
    return (this.seen.grants ??= verdict.grants === undefined ? noGrants : narrowGrants(verdict.grants, lease));
  }

  get rewrite(): boolean {
    return this.call.verdict.rewrite === true;
  }

  get programs(): ProgramRunner {
    return this.parts.programs;
  }

  get leavings(): LeavingsJudge {
    return (this.seen.leavings ??= openLeavings(this.call, this.parts.writeTool));
  }

  get sweeps(): SweepBook {
    return this.parts.sweeps;
  }

  get policyKey(): string {
    const { rules, mode } = this.call;
    return `${rules.hash} ${mode} ${rules.workspace.key}`;
  }

  get content(): ContentAccess {
    return (this.seen.content ??= this.parts.content(this.call.session, this.timed.signal));
  }

  get readSecrets(): ToolContext['readSecrets'] {
    const { grants, call, parts } = this;
    return () => Object.fromEntries(parts.secrets.secretsFor(grants.secrets, { tool: call.tool.definition.name }));
  }

  get redact(): RedactText {
    return this.parts.redact;
  }

  get reportProgress(): ToolContext['reportProgress'] {
    const { call } = this;
    return (progress) => call.onProgress?.(progress);
  }

  get trashFolder(): string {
    return this.parts.trashFolder;
  }

  get journal(): ToolContext['journal'] {
    const { call, parts } = this;
    return (...about) => parts.journal.writeJournal({ ...describeJournaled(call), changes: about });
  }

  get completeChange(): ToolContext['completeChange'] {
    const { call, parts } = this;
    return (path, after) => parts.journal.completeJournal(call.callId, path, after);
  }

  get noteChange(): ToolContext['noteChange'] {
    const { seen, parts } = this;
    return (change) => {
      seen.changes.push(change);
      seen.pending = Promise.all([seen.pending, parts.sweeps.noteWritten(change.path, vouchFor(change))]);
    };
  }

  get writing(): PathJudge {
    const { call, seen, parts } = this;
    return (seen.writing ??= openWriting(call, parts.writeTool));
  }

  get noteEffect(): ToolContext['noteEffect'] {
    const { seen } = this;
    return () => {
      seen.isNoted = true;
    };
  }

  get countUsage(): ToolContext['countUsage'] {
    const { seen } = this;
    return (more) => {
      seen.usage = addUsage(seen.usage, more);
    };
  }

  get warn(): ToolContext['warn'] {
    const { seen } = this;
    return (message) => {
      // What could not be set aside is found again at each look.
      if (!seen.told.includes(message)) seen.told = [...seen.told, message];
    };
  }

  get noteNetwork(): ToolContext['noteNetwork'] {
    const { seen, call, parts } = this;
    return (events) => (seen.calling ??= parts.networks.open(call.callId)).note(events);
  }

  get clientRun(): ToolContext['clientRun'] {
    return this.call.clientRun;
  }

  get traceparent(): string | undefined {
    return this.parts.traceparentOf(this.call);
  }

  get asking(): Asking {
    return openAsking(this.call);
  }
}

const noUsage: ToolUsage = {};
const nothingTold: Redacted[] = [];
const limitsWatched = ownText(
  'CPU time, memory and processes of programs are watched on this machine, not enforced. Time, output, open files and file sizes are.',
);

/** Whose changes they are. */
function describeJournaled(call: ContextFacts): Omit<NewJournalEntries, 'changes'> {
  const { callId, session, traceId, tool, step } = call;
  return {
    ...{ callId, sessionId: session.id, traceId, tool: tool.definition.name, agent: session.agent },
    ...(step === undefined ? {} : { parentCallId: step.parent.callId }),
    atMs: Date.now(),
  };
}

function describeParent(call: ContextFacts, traceparent: string | undefined): facts.ParentCall {
  const { callId, session, traceId, door, source, taskId, correlationId, step } = call;
  const depth = step === undefined ? 0 : step.parent.depth + 1;
  const trace = traceparent === undefined ? {} : { traceparent };
  return { callId, sessionId: session.id, traceId, ...trace, door, source, taskId, correlationId, depth };
}
