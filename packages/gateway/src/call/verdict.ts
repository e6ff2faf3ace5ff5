import type { Code, JsonObject } from '@sallyport/contract';
import type { AnomalyResponse } from './anomaly.ts';
import type { Profile } from './organisation.ts';
import type { ProgramLimits } from '@sallyport/sandbox';
import type { RuleReference } from './refusal.ts';
import type { SecretGrant } from './secret-grant.ts';
import type { Mode, Principal } from './session.ts';
import type { PathJudge, Resources, ToolDefinition } from './tool.ts';
import type { Workspace } from './workspace.ts';

/** What the rules are asked. */
export interface Question {
  readonly tool: ToolDefinition;
  readonly principal: Principal;
  readonly agent: string;
  readonly mode: Mode;
  readonly resources: Resources;
  /** Of the caller. Absent: as roles.yaml has it. */
  readonly roles?: readonly string[] | undefined;
  readonly teams?: readonly string[] | undefined;
  /** The organisation granted the tool to the caller, so roles do not forbid it. Absent: it did not. */
  readonly toolGranted?: boolean | undefined;
  /** The profile of the organisation that the caller works in. Absent: `personal`. */
  readonly profile?: Profile | undefined;
  /** What is absent below is not known: rules that look at it allow nothing, and deny and ask as if it fitted. */
  readonly arguments?: JsonObject | undefined;
  /** Earlier calls of the session, those that still run included. */
  readonly history?: readonly PastCall[] | undefined;
  /** When the call is judged. */
  readonly nowMs?: number | undefined;
}

export interface PastCall {
  /** Canonical name. */
  readonly tool: string;
  readonly startedAtMs: number;
}

/** What the rules answer. Deny beats require_approval beats allow; nothing matching is a denial. */
export interface Verdict {
  readonly effect: 'allow' | 'require_approval' | 'deny';
  readonly rule: RuleReference;
  readonly reason: string;
  readonly remedy?: string;
  /** As in refusals: for operators alone. */
  readonly forOperators?: string;
  /** Set on denials. */
  readonly code?: Code;
  /** Set where rules ask: all of them, in order. Absent: it is the tool alone that asks, or nobody does. */
  readonly askedBy?: readonly string[];
  /** Set where a person is asked: agents that may decide in their place, if they are senior. Absent: people only. */
  readonly approvers?: readonly string[];
  /** What the allowing rules together let the programs of the call see and use. Absent: nothing. */
  readonly grants?: Grants;
  /** A command of a client runs in our sandbox instead of the client's shell. Absent: it does not. */
  readonly rewrite?: true;
  /** What it would be if shadow rules were in force. Absent: the same. Not enforced. */
  readonly shadow?: Pick<Verdict, 'effect' | 'rule' | 'reason'>;
}

/** What programs get beyond their own files and the system's: nothing of it unless a rule says so. */
export interface Grants {
  /** Absolute folders and files that may be read, and those that may be changed as well. */
  readonly read: readonly string[];
  readonly write: readonly string[];
  /** `api.example.com`, `*.example.com` or `api.example.com:8443`. Without a port: 443 and 80. */
  readonly hosts: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  readonly secrets: readonly SecretGrant[];
  /** Where several rules speak, the smaller number counts. */
  readonly limits: Partial<ProgramLimits>;
  /** The call is denied on a machine that can only watch the limits of programs. */
  readonly exactLimits: boolean;
  /** Unix sockets of its own, and those in the folders it sees, whose owners are outside the sandbox. */
  readonly unixSockets: boolean;
  /** `none` only where a rule says so in as many words. */
  readonly isolation: 'sandbox' | 'none';
}

export const noGrants: Grants = {
  read: [],
  write: [],
  hosts: [],
  environment: {},
  secrets: [],
  limits: {},
  exactLimits: false,
  unixSockets: false,
  isolation: 'sandbox',
};

/** One loaded and compiled set of rules. Immutable: a change is a new set. */
export interface Rules {
  /**
   * SHA-256 over the files, and over the rules of the project where it has some, in hexadecimal: the policy version that
   * every decision carries.
   */
  readonly hash: string;
  readonly count: number;
  readonly folder: string;
  readonly limits: Limits;
  /** Where they are applied. */
  readonly workspace: Workspace;
  /** Whether any of them asks what the session did before. */
  readonly looksAtHistory: boolean;
  /** Whether a rule takes new and changed tools of this name in without asking an operator. `origin` as in definitions. */
  readonly acceptsNew: (toolName: string, origin?: ToolDefinition['origin']) => boolean;
  /** The roles that roles.yaml gives an agent; under the profile `team` one without any is a worker. */
  readonly rolesOf: (agent: string, profile?: Profile) => readonly string[];
  /** Throws only for our own faults; the caller turns that into a denial. */
  readonly judge: (question: Question) => Verdict;
  /**
   * The same rules for each path that a running tool meets. `consented`: somebody agreed to the call; `agreedAgent`: it
   * was this agent, whose word counts only where the rules name it. `resources`: what the call named; without them a rule
   * that looks at commands or hosts opens no path.
   */
  readonly judgePaths: (
    question: Omit<Question, 'resources'> & {
      readonly resources?: Resources | undefined;
      readonly consented: boolean;
      readonly agreedAgent?: string | undefined;
    },
  ) => PathJudge;
}

/** One window of a rate limit. */
export interface RateLimit {
  readonly windowMs: number;
  readonly calls: number;
}

export type Rates = readonly { readonly tools: readonly string[]; readonly limits: readonly RateLimit[] }[];

/** How long a call waits for a person, and how many of a session may. */
export interface ApprovalLimits {
  readonly expireAfterMs: number;
  readonly remindAfterMs: number;
  readonly maxPending: number;
}

/** From which call on, with the same arguments and the same result within the window, something is done about it. */
export interface RepeatLimits {
  readonly warnAt: number;
  /** Infinity: none is delayed. */
  readonly delayAt: number;
  readonly delayMs: number;
  readonly refuseAt: number;
  readonly refuseChangesAt: number;
  readonly windowMs: number;
}

/** What is done about an anomaly besides telling people. Empty: nothing. */
interface Answered {
  readonly respond: readonly AnomalyResponse[];
}

/** What in the calls of an agent is out of the ordinary. Absent: it is not looked for. */
export interface AnomalyPolicy {
  /** An episode is over when nothing more of it was seen for so long. */
  readonly quietMs: number;
  readonly callSpike?: Answered & { readonly moreThan: number; readonly windowMs: number };
  /** So many failures among so many last calls. */
  readonly repeatedFailures?: Answered & { readonly failures: number; readonly of: number };
  /** All of these tools among so many last calls, in any order. Each is a list of patterns, one of which has to fit. */
  readonly combinations: readonly (Answered & {
    readonly id: string;
    readonly tools: readonly (readonly string[])[];
    readonly within: number;
  })[];
  /** Attempts that may be mistakes; one that cannot be is enough by itself. */
  readonly permissionEscalation?: Answered & { readonly attempts: number; readonly windowMs: number };
}

export interface Limits {
  /** Per agent and tool, first matching pattern wins. */
  readonly rates: Rates;
  /** In place of `rates` for agents in an organisation with the profile `team`. */
  readonly teamRates: Rates;
  /** For each agent with the role, before all others. Absent: roles make no difference. */
  readonly roleRates?: ReadonlyMap<string, Rates>;
  /** Of everyone and all tools of an entry together; every entry that fits counts. Absent: none. */
  readonly totalRates?: Rates;
  readonly repeats: RepeatLimits;
  /** How much misbehaviour of a session, within a window, puts it into quarantine. */
  readonly quarantine: {
    readonly at: number;
    readonly windowMs: number;
    readonly weights: { readonly denied: number; readonly error: number; readonly timeout: number };
  };
  readonly anomalies: AnomalyPolicy;
  /** In place of `anomalies` under the profile `team`. */
  readonly teamAnomalies: AnomalyPolicy;
  readonly approvals: ApprovalLimits;
  readonly maxRunning: number;
  readonly maxRunningPerSession: number;
  readonly maxArgumentBytes: number;
  /** How long a change of files can be undone. */
  readonly undoForMs: number;
  /** After so many days payloads of calls are erased. Absent: never. */
  readonly keepPayloadDays?: number;
}
