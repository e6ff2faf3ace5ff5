import { readFileSync } from 'node:fs';
import { describeError, usageFailure } from './failure.ts';

export interface InputSources {
  /** JSON text. */
  readonly input?: string;
  /** A file with JSON text; `-` is standard input. */
  readonly inputFile?: string;
  /** `key=value` arguments. */
  readonly pairs: readonly string[];
}

/** The arguments of a call as JSON text, from the one source that was given. The daemon judges the text itself. */
export function readInput({ input, inputFile, pairs }: InputSources): string {
  const given = [input !== undefined, inputFile !== undefined, pairs.length > 0].filter(Boolean).length;
  if (given > 1) throw usageFailure('Give the input once: with --input, with --input-file, or as key=value.');
  if (input !== undefined) return input;
  if (inputFile !== undefined) return readInputFile(inputFile);
  return composeInput(pairs);
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
 * A value that reads as JSON is JSON, anything else is a string. Values are spliced in as they were typed, so that a
 * number too long for this program reaches the daemon, which refuses it, instead of being rounded here.
 */
export function composeInput(pairs: readonly string[]): string {
  const members = new Map<string, string>();
  for (const pair of pairs) {
    const split = pair.indexOf('=');
    if (split < 1) {
      throw usageFailure(`Not of the form key=value: ${pair}`, `Or pass JSON: --input '{"key": "value"}'`);
    }
    const key = pair.slice(0, split);
    if (members.has(key)) throw usageFailure(`The argument ${key} was given twice.`);
    const value = pair.slice(split + 1);
    members.set(key, isJson(value) ? value : JSON.stringify(value));
  }
  return `{${[...members].map(([key, value]) => `${JSON.stringify(key)}:${value}`).join(',')}}`;
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
