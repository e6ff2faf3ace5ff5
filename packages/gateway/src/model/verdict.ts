import type { Code } from '@sallyport/contract';
import type { RuleReference } from './refusal.ts';
import type { Mode, Principal } from './session.ts';
import type { PathJudge, Resources, ToolDefinition } from './tool.ts';

/** What the rules are asked. */
export interface Question {
  readonly tool: ToolDefinition;
  readonly principal: Principal;
  readonly agent: string;
  readonly mode: Mode;
  readonly resources: Resources;
}

/** What the rules answer. Deny beats require_approval beats allow; nothing matching is a denial. */
export interface Verdict {
  readonly effect: 'allow' | 'require_approval' | 'deny';
  readonly rule: RuleReference;
  readonly reason: string;
  readonly remedy?: string;
  /** Set on denials. */
  readonly code?: Code;
}

/** One loaded and compiled set of rules. Immutable: a change is a new set. */
export interface Rules {
  /** SHA-256 over the files, in hexadecimal: the policy version that every decision carries. */
  readonly hash: string;
  readonly count: number;
  readonly folder: string;
  readonly limits: Limits;
  /** Throws only for our own faults; the caller turns that into a denial. */
  readonly judge: (question: Question) => Verdict;
  /** The same rules for each path that a running tool meets. `consented`: a person agreed to the call. */
  readonly judgePaths: (question: Omit<Question, 'resources'> & { readonly consented: boolean }) => PathJudge;
}

/** One window of a rate limit. */
export interface RateLimit {
  readonly windowMs: number;
  readonly calls: number;
}

export interface Limits {
  /** Per agent and tool, first matching pattern wins. */
  readonly rates: readonly { readonly tools: readonly string[]; readonly limits: readonly RateLimit[] }[];
  readonly repeats: { readonly warnAt: number; readonly refuseAt: number; readonly windowMs: number };
  /** How much misbehaviour of a session, within a window, puts it into quarantine. */
  readonly quarantine: {
    readonly at: number;
    readonly windowMs: number;
    readonly weights: { readonly denied: number; readonly error: number; readonly timeout: number };
  };
  readonly maxRunning: number;
  readonly maxRunningPerSession: number;
  readonly maxArgumentBytes: number;
}
