import type { Position } from '../../text/source-file.ts';
import type { Json } from '@sallyport/contract';
import type { SecretGrant } from '../../call/secret-grant.ts';
import type { Mode, Principal } from '../../call/session.ts';
import type { Access } from '@sallyport/sandbox';
import type { Grants } from '../../call/verdict.ts';
import type { circumstanceKeys, exampleCircumstances, ValuesOf } from './circumstance-keys.ts';

export const ruleFileNames = ['tools.yaml', 'limits.yaml', 'modes.yaml', 'roles.yaml'] as const;

export const effects = ['allow', 'require_approval', 'deny'] as const;
export type RuleEffect = (typeof effects)[number];
export const principals = ['agent', 'operator'] as const satisfies readonly Principal[];
export const accesses = ['read', 'write'] as const satisfies readonly Access[];
export const origins = ['builtin', 'executable', 'configured', 'pipeline', 'upstream', 'client'] as const;
export type Origin = (typeof origins)[number];

/** One rule as tools.yaml has it. Lists are never empty. A circumstance that is absent may be any. */
export interface Rule extends ValuesOf<typeof circumstanceKeys> {
  readonly id: string;
  readonly effect: RuleEffect;
  readonly tools: readonly string[];
  /** Where the tools come from. Absent: from anywhere. */
  readonly origins?: readonly Origin[];
  /** Absent: agents and operators. */
  readonly who?: readonly Principal[];
  /** Absent: all modes. */
  readonly modes?: readonly Mode[];
  /** Absent: the rule does not look at paths. */
  readonly paths?: readonly string[];
  /** Paths that the rule leaves alone. Absent: none. */
  readonly exceptPaths?: readonly string[];
  /** Absent: reading and writing. */
  readonly access?: readonly Access[];
  /** Patterns of words. Absent, as in the lists below: the rule does not look at things of this kind. */
  readonly commands?: readonly string[];
  readonly hosts?: readonly string[];
  /** Hosts that the rule leaves alone. Absent: none. */
  readonly exceptHosts?: readonly string[];
  readonly gitOperations?: readonly string[];
  readonly providers?: readonly string[];
  readonly models?: readonly string[];
  readonly apps?: readonly string[];
  /** Only with `allow`: lifts the confirmation that the tool's risk asks for. */
  readonly approvalWaived: boolean;
  /** Tools of high risk ask all the same. Absent: they do not. */
  readonly highRiskAsks?: true;
  /** With `approvalWaived`: a tool that asks by its own definition, whatever its risk, still does. Absent: no. */
  readonly keepsOwnApproval?: boolean;
  /** Agents that may decide in a person's place, as far as their office goes. Not with `deny`. Absent: none. */
  readonly approvers?: readonly string[];
  /** What the programs of the calls it opens get. Not with `deny`. Absent: nothing. */
  readonly grants?: RuleGrants;
  /** Only of clients: their command runs in our sandbox instead of their shell. Not with `deny`. Absent: it does not. */
  readonly rewrite?: 'sandbox';
  /** Only with `allow`: new and changed tools are accepted without asking an operator. */
  readonly acceptsNew: boolean;
  /** The rule is tried out: it is said what it would do, and not done. */
  readonly shadow: boolean;
  readonly reason?: string;
  readonly remedy?: string;
  readonly examples: readonly Example[];
  readonly file: string;
  readonly line: number;
}

export const days = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'] as const;

/** Calls of the same session that came before. */
export interface Following {
  readonly tools: readonly string[];
  /** Absent: any time before. */
  readonly withinMs?: number;
}

/** In minutes since midnight. When it ends before it starts, it ends on the next day. */
export interface Hours {
  readonly from: number;
  readonly to: number;
}

/** A condition on one value in the arguments. A missing value matches nothing. */
export interface ArgumentCondition {
  /** RFC 6901. */
  readonly pointer: string;
  readonly test:
    | { readonly kind: 'equals'; readonly value: Json }
    | { readonly kind: 'in'; readonly values: readonly Json[] }
    /** Text with `*` for any text. */
    | { readonly kind: 'matches'; readonly pattern: string };
}

/** Grants as the file has them: paths may start with a variable. */
export interface RuleGrants extends Omit<Grants, 'read' | 'write' | 'secrets'> {
  readonly read: readonly GrantedPath[];
  readonly write: readonly GrantedPath[];
  readonly secrets: readonly Omit<SecretGrant, 'tools'>[];
}

export interface GrantedPath {
  readonly text: string;
  readonly position: Position;
}

/** A call that the rule must match, or must not. What it leaves out may be anything. */
export interface Example extends ValuesOf<typeof exampleCircumstances> {
  readonly expected: 'match' | 'not_match';
  readonly tool: string;
  readonly origin?: Origin;
  /** Absent: a call that names no path; in the same way for the other things. */
  readonly path?: string;
  readonly access?: Access;
  readonly command?: string;
  readonly host?: string;
  readonly gitOperation?: string;
  readonly provider?: string;
  readonly model?: string;
  readonly app?: string;
  readonly who?: Principal;
  readonly mode?: Mode;
  readonly position: Position;
}
