import type { Risk } from '../../call/tool.ts';
import type { Access } from '@sallyport/sandbox';
import type { GitArguments, GitOption, OptionRules } from './git-arguments.ts';

/** Revisions and paths of an operation, told apart. */
export interface GitTargets {
  readonly options: readonly GitOption[];
  readonly revisions: readonly string[];
  readonly paths: readonly string[];
}

/** How to find out which files of the repository an operation would show or change, before it does. */
export interface EntryListing {
  /** Commands of git, each printing paths from the top of the repository, with NUL behind each. */
  readonly commands: readonly (readonly string[])[];
  /** What the operation does with each of them. */
  readonly access: Access;
  /** What happens when the rules forbid one: the operation runs without it, or not at all. */
  readonly forbidden: 'leave-out' | 'refuse';
  /** Whether git would look into submodules, where it obeys their configuration; then they are left out. Absent: no. */
  readonly entersSubmodules?: boolean;
}

/** One of the operations, as data. */
export interface GitOperation {
  readonly name: string;
  /** Arguments of a call to copy. */
  readonly example: readonly string[];
  readonly description: string;
  readonly risk: Risk;
  /** Whether it changes the repository or the files in it. */
  readonly mutates: boolean;
  readonly timeoutMs: number;
  readonly options: OptionRules;
  /** What may stand before `--`. `either`: git looks whether it is a revision, and takes it for a path otherwise. */
  readonly before: 'none' | 'paths' | 'names' | 'either';
  /** The most of it. Absent: any number. */
  readonly maxBefore?: number;
  /** Whether paths may follow after `--`. */
  readonly takesPaths: boolean;
  /** Given always, before the options of the caller. */
  readonly fixed: readonly string[];
  /** The arguments of git. Absent: name, options, revisions, then `--` and the paths. */
  readonly write?: (targets: GitTargets) => readonly string[];
  /** Undefined: no file is shown or changed by it. */
  readonly listEntries?: (targets: GitTargets) => EntryListing | undefined;
  /**
   * Commands of git that only look, and that fail where the operation would: nobody is asked about it then. Absent: what
   * else is looked at before it fails as well.
   */
  readonly foresee?: (targets: GitTargets) => readonly (readonly string[])[];
  /** Further conditions on the arguments; throws ToolRefused. */
  readonly check?: (args: GitArguments) => void;
  /** Which way it uses a remote. Absent: it uses none. */
  readonly remote?: 'fetch' | 'push';
}
