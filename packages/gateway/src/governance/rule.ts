import type { Mode, Principal } from '../model/session.ts';
import type { Access } from '../model/tool.ts';

export const ruleFileNames = ['tools.yaml', 'limits.yaml'] as const;

export const effects = ['allow', 'require_approval', 'deny'] as const;
export const principals = ['agent', 'operator'] as const satisfies readonly Principal[];
export const accesses = ['read', 'write'] as const satisfies readonly Access[];

/** One rule as it stands in tools.yaml. Lists are never empty. */
export interface Rule {
  readonly id: string;
  readonly effect: (typeof effects)[number];
  readonly tools: readonly string[];
  /** Absent: agents and operators. */
  readonly who?: readonly Principal[];
  /** Patterns of agents' names. Absent: everyone. */
  readonly agents?: readonly string[];
  /** Absent: all modes. */
  readonly modes?: readonly Mode[];
  /** Absent: the rule does not look at paths. */
  readonly paths?: readonly string[];
  /** Paths that the rule leaves alone. Absent: none. */
  readonly exceptPaths?: readonly string[];
  /** Absent: reading and writing. */
  readonly access?: readonly Access[];
  /** Only with `allow`: lifts the confirmation that the tool's risk asks for. */
  readonly approvalWaived: boolean;
  readonly reason?: string;
  readonly remedy?: string;
  readonly examples: readonly Example[];
  readonly file: string;
  readonly line: number;
}

/** A call that the rule must match, or must not. What it leaves out may be anything. */
export interface Example {
  readonly expected: 'match' | 'not_match';
  readonly tool: string;
  /** Absent: a call that names no path. */
  readonly path?: string;
  readonly access?: Access;
  readonly who?: Principal;
  readonly agent?: string;
  readonly mode?: Mode;
  readonly position: Position;
}

export interface Position {
  readonly line: number;
  readonly column: number;
}

/** Something in a file that keeps the rules from loading. */
export interface Problem extends Position {
  readonly file: string;
  readonly message: string;
}
