import type { Json, JsonObject } from '@sallyport/contract';
import type { ConsentUse } from './approval.ts';
import type { CallEnded } from './call-ended.ts';
import type { AbortLike, Cancellation } from './cancellation.ts';
import type { ClientRun } from './client-run.ts';
import type { NetworkLog } from '@sallyport/sandbox';
import type { Organisation, Membership } from './organisation.ts';
import type { Redacted } from './redacted.ts';
import type { Violation } from './refusal.ts';
import type { Lease, Mode, Session } from './session.ts';
import type { Change } from './journal.ts';
import type { AnyTool, AskCaller, Progress, Resources, ToolFailure, ToolUsage } from './tool.ts';
import type { UnderWay } from './under-way.ts';
import type { PastCall, Rules, Verdict } from './verdict.ts';

export const doors = ['operator-socket', 'agent-socket', 'tcp'] as const;
export type Door = (typeof doors)[number];

/** A call as a door hands it in. Nothing in it is trusted. */
export interface Received {
  readonly door: Door;
  /** Who is at the other end, as far as the transport knows; counts attempts without a credential. */
  readonly source: string;
  /** The bearer token. Absent: none was presented. */
  readonly credential?: string | undefined;
  /** Empty: the gate chooses one. */
  readonly requestId: string;
  readonly toolName: string;
  /** JSON text. Empty means `{}`. */
  readonly input: string;
  /** The value of `input`, where a door has read it as strictly as the gate does. It serves one run, which may add defaults. */
  readonly parsedInput?: Json | undefined;
  /** 0: the tool's own limit. */
  readonly timeoutMs: number;
  /** Empty: no reuse. */
  readonly dedupeKey: string;
  readonly taskId: string;
  readonly correlationId: string;
  /** W3C trace context. Absent: a new trace. */
  readonly traceparent?: string | undefined;
  /** What other tracing systems say about the same trace. Absent: nothing. */
  readonly tracestate?: string | undefined;
  /** The trace as the caller names it in its own form. Absent: it names none, or only in the header. */
  readonly callerTraceId?: string | undefined;
  /** The binding that an operator saw and confirms. Empty: none. */
  readonly confirmBinding: string;
  /** The task under which a person approved this call. Empty or absent: none is named. */
  readonly approvalTaskId?: string | undefined;
  /** Empty or absent: none. */
  readonly confirmToken?: string | undefined;
  /** How long the caller waits for a person's decision. Absent: not at all. */
  readonly waitMs?: number | undefined;
  /** The agent that the request claims to speak for. Absent: the credential alone says it. */
  readonly claimedAgent?: string | undefined;
  /** Where the client says that it works. It opens nothing: a call from another project is refused. Absent: it does not say. */
  readonly clientFolder?: string | undefined;
  /** The client that runs the tool by itself. Absent: the gate runs it. */
  readonly clientRun?: ClientRun | undefined;
  /** What the door found wrong with the form of the request. Absent: nothing. */
  readonly violations?: readonly Violation[] | undefined;
  /** Aborts when the caller cancels or goes away. */
  readonly signal: AbortSignal;
  /** Is told how the work goes on, already without secrets. Absent: the caller did not ask. */
  readonly onProgress?: ((progress: Progress) => void) | undefined;
  /** Asks the caller on behalf of the tool, without secrets. Absent: the caller answers no questions. */
  readonly askCaller?: AskCaller | undefined;
}

/** Facts, in the order in which the stages add them. */
export interface Begun extends Received {
  /** UUID version 7, ours. */
  readonly callId: string;
  readonly startedAtMs: number;
  /** The same moment by `performance.now`: what took how long is told from here. */
  readonly beganAtMs: number;
  /** Whether it was ended on its way. Cheaper than to ask the signal, which is made when somebody first asks for it. */
  readonly isEnded: boolean;
  /** The same as the signal, for those who need none. */
  readonly cancellation: AbortLike;
  /** Absent: it is only planned. */
  readonly underWay?: UnderWay | undefined;
}

/** A call as a step of it names it. Made by the gate for each call that runs; no door takes one from a caller. */
export interface ParentCall extends Pick<Received, 'door' | 'source' | 'taskId' | 'correlationId'> {
  readonly callId: string;
  readonly sessionId: string;
  readonly traceId: string;
  /** Its own span, for its steps. Absent: nobody follows the trace. */
  readonly traceparent?: string | undefined;
  /** How many calls it is inside of. 0: it came through a door. */
  readonly depth: number;
}

export interface Chained {
  /** Which step of which call this one is. Absent: it came through a door. */
  readonly step?: { readonly id: string; readonly parent: ParentCall } | undefined;
}

export interface Foreseen {
  /** Steps of the same plan that would come before it. Absent: no step comes before it, or the call is not only planned. */
  readonly foreseen?: readonly PastCall[] | undefined;
}

export interface Decoded {
  readonly requestId: string;
  /** 32 hexadecimal digits. */
  readonly traceId: string;
  /** Absent: the trace begins here. */
  readonly callerSpan?: CallerSpan | undefined;
}

/** The span that a call is a part of, elsewhere or in another call. */
export interface CallerSpan {
  /** 16 hexadecimal digits. */
  readonly spanId: string;
  /** Whether the caller follows the trace. */
  readonly isSampled: boolean;
}

/** A stage that took long, by `performance.now`. */
export interface SlowStage {
  readonly name: string;
  readonly fromMs: number;
  readonly toMs: number;
}

export interface Timed {
  /** Absent: no stage was slow, or nobody wants to know. */
  readonly slowStages?: readonly SlowStage[] | undefined;
}

export interface ArgumentsRead {
  /** As sent, before defaults. */
  readonly rawArguments: JsonObject;
}

export interface Opened {
  readonly session: Session;
}

/** Added together with the session. */
export interface Based {
  /** Version of the snapshot when the session was read; what the gates read after it is not older. */
  readonly basedOn: number;
}

export interface Resolved {
  readonly tool: AnyTool;
}

export interface CheckedArguments {
  /** Defaults applied: what is judged, bound, recorded and executed. */
  readonly value: JsonObject;
  /** SHA-256 of the canonical form (RFC 8785), hexadecimal. The form itself is not kept: it may be large. */
  readonly sha256: string;
}

export interface ArgumentsChecked {
  readonly arguments: CheckedArguments;
  readonly resources: Resources;
  readonly effectiveTimeoutMs: number;
}

export interface Leased {
  /** The lease that covers the call, and is charged for it. */
  readonly lease: Lease;
}

export interface Permitted {
  readonly membership: Membership;
}

export interface OrganisationRead {
  /** As it was when it permitted the call. Another object: it has changed since. */
  readonly organisation: Organisation;
}

export interface ModeRead {
  readonly mode: Mode;
}

/** A call that the rules can be asked about. */
export type Judgeable = Opened & Resolved & ArgumentsChecked & Permitted & ModeRead;

export interface Judged {
  readonly rules: Rules;
  readonly verdict: Verdict;
  /** What the session had called before, for stages that ask the rules about a part of the call. Absent: no rule looks. */
  readonly history?: readonly PastCall[] | undefined;
}

/** A call that the rules have judged. */
export type JudgedCall = Begun & Leased & Judgeable & Judged;

export interface LoopChecked {
  /** Empty: nothing to say. */
  readonly warnings: readonly string[];
}

export interface ReuseChecked {
  /** The first success with this dedupe key. Absent: the call runs. */
  readonly reused?:
    | { readonly output: Json; readonly kept?: KeptResult | undefined; readonly callId: string }
    | undefined;
}

export interface KeyHeld {
  /** Lets the next call with the same dedupe key go on. Absent: no key was given. */
  readonly releaseKey?: (() => void) | undefined;
}

export interface WithinLimits {
  readonly reservations: readonly Reservation[];
}

export interface TurnTaken {
  /** Gives the place among the running calls to the next one that waits. */
  readonly releaseTurn: () => void;
}

/** One count to be raised when the call is admitted, unless that would pass the limit. */
export interface Reservation {
  readonly key: string;
  readonly windowMs: number;
  readonly limit: number;
  readonly rule: string;
}

export interface Consented {
  /** Who agreed. Absent: no consent was needed. */
  readonly consent?: Consent | undefined;
}

export interface ConsentUsed {
  /** Which consent was consumed, where several were given. Undefined: none was needed. */
  readonly consent: Consent | undefined;
}

export interface Consent {
  readonly by: string;
  readonly how: 'own-call-confirmed' | 'approved' | 'approved-by-agent' | 'standing-approval' | 'confirm-token';
  readonly atMs: number;
  readonly binding: string;
  /** The basis of the effect that was agreed to, for the tool to compare with. Absent: no effect was shown, or none has one. */
  readonly basis?: string | undefined;
  /** What admission consumes. Absent for a call that its own operator confirmed. */
  readonly use?: ConsentUse | undefined;
  /** What else lets the call run, if somebody uses this one first. Absent: nothing. */
  readonly otherwise?: Consent | undefined;
}

export interface Intended {
  /** Index of the intent in the log. The intent is durable. */
  readonly intentIndex: number;
  /** When the gates were passed, and the intent went on its way to the log. By `performance.now`. Absent: nobody measured. */
  readonly passedAtMs?: number | undefined;
}

export interface Confirmed {
  /** Since when the call holds everything it needs to run: the time that is charged begins here. By `performance.now`. */
  readonly confirmedAtMs: number;
}

export interface Executed {
  readonly execution: Execution;
  /** How long the tool ran. Absent: it did not, because a kept result was used. */
  readonly activeMs?: number | undefined;
  /** When the tool had ended, by `performance.now`. Absent: it did not run. */
  readonly ranUntilMs?: number | undefined;
}

export interface Execution {
  /** What the tool returned, or how it failed. */
  readonly result: { readonly ok: true; readonly output: Json } | { readonly ok: false; readonly failure: ToolFailure };
  readonly usage: ToolUsage;
  /** What it changed and wrote into the journal before. */
  readonly changes: readonly Change[];
  /** What the caller should know besides the result. Absent: nothing. */
  readonly warnings?: readonly Redacted[] | undefined;
  /** What it asked of the network. Absent: nothing. */
  readonly network?: NetworkLog | undefined;
  /** Who ended it before its end. Absent: it came to an end of its own, or its caller left. */
  readonly endedBy?: Pick<CallEnded, 'how' | 'by'> | undefined;
  /** Whether its effect may have begun. After a failure, false proves that nothing happened. */
  readonly hasBegun: boolean;
}

export interface Delivered {
  readonly outcome: Outcome;
}

/** How a call that reached its tool ended, as the caller sees it. */
export type Outcome =
  | {
      readonly ok: true;
      /** Empty when the output is kept elsewhere. */
      readonly outputJson: string;
      /** Where an output is stored that is too large for an answer. Absent: it is in the answer. */
      readonly kept?: KeptResult | undefined;
      readonly summary: string;
    }
  | { readonly ok: false; readonly failure: ToolFailure };

/** The JSON of an output in the content store, where the session of the call can fetch it. */
export interface KeptResult {
  /** BLAKE3, 64 hexadecimal digits. */
  readonly hash: string;
  readonly sizeBytes: number;
}

/** Everything that the stages find out about a call. */
export type CallFacts = Begun &
  Chained &
  Timed &
  Foreseen &
  Decoded &
  ArgumentsRead &
  Opened &
  Based &
  Resolved &
  ArgumentsChecked &
  Leased &
  Permitted &
  OrganisationRead &
  ModeRead &
  Judged &
  LoopChecked &
  KeyHeld &
  ReuseChecked &
  WithinLimits &
  Consented &
  TurnTaken &
  Intended &
  Confirmed &
  Executed &
  Delivered;

/** Facts as the stage that finds them out sees them: not there yet, and its to assign. */
export type Draft<Facts> = { -readonly [Name in keyof Facts]: Facts[Name] | undefined };

/**
 * A call on its way through the stages. One object for all of it, with every member there from the start: an object that
 * grows while it passes costs more than the gates themselves.
 */
export class Call implements Draft<CallFacts> {
  readonly cancellation: Cancellation;
  readonly underWay: UnderWay | undefined;
  door: Begun['door'];
  source: string;
  credential: string | undefined;
  requestId: string;
  toolName: string;
  input: string;
  parsedInput: Json | undefined;
  timeoutMs: number;
  dedupeKey: string;
  taskId: string;
  correlationId: string;
  traceparent: string | undefined;
  tracestate: string | undefined;
  callerTraceId: string | undefined;
  confirmBinding: string;
  approvalTaskId: string | undefined;
  confirmToken: string | undefined;
  waitMs: number | undefined;
  claimedAgent: string | undefined;
  clientFolder: string | undefined;
  clientRun: ClientRun | undefined;
  violations: readonly Violation[] | undefined;
  onProgress: Received['onProgress'];
  askCaller: AskCaller | undefined;
  callId: string;
  startedAtMs: number;
  beganAtMs: number;
  step: Chained['step'];
  foreseen: readonly PastCall[] | undefined;

  slowStages: SlowStage[] | undefined;
  traceId: string | undefined;
  callerSpan: CallerSpan | undefined;
  rawArguments: JsonObject | undefined;
  session: Session | undefined;
  basedOn: number | undefined;
  tool: AnyTool | undefined;
  arguments: CheckedArguments | undefined;
  resources: Resources | undefined;
  effectiveTimeoutMs: number | undefined;
  lease: Lease | undefined;
  membership: Membership | undefined;
  organisation: Organisation | undefined;
  mode: Mode | undefined;
  rules: Rules | undefined;
  verdict: Verdict | undefined;
  history: readonly PastCall[] | undefined;
  warnings: readonly string[] | undefined;
  reused: ReuseChecked['reused'];
  releaseKey: (() => void) | undefined;
  reservations: readonly Reservation[] | undefined;
  consent: Consent | undefined;
  releaseTurn: (() => void) | undefined;
  intentIndex: number | undefined;
  passedAtMs: number | undefined;
  confirmedAtMs: number | undefined;
  execution: Execution | undefined;
  activeMs: number | undefined;
  ranUntilMs: number | undefined;
  outcome: Outcome | undefined;

  constructor(received: Submitted, { callId, startedAtMs, cancellation, underWay, step }: Beginning) {
    this.cancellation = cancellation;
    this.underWay = underWay;
    this.door = received.door;
    this.source = received.source;
    this.credential = received.credential;
    this.requestId = received.requestId;
    this.toolName = received.toolName;
    this.input = received.input;
    this.parsedInput = received.parsedInput;
    this.timeoutMs = received.timeoutMs;
    this.dedupeKey = received.dedupeKey;
    this.taskId = received.taskId;
    this.correlationId = received.correlationId;
    this.traceparent = received.traceparent;
    this.tracestate = received.tracestate;
    this.callerTraceId = received.callerTraceId;
    this.confirmBinding = received.confirmBinding;
    this.approvalTaskId = received.approvalTaskId;
    this.confirmToken = received.confirmToken;
    this.waitMs = received.waitMs;
    this.claimedAgent = received.claimedAgent;
    this.clientFolder = received.clientFolder;
    this.clientRun = received.clientRun;
    this.violations = received.violations;
    this.callId = callId;
    this.startedAtMs = startedAtMs;
    this.beganAtMs = performance.now();
    this.step = step;
  }

  get signal(): AbortSignal {
    return this.cancellation.signal;
  }

  get isEnded(): boolean {
    return this.cancellation.aborted;
  }
}

/** What a door says about a call. How it is ended, the gate says. */
export type Submitted = Omit<Received, 'signal' | 'onProgress' | 'askCaller'>;

/** What the gate gives a call when it begins, whatever its door says. */
export type Beginning = Pick<Begun, 'callId' | 'startedAtMs' | 'underWay'> &
  Chained & { readonly cancellation: Cancellation };
