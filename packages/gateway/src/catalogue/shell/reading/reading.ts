import type { PathClaim } from '../../../call/tool.ts';
import type { TreeReading } from './find-tree.ts';

/** What a shell command would do, as far as its text tells. */
export interface Reading {
  /** Each program with its words, those that other programs start included; as rules see commands. */
  readonly commands: readonly string[];
  /** Files and folders that it names, with what would become of them. */
  readonly paths: readonly PathClaim[];
  /** Folders that it reads with everything in them. They are among the paths too. */
  readonly trees: readonly TreeReading[];
  /** Hosts of the addresses that it names. */
  readonly hosts: readonly string[];
  /** What the text does not tell. Empty: it tells everything. */
  readonly doubts: readonly Doubt[];
}

export type DoubtKind =
  /** Which program runs. */
  | 'program'
  /** What a text in another language does, or a script that is not in the command. */
  | 'code'
  /** What a word becomes. */
  | 'word'
  /** Which files a pattern matches. */
  | 'pattern'
  /** What an option makes a program do that otherwise only looks. */
  | 'option'
  /** In which folder it runs. */
  | 'folder'
  /** What a variable changes in programs that run afterwards. */
  | 'environment'
  /** What the text means at all. */
  | 'syntax';

export interface Doubt {
  readonly kind: DoubtKind;
  /** The part of the command that it is about, as written. */
  readonly text: string;
}

/** A word after expansion. */
export interface ReadWord {
  /** As written. */
  readonly text: string;
  /** What the program gets. Absent: it is not known. For a pattern: the pattern. */
  readonly value?: string;
  readonly isPattern?: boolean;
  /** The value is not known, but it is a number. */
  readonly isNumber?: boolean;
}

/** What is known at one place of the script. Changed by what runs there. */
export class Scope {
  /** Folders in which the next command may run. Undefined: not known. */
  folders: readonly string[] | undefined;
  /** By name. Undefined: it has a value that is not known. */
  readonly variables: Map<string, string | undefined>;
  /** Those of them that have a number that is not known. */
  readonly numbers = new Set<string>();
  /** Those that are defined here for certain: any other name means the program. */
  readonly functions: Set<string>;
  readonly home: string;
  /** Variables that a word sets by itself. */
  readonly setInside = new Set<string>();
  /** Words in which the shell may find something to run once it knows their value. */
  readonly evaluatedInside = new Set<string>();
  /** What was set before is not known here. */
  isFunction = false;
  /** Something was declared read-only, or so that setting it makes something else of the value. */
  hasDeclared = false;
  /** A command that fails ends the script. */
  stopsOnFailure = false;

  constructor(folders: readonly string[] | undefined, home: string) {
    this.folders = folders;
    this.home = home;
    this.variables = new Map([['HOME', home]]);
    this.functions = new Set();
  }

  copy(): Scope {
    const copied = new Scope(this.folders, this.home);
    for (const [name, value] of this.variables) copied.variables.set(name, value);
    for (const name of this.functions) copied.functions.add(name);
    for (const name of this.numbers) copied.numbers.add(name);
    copied.isFunction = this.isFunction;
    copied.hasDeclared = this.hasDeclared;
    copied.stopsOnFailure = this.stopsOnFailure;
    return copied;
  }

  /** What is left of what is known when this scope or the other one may be what is true. */
  join(other: Scope): void {
    this.folders = this.folders && other.folders && [...new Set([...this.folders, ...other.folders])];
    if ((this.folders?.length ?? 0) > mostFolders) this.folders = undefined;
    for (const name of new Set([...this.variables.keys(), ...other.variables.keys()])) {
      const isNumber = this.isNumber(name) && other.isNumber(name);
      if (this.variables.get(name) !== other.variables.get(name)) this.set(name, undefined, { isNumber });
      else if (!isNumber) this.numbers.delete(name);
    }
    for (const name of this.functions) if (!other.functions.has(name)) this.functions.delete(name);
    this.stopsOnFailure &&= other.stopsOnFailure;
    this.isFunction ||= other.isFunction;
    this.hasDeclared ||= other.hasDeclared;
  }

  /** It was set inside a word, to something that is not known. */
  assigned(name: string): void {
    this.set(name, undefined);
    this.setInside.add(name);
  }

  /** `isNumber`: of a value that is not known. */
  set(name: string, value: string | undefined, { isNumber = false }: { readonly isNumber?: boolean } = {}): void {
    this.variables.set(name, setByShell.test(name) || this.hasDeclared ? undefined : value);
    if (value === undefined && isNumber) this.numbers.add(name);
    else this.numbers.delete(name);
  }

  isNumber(name: string): boolean {
    return this.numbers.has(name) || /^-?\d+$/.test(this.variables.get(name) ?? '');
  }

  /** Anything may have been set to anything, and the folder may be any. */
  forget(): void {
    this.folders = undefined;
    this.functions.clear();
    for (const name of this.variables.keys()) this.set(name, undefined);
    this.isFunction = true;
  }

  lookUp(name: string): string | undefined {
    if (name === 'PWD') return this.folders?.length === 1 ? this.folders[0] : undefined;
    return this.variables.get(name);
  }
}

const mostFolders = 8;
/** Variables that have other values than those that a script gives them. */
const setByShell =
  /^(_|REPLY|OPTARG|OPTIND|S?RANDOM|SECONDS|LINENO|EPOCH\w+|BASH\w*|PIPESTATUS|FUNCNAME|GROUPS|DIRSTACK|HISTCMD|E?UID|PPID|OLDPWD|COPROC\w*|MAPFILE|COLUMNS|LINES)$/;
