import { wholeText } from '@sallyport/contract';
import { refuse } from '../../call/refusal.ts';
import { ToolRefused } from '../../call/tool.ts';

/** What a value must be: any text, a whole number, a name or revision, a file to be read, or one of some words. */
export type ValueKind = 'text' | 'number' | 'name' | 'file' | readonly string[];

/** The options that an operation takes, each by its exact spelling. What is not listed is refused. */
export interface OptionRules {
  /** Those without a value. */
  readonly flags: readonly string[];
  /** Those that need a value, after `=` or as the next argument. Absent: none. */
  readonly values?: Readonly<Record<string, ValueKind>>;
  /** Flags that may also have a value, after `=`. Absent: none. */
  readonly attached?: readonly string[];
  /** Whether `-5` stands for the number of entries. Absent: no. */
  readonly takesCount?: boolean;
}

export interface GitOption {
  readonly name: string;
  /** Absent: it is a flag. */
  readonly value?: string;
  /** Whether the value names a file to be read. Absent: no. */
  readonly isFile?: boolean;
}

export interface GitArguments {
  readonly options: readonly GitOption[];
  /** The arguments before `--`. None of them starts with a dash. */
  readonly before: readonly string[];
  /** The arguments after `--`. Undefined: there is no `--`. */
  readonly after: readonly string[] | undefined;
  /** Files that options name. */
  readonly files: readonly string[];
}

const controlCharacter = /\p{Cc}/u;

/**
 * Reads the arguments of a git operation. Abbreviated options are refused like unknown ones, so that what git
 * understands is what was looked up here. Throws ToolRefused.
 */
export function parseGitArguments(operation: string, args: readonly string[], rules: OptionRules): GitArguments {
  return new ArgumentReader(operation, args, rules).read();
}

class ArgumentReader {
  readonly #operation: string;
  readonly #rules: OptionRules;
  readonly #waiting: string[];
  readonly #options: GitOption[] = [];
  readonly #before: string[] = [];
  readonly #files: string[] = [];

  constructor(operation: string, args: readonly string[], rules: OptionRules) {
    this.#operation = operation;
    this.#rules = rules;
    this.#waiting = args.toReversed();
  }

  read(): GitArguments {
    let after: readonly string[] | undefined;
    for (let next = this.#waiting.pop(); next !== undefined; next = this.#waiting.pop()) {
      if (next === '--') {
        after = this.#waiting.splice(0).reverse().map(checkPositional);
      } else if (next.startsWith('--')) {
        this.#readLong(next);
      } else if (next.startsWith('-')) {
        this.#readShort(next);
      } else {
        this.#before.push(checkPositional(next));
      }
    }
    return { options: this.#options, before: this.#before, after, files: this.#files };
  }

  #readLong(argument: string): void {
    const equals = argument.indexOf('=');
    const name = equals < 0 ? argument : argument.slice(0, equals);
    const kind = this.#kindOf(name);
    if (equals < 0 && this.#rules.flags.includes(name)) {
      this.#options.push({ name });
    } else if (kind !== undefined) {
      const value = this.#checkValue(name, kind, equals < 0 ? undefined : argument.slice(equals + 1));
      this.#options.push({ name, value, ...(kind === 'file' ? { isFile: true } : {}) });
    } else if (equals >= 0 && this.#rules.attached?.includes(name) === true) {
      this.#options.push({ name, value: this.#checkValue(name, 'text', argument.slice(equals + 1)) });
    } else {
      throw this.#refuseOption(name);
    }
  }

  #readShort(argument: string): void {
    if (this.#rules.takesCount === true && /^-[0-9]{1,9}$/.test(argument)) {
      this.#options.push({ name: '--max-count', value: argument.slice(1) });
      return;
    }
    if (this.#rules.flags.includes(argument)) {
      this.#options.push({ name: argument });
      return;
    }
    for (let at = 1; at < argument.length; at++) {
      const name = `-${argument[at]}`;
      const kind = this.#kindOf(name);
      if (kind !== undefined) {
        const rest = argument.slice(at + 1);
        const value = this.#checkValue(name, kind, rest === '' ? undefined : rest);
        this.#options.push({ name, value, ...(kind === 'file' ? { isFile: true } : {}) });
        return;
      }
      if (!this.#rules.flags.includes(name)) throw this.#refuseOption(name);
      this.#options.push({ name });
    }
    if (argument === '-') throw this.#refuseOption('-');
  }

  /** `given` undefined: the value is the next argument. */
  #checkValue(name: string, kind: ValueKind, given: string | undefined): string {
    const value = given ?? this.#waiting.pop();
    if (value === undefined) throw refuseArguments(`git ${this.#operation} ${name} needs a value.`);
    if (!isPassable(value) || !fits(value, kind)) {
      throw refuseArguments(`git ${this.#operation} ${name} does not take this value.`);
    }
    if (kind === 'file') this.#files.push(value);
    return value;
  }

  #kindOf(name: string): ValueKind | undefined {
    const { values = {} } = this.#rules;
    return Object.hasOwn(values, name) ? values[name] : undefined;
  }

  #refuseOption(name: string): ToolRefused {
    const known = [...this.#rules.flags, ...Object.keys(this.#rules.values ?? {})].filter((each) => each !== '');
    return refuseArguments(
      `git ${this.#operation} is not run with ${JSON.stringify(wholeText(name))}.`,
      known.length === 0 ? 'It takes no options here.' : `It takes: ${known.join(' ')}.`,
    );
  }
}

/** As git reads them, whatever the values look like. */
export function writeOptions(options: readonly GitOption[]): readonly string[] {
  return options.flatMap(({ name, value }) => {
    if (value === undefined) return [name];
    return name.startsWith('--') ? [`${name}=${value}`] : [name, value];
  });
}

export function hasOption(options: readonly GitOption[], ...names: readonly string[]): boolean {
  return options.some(({ name }) => names.includes(name));
}

function fits(value: string, kind: ValueKind): boolean {
  if (typeof kind !== 'string') return kind.includes(value);
  if (kind === 'number') return /^[0-9]{1,9}$/.test(value);
  if (kind === 'text') return true;
  return value !== '' && !value.startsWith('-') && !controlCharacter.test(value);
}

function checkPositional(value: string): string {
  if (value === '' || !isPassable(value) || controlCharacter.test(value)) {
    throw refuseArguments('A path or revision is empty or holds a control character.');
  }
  if (value.startsWith(':')) {
    throw refuseArguments('Paths and revisions that start with a colon have a special meaning to git.');
  }
  return value;
}

function isPassable(value: string): boolean {
  return !value.includes('\0') && value.isWellFormed();
}

export function refuseArguments(message: string, remedy?: string): ToolRefused {
  return new ToolRefused(refuse('INVALID_ARGUMENTS', 'git-options', message, remedy === undefined ? {} : { remedy }));
}
