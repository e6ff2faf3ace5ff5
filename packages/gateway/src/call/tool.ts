import type { AbortLike } from './cancellation.ts';
import type { Code, FailureCategory, Json, JsonObject } from '@sallyport/contract';
import type { ParentCall } from './call.ts';
import type { ClientRun } from './client-run.ts';
import type { Change } from './journal.ts';
import type { Access, NetworkEvent, ProgramRunner, ProgramUsage } from '@sallyport/sandbox';
import type { Redacted, RedactText } from './redacted.ts';
import type { Refusal, ForEveryone } from './refusal.ts';
import type { Mode, Session } from './session.ts';
import type { LeavingsJudge, SweepBook } from './sweep.ts';
import type { Grants, Verdict } from './verdict.ts';
import type { Workspace } from './workspace.ts';

export const risks = ['low', 'medium', 'high', 'critical'] as const;
export type Risk = (typeof risks)[number];

export const confirmations = ['never', 'if_destructive', 'always'] as const;
export type Confirmation = (typeof confirmations)[number];

/** Kinds of things that tools reach. */
export const toolScopes = ['paths', 'apps', 'network', 'commands'] as const;
export type ToolScope = (typeof toolScopes)[number];

export interface ToolDefinition {
  /** Canonical, dotted: `files.read`. */
  readonly name: string;
  readonly aliases: readonly string[];
  readonly version: string;
  readonly description: string;
  readonly tags: readonly string[];
  readonly category: string;
  readonly inputSchema: JsonObject;
  readonly outputSchema: JsonObject;
  readonly risk: Risk;
  readonly confirmation: Confirmation;
  readonly mutates: boolean;
  /** Kinds of things the tool reaches; the rules say which of them. */
  readonly scopes: readonly ToolScope[];
  readonly allowedModes: readonly Mode[];
  readonly requiresApproval: boolean;
  readonly requiresSandbox: boolean;
  readonly timeoutMs: number;
  /** Absent: only the rules limit it. */
  readonly rateLimitPerHour?: number;
  readonly idempotent: boolean;
  /** `operator`: agents neither see nor call it. `director`: operators, and agents with the role of a director. */
  readonly audience: 'everyone' | 'operator' | 'director';
  /** SHA-256 of the program, hexadecimal. Absent: the tool has no program of its own. */
  readonly fileSha256?: string;
  /** Whether it runs as long as its caller sends or takes bytes; such calls have places of their own. Absent: no. */
  readonly isTransfer?: boolean;
  /** Where the tool comes from. Absent: it is built in. */
  readonly origin?: 'executable' | 'configured' | 'pipeline' | 'upstream' | 'client';
  /** Built in: arguments that are paths. An absent `cwd` is the working directory. Absent: the schema says it, or none is. */
  readonly pathArguments?: readonly string[];
  /** Arguments that are secret whatever their names: in no record, log or text. Absent: none. */
  readonly secretArguments?: readonly string[];
  /** Arguments of calls to copy, the plainest first. Absent: people are shown one that is made up from the schema. */
  readonly examples?: readonly JsonObject[];
  /** Which part of its effect can be undone, in one sentence. Absent: nothing can, or it changes nothing. */
  readonly undo?: string;
}

/** One thing a call would touch, as far as its arguments tell. Paths are absolute and lexically canonical. */
export interface PathClaim {
  readonly path: string;
  readonly access: Access;
}

/** Everything a call would touch. What is absent, the tool does not reach. */
export interface Resources {
  readonly paths: readonly PathClaim[];
  readonly hosts?: readonly string[];
  /** Each command that would run, as its words, quoted as for a shell, with one space between. The first is the program. */
  readonly commands?: readonly string[];
  readonly gitOperation?: string;
  readonly provider?: string;
  readonly model?: string;
  /** Names of applications. */
  readonly apps?: readonly string[];
  /** Parts of the call that nobody can know beforehand, each in words. A person must agree to them, whatever a rule waives. */
  readonly unknown?: readonly string[];
}

/** What a call would do, for the person who decides. */
export interface Effect {
  /** One line. */
  readonly summary: string;
  /** A unified diff, a list of files, or the arguments; may be long. */
  readonly detail: string;
  /**
   * At least so much of what would be done cannot be shown to anybody, so that nobody can agree to it; and what the caller
   * could do instead. Absent: title and detail say all of it.
   */
  readonly unshown?: { readonly bytes: number; readonly remedy?: string };
  /**
   * What else it was worked out from, such as the identity of files: bound with it, not shown. It is handed to `run`,
   * which compares it with what it has opened. Absent: nothing.
   */
  readonly basis?: string;
  /** Whether the journal will hold what it takes to undo it. */
  readonly undoable: boolean;
}

/** Judges what was really opened, by the same rules that judged the call. */
export interface PathJudge {
  /** A refusal, or undefined when the tool may touch this path. `path` is what the kernel says is open. */
  readonly judge: (path: string, access: Access) => Refusal | undefined;
}

/** What the rules give a request to one host. */
export interface HostLeave {
  /** Machines of the own network that the rules name themselves, as in `Grants.hosts`. */
  readonly hosts: readonly string[];
  /** Headers with stored secrets that the rules bind to this host. Throws ToolFailure for a secret that is not there. */
  readonly readHeaders: () => Readonly<Record<string, string>>;
}

/** Judges each host that a tool of the daemon is about to reach, by the rules and the lease that judged the call. */
export interface HostJudge {
  /** `host`: with its port. `args`: the arguments as they would be in a call for this host. */
  readonly judge: (host: string, args: JsonObject) => Refusal | HostLeave;
}

export interface ToolContext {
  readonly session: Session;
  readonly callId: string;
  /** What a step of this call would name. A name only: it lets no tool call another. */
  readonly asParent: ParentCall;
  /** Relative paths start here. Absolute. */
  readonly workingDirectory: string;
  readonly workspace: Workspace;
  readonly signal: AbortSignal;
  /** The same, for those who need no signal, which costs more than many a call. */
  readonly cancellation: AbortLike;
  readonly paths: PathJudge;
  readonly hosts: HostJudge;
  /** The basis of the effect to which somebody agreed. Absent: nobody was shown an effect, or it has no basis. */
  readonly shownBasis?: string | undefined;
  /** What the rules let the programs of this call see and use. */
  readonly grants: Grants;
  /** The rules want a command of a client in our sandbox. Absent: they do not. */
  readonly rewrite?: boolean;
  readonly programs: ProgramRunner;
  readonly leavings: LeavingsJudge;
  readonly sweeps: SweepBook;
  /** Changes with the rules and the mode: what was prepared under another one is not used. */
  readonly policyKey: string;
  readonly content: ContentAccess;
  /** Values of the stored secrets that the rules grant this call, by name, for the environment of its programs. */
  readonly readSecrets: () => Readonly<Record<string, string>>;
  /** For what programs, servers and files say, before it is cut or quoted in a message. */
  readonly redact: RedactText;
  /** Tells a caller that asked for it how the work goes on. Never part of the result. */
  readonly reportProgress: (progress: Progress) => void;
  /** Folder on the gate's own disk where deleted and replaced files are kept. */
  readonly trashFolder: string;
  /**
   * Writes down what is about to change, so that it can be undone. Durable when it resolves: to be awaited, with what is
   * kept in the trash, before the effect becomes visible. What does not happen after all does no harm there.
   */
  readonly journal: (...changes: readonly Change[]) => Promise<void>;
  /** Says in the journal what somebody else made of a path whose state afterwards was not known. */
  readonly completeChange: (path: string, after: Change['after']) => Promise<boolean>;
  /** A change that is in the journal has happened. It is in the record of the call. */
  readonly noteChange: (change: Change) => void;
  /** Whether the caller could write a path now with the file tools; what needs asking counts only after a consent. */
  readonly writing: PathJudge;
  /** From here on something outside the daemon may have changed: a failure no longer proves that nothing happened. */
  readonly noteEffect: () => void;
  /** Says something to the caller besides the result, also when the call fails. */
  readonly warn: (message: Redacted) => void;
  /** Adds to what this call used. Only what was measured. */
  readonly countUsage: (usage: ToolUsage) => void;
  /** Adds to what this call asked of the network. It is in the record of the call, however the call ends. */
  readonly noteNetwork: (events: readonly NetworkEvent[]) => void;
  /** Who runs the tool. Absent: the gate. */
  readonly clientRun?: ClientRun | undefined;
  /** The span of this call, for whom it asks for something. Absent: nobody follows the trace. */
  readonly traceparent?: string | undefined;
  /** For tools that have a question to the caller. Absent: the caller cannot be asked. */
  readonly asking?: Asking;
}

/** The same context with something else in place. Members of a context are made when they are asked for: no copy has them. */
export function changeContext<Changes extends object>(context: ToolContext, changes: Changes): ToolContext & Changes {
  return Object.create(context, Object.getOwnPropertyDescriptors(changes)) as ToolContext & Changes;
}

export interface Asking {
  /** What the rules say about it: the verdict on the caller calling `tool`, now. */
  readonly judge: (tool: ToolDefinition, args: JsonObject, resources: Resources) => Verdict;
  /** Absent: the caller answers no questions. */
  readonly askCaller?: AskCaller;
}

/** A question in the words of MCP, for a client and the person in front of it. */
export interface CallerQuestion {
  readonly method: 'elicitation/create' | 'sampling/createMessage';
  readonly params: JsonObject;
}

/** Undefined: the caller does not answer questions of this kind. Rejects when the signal aborts or the caller goes away. */
export type AskCaller = (question: CallerQuestion, signal: AbortSignal) => Promise<JsonObject | undefined>;

/** Bytes that are too large for an answer, by their BLAKE3 hash; as far as the session of the call may use them. */
export interface ContentAccess {
  /** Keeps the bytes for the session of this call. They are durable when it resolves. */
  readonly keep: (source: AsyncIterable<Uint8Array>) => Promise<{ readonly hash: string; readonly sizeBytes: number }>;
  /** Throws ToolFailure NOT_FOUND for what the session may not use, as for what does not exist. */
  readonly sizeOf: (hash: string) => Promise<number>;
  readonly read: (hash: string) => AsyncIterable<Uint8Array>;
}

/** What happens while a call runs. */
export type Progress<Text extends string = string> =
  /** `stdout` only of commands that run in place of those of a client. */
  | { readonly kind: 'stdout' | 'stderr'; readonly text: Text }
  | { readonly kind: 'step'; readonly done: number; readonly total?: number; readonly message: Text };

/** As callers may hear it. */
export type RedactedProgress = Progress<Redacted>;

export interface ToolUsage extends ProgramUsage {
  /** Of a language model. */
  readonly tokens?: number;
  readonly costMicros?: number;
}

/**
 * A tool as the gate sees it. Arguments have passed the input schema, with defaults applied; they are exactly the
 * canonical JSON that was judged.
 */
export interface Tool<Arguments = never> {
  readonly definition: ToolDefinition;
  /** What the call would touch, from its arguments alone. Pure. May throw ToolRefused. */
  readonly claim: (args: Arguments, session: Session) => Resources;
  /** The same where the arguments name something that the gate has to look up. Absent: `claim` says all. */
  readonly lookUpClaim?: (args: Arguments, session: Session) => Promise<Resources>;
  /** How long a call with these arguments may take. Absent: `timeoutMs` of the definition, whatever they are. */
  readonly timeoutMsFor?: (args: Arguments) => number;
  /** The effect, without causing it. */
  readonly preview: (args: Arguments, context: ToolContext) => Promise<Effect>;
  /** Why the tool, as it stands, cannot be called: not accepted, changed since, or gone. Absent: it always can be. */
  readonly explainUnusable?: () => Refusal | undefined;
  /** Absent: `ready`. */
  readonly status?: () => ToolStatus;
  /** Runs; returns at once where nothing is waited for. Throws ToolFailure or ToolRefused for what the caller should read; anything else is our fault. */
  readonly run: (args: Arguments, context: ToolContext) => Json | Promise<Json>;
  /** How large the result is without what its encoding adds, such as that of bytes in base64. Absent: as its JSON. */
  readonly measureResult?: (output: Json) => number;
  /** A line for the log about a success: counts and sizes, never content. */
  readonly summarize: (args: Arguments, output: Json) => string;
}

export type ToolStatus = 'ready' | 'new' | 'changed' | 'schema-unknown' | 'missing-binary';

/** A tool whose arguments the registry knows only as JSON. */
export type AnyTool = Tool<JsonObject>;

interface FailureOptions extends ErrorOptions {
  readonly category?: FailureCategory;
  /** As in refusals: for operators alone. */
  readonly forOperators?: string;
}

/** The tool ran and failed in a way that the caller should read. */
export interface ToolFailure extends Error {
  readonly code: Code;
  readonly category: FailureCategory | undefined;
  /** What an operator can change, for their eyes alone. Undefined: nothing. */
  readonly forOperators: string | undefined;
  /** All of it, for operators. */
  readonly textForOperators: string;
}

/** A message that names a command of operators does not compile: see `ForEveryone`. */
export const ToolFailure: {
  new <const Message extends string = string>(
    code: Code,
    message: ForEveryone<Message>,
    options?: FailureOptions,
  ): ToolFailure;
  readonly prototype: ToolFailure;
} = class extends Error {
  readonly code: Code;
  readonly category: FailureCategory | undefined;
  readonly forOperators: string | undefined;

  constructor(code: Code, message: string, options?: FailureOptions) {
    super(message, options);
    this.name = 'ToolFailure';
    this.code = code;
    this.category = options?.category;
    this.forOperators = options?.forOperators;
  }

  get textForOperators(): string {
    return this.forOperators === undefined ? this.message : `${this.message} ${this.forOperators}`;
  }
};

/** A gate inside the tool said no, for example because a link leads out of the allowed paths. */
export class ToolRefused extends Error {
  readonly refusal: Refusal;

  constructor(refusal: Refusal) {
    super(refusal.message);
    this.name = 'ToolRefused';
    this.refusal = refusal;
  }
}
