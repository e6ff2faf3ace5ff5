import { InvalidArgumentError } from 'commander';
import type { CommandContext } from './command-context.ts';

/** What the shell or the daemon knows about a value that is being typed. */
export type Completion = 'files' | 'tool' | 'installed-tool' | 'tool-argument';

/** One value that a command takes, as an argument or an option. `Value` is what the command is given. */
export interface ValueSpec<Value = unknown> {
  readonly help: string;
  /** The placeholder for the value in help, such as `file`. Absent: a flag, which has no value. */
  readonly placeholder?: string;
  readonly isList?: boolean;
  readonly isRequired?: boolean;
  /** The value may be left out; then it is `true`. */
  readonly isValueOptional?: boolean;
  readonly short?: string;
  readonly choices?: readonly string[];
  readonly completes?: Completion;
  readonly defaultValue?: unknown;
  /** Throws InvalidArgumentError. */
  readonly parse?: (text: string) => unknown;
  /** For the types alone. */
  readonly value?: Value;
}

export type Specs = Readonly<Record<string, ValueSpec>>;
type ValueOf<Spec> = Spec extends ValueSpec<infer Value> ? Value : never;
type GivenOf<Values extends Specs> = {
  readonly [Name in keyof Values as undefined extends ValueOf<Values[Name]> ? never : Name]: ValueOf<Values[Name]>;
} & {
  readonly [Name in keyof Values as undefined extends ValueOf<Values[Name]> ? Name : never]?: Exclude<
    ValueOf<Values[Name]>,
    undefined
  >;
};
/** What a command is given: each value under the name it was declared with. One that was left out is absent. */
export type Given<Arguments extends Specs, Options extends Specs = Arguments> = GivenOf<Arguments> & GivenOf<Options>;

/** A command as help, completion, documents and the parser know it. */
export interface CommandSpec {
  readonly name: string;
  readonly help: string;
  /** In their order on the command line. */
  readonly arguments: Specs;
  readonly options: Specs;
  /** Returns the exit code. */
  readonly run: (given: Readonly<Record<string, unknown>>, context: CommandContext) => number | Promise<number>;
  /** Stands below the help. */
  readonly more?: string;
  /** For programs. It takes all words as they are. */
  readonly isHidden?: boolean;
}

/** Commands under one word. Their files are read when one of them is named, so that none waits for the others. */
export interface CommandGroup {
  readonly name: string;
  readonly help: string;
  readonly load: () => Promise<readonly CommandSpec[]>;
}

export function group(name: string, help: string, load: CommandGroup['load']): CommandGroup {
  return { name, help, load };
}

export interface Declaration<Arguments extends Specs, Options extends Specs> {
  readonly help: string;
  readonly arguments?: Arguments;
  readonly options?: Options;
  readonly more?: string;
  readonly isHidden?: boolean;
}

/** Declares a command that does more than to call one tool. */
export function command<const Arguments extends Specs, const Options extends Specs>(
  name: string,
  declaration: Declaration<Arguments, Options> & {
    /** Returns the exit code. */
    readonly run: (given: Given<Arguments, Options>, context: CommandContext) => number | Promise<number>;
  },
): CommandSpec {
  return { arguments: {}, options: {}, ...declaration, name } as CommandSpec;
}

const spec = <Value>(fields: Omit<ValueSpec, 'value'>): ValueSpec<Value> => fields;

type Details = Pick<ValueSpec, 'short' | 'completes'>;

// Options. All may be left out, unless they are made required or have a default.

export const flag = (help: string, details: Details = {}) => spec<boolean | undefined>({ help, ...details });

export const text = (placeholder: string, help: string, details: Details = {}) =>
  spec<string | undefined>({ placeholder, help, ...details });

export const file = (placeholder: string, help: string, details: Details = {}) =>
  text(placeholder, help, { completes: 'files', ...details });

export const list = (placeholder: string, help: string, details: Details = {}) =>
  spec<readonly string[] | undefined>({ placeholder, help, isList: true, ...details });

export const choice = (placeholder: string, choices: readonly string[], help: string) =>
  spec<string | undefined>({ placeholder, choices, help });

export const parsed = <Value>(placeholder: string, help: string, parse: (text: string) => Value, short?: string) =>
  spec<Value | undefined>({ placeholder, help, parse, ...(short === undefined ? {} : { short }) });

export const count = (help: string, short?: string) => parsed('number', help, parseCount, short);

/** A number that may be left out; then it is `true`. */
export const optionalCount = (placeholder: string, help: string) =>
  spec<number | true | undefined>({ placeholder, help, parse: parseCount, isValueOptional: true });

export const required = <Value>(option: ValueSpec<Value | undefined>) => spec<Value>({ ...option, isRequired: true });

export const withDefault = <Value>(option: ValueSpec<Value | undefined>, defaultValue: Value) =>
  spec<Value>({ ...option, defaultValue });

// Arguments.

export const word = (placeholder: string, details: Details & Pick<ValueSpec, 'choices'> = {}) =>
  spec<string>({ placeholder, help: '', isRequired: true, ...details });

export const optionalWord = (placeholder: string, details: Details = {}) =>
  spec<string | undefined>({ placeholder, help: '', ...details });

/** Any number of them. */
export const words = (placeholder: string, details: Details = {}) =>
  spec<readonly string[]>({ placeholder, help: '', isList: true, ...details });

function parseCount(given: string): number {
  const number = Number(given);
  if (!/^\d+$/.test(given) || number > 0xffff_ffff) throw new InvalidArgumentError('It must be a whole number.');
  return number;
}

export function parseHours(given: string): number {
  if (!/^[1-9]\d{0,6}$/.test(given)) throw new InvalidArgumentError('It must be a whole number of hours, at least 1.');
  return Number(given);
}

/** As an option is written: `maxCalls` is `max-calls`. */
export function spellOption(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}

/** As arguments of tools are written: `maxCalls` is `max_calls`. */
export function spellField(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/** How help shows a value: `<file>`, `[key=value...]`. Empty for a flag. */
export function spellPlaceholder({ placeholder, isList = false }: ValueSpec, isOptional: boolean): string {
  if (placeholder === undefined) return '';
  const name = `${placeholder}${isList ? '...' : ''}`;
  return isOptional ? `[${name}]` : `<${name}>`;
}
