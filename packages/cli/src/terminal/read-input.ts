import { readFileSync } from 'node:fs';
import type { CommandContext } from '../command-context.ts';
import { CommandFailure, describeError, exitCodeInterrupted, usageFailure } from '../client/failure.ts';
import { parseObject } from '../commands/tools/parse-object.ts';

export interface InputSources {
  /** JSON text. */
  readonly input?: string;
  /** A file with JSON text; `-` is standard input. */
  readonly inputFile?: string;
  /** `key=value` arguments. */
  readonly pairs: readonly string[];
  /** Names of arguments that are text, whatever it looks like. Absent: none is known. */
  readonly texts?: ReadonlySet<string>;
}

/** The arguments of a call as JSON text, from the one source that was given. The daemon judges the text itself. */
export function readInput({ input, inputFile, pairs, texts }: InputSources): string {
  const given = [input !== undefined, inputFile !== undefined, pairs.length > 0].filter(Boolean).length;
  if (given > 1) throw usageFailure('Give the input once: with --input, with --input-file, or as key=value.');
  if (input !== undefined) return input;
  if (inputFile !== undefined) return readInputFile(inputFile);
  return composeInput(pairs, texts);
}

/** The same for a tool of the daemon, which knows what is text. A tool that is not there is explained by the call. */
export async function readInputFor(
  tool: string,
  sources: Omit<InputSources, 'texts'>,
  context: CommandContext,
): Promise<string> {
  if (sources.pairs.length === 0) return readInput(sources);
  const leave = (): never => process.exit(exitCodeInterrupted);
  process.on('SIGINT', leave);
  try {
    const known = await context.openClient().call('ToolService/GetToolSchema', { name: tool }).catch(explainLater);
    return readInput({ ...sources, texts: findTexts(known?.tool?.inputSchemaJson) });
  } finally {
    process.off('SIGINT', leave);
  }
}

function explainLater(error: unknown): undefined {
  if (!(error instanceof CommandFailure)) throw error;
}

function readInputFile(file: string): string {
  let bytes: Buffer;
  try {
    bytes = readFileSync(file === '-' ? 0 : file);
  } catch (error) {
    throw usageFailure(`The input cannot be read: ${describeError(error)}`);
  }
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw usageFailure(`The input is not UTF-8 text: ${file === '-' ? 'standard input' : file}`);
  }
}

/**
 * A value that reads as JSON is JSON, anything else is a string; for an argument that is text, everything but a JSON
 * string is taken as it was typed. Values are spliced in, so that a number too long for this program reaches the daemon,
 * which refuses it, instead of being rounded here.
 */
export function composeInput(pairs: readonly string[], texts: ReadonlySet<string> = new Set()): string {
  const members = new Map<string, string>();
  for (const pair of pairs) {
    const split = pair.indexOf('=');
    if (split < 1) {
      throw usageFailure(`Not of the form key=value: ${pair}`, `Or pass JSON: --input '{"key": "value"}'`);
    }
    const key = pair.slice(0, split);
    if (members.has(key)) throw usageFailure(`The argument ${key} was given twice.`);
    const value = pair.slice(split + 1);
    const isMeantAsJson = isJson(value) && (!texts.has(key) || value.trimStart().startsWith('"'));
    members.set(key, isMeantAsJson ? value : JSON.stringify(value));
  }
  return `{${[...members].map(([key, value]) => `${JSON.stringify(key)}:${value}`).join(',')}}`;
}

/** Arguments that can only be text, by the schema of the tool. */
export function findTexts(inputSchemaJson: string | undefined): ReadonlySet<string> {
  const { properties = {} } = parseObject(inputSchemaJson) as {
    readonly properties?: Readonly<Record<string, unknown>>;
  };
  const isText = (schema: unknown): boolean => (schema as { readonly type?: unknown } | null)?.type === 'string';
  return new Set(Object.keys(properties).filter((name) => isText(properties[name])));
}

export function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
