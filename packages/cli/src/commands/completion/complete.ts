import { readFileSync } from 'node:fs';
import { exitCodes } from '@sallyport/contract/codes';
import type { CommandContext } from '../../command-context.ts';
import { spellOption } from '../../command-table.ts';
import type { CommandGroup, CommandSpec, Completion, ValueSpec } from '../../command-table.ts';
import { commandTable, globalOptions } from '../index.ts';
import { packageFile } from '../package-files.ts';
import { describeArguments } from '../tools/describe-schema.ts';
import { parseObject } from '../tools/parse-object.ts';
import { makeVisibleLine } from '../../terminal/visible-text.ts';

/** A word that could stand where the cursor is, and what it means. */
export interface Candidate {
  readonly word: string;
  readonly meaning: string;
}

/** The shell knows the files. */
const files = ':files';

/**
 * Prints a script for the shell. All of them hand the words typed so far to `complete`, which answers with one candidate
 * a line, a tab and what it means; an answer of `:files` alone leaves it to the shell to complete a file.
 */
export function printScript(shell: string, { terminal }: CommandContext): number {
  terminal.print(readFileSync(packageFile(`templates/completion.${shell}.template`), 'utf8').trimEnd());
  return exitCodes.success;
}

/** Prints what could follow. Prints no errors: they would disturb the person who is typing. */
export async function complete(words: readonly string[], context: CommandContext): Promise<number> {
  const typed = words.at(-1) ?? '';
  const candidates = await findCandidates(words, (kind, before) => askDaemon(kind, before, context)).catch(() => []);
  if (candidates === files) {
    context.terminal.print(files);
    return exitCodes.success;
  }
  const fitting = candidates.filter(({ word }) => word.startsWith(typed));
  if (fitting.length > 0) {
    context.terminal.print(
      ...fitting.map(({ word, meaning }) => `${makeVisibleLine(word)}\t${makeVisibleLine(meaning)}`),
    );
  }
  return exitCodes.success;
}

/** What only the daemon knows. None of it is a governed call: typing leaves nothing in the log. */
type Kind = Exclude<Completion, 'files'>;
type ListNames = (kind: Kind, before: readonly string[]) => Promise<readonly Candidate[]>;

/** The last word is the one being typed. Exported for tests, which need no daemon. */
export async function findCandidates(
  words: readonly string[],
  listNames: ListNames,
): Promise<readonly Candidate[] | typeof files> {
  const typed = words.at(-1) ?? '';
  const { commands, command, positional, waiting } = await walkWords(words.slice(0, -1));
  if (waiting !== undefined) return completeValue(waiting, positional, listNames);
  if (typed.startsWith('-')) return listOptions(command);
  if (command === undefined) {
    const visible = commands.filter((each) => !('isHidden' in each));
    return [...visible, { name: 'help', help: 'show help for a command' }].map(({ name, help }) => ({
      word: name,
      meaning: help,
    }));
  }
  const specs = Object.values(command.arguments);
  const argument = specs[Math.min(positional.length, specs.length - 1)];
  if (argument === undefined || (positional.length >= specs.length && argument.isList !== true)) return [];
  return completeValue(argument, positional, listNames);
}

interface Place {
  /** What could be named next. */
  commands: readonly (CommandSpec | CommandGroup)[];
  /** Undefined: none was named yet. */
  command: CommandSpec | undefined;
  /** What was given to it. */
  readonly positional: string[];
  /** The option that still waits for its value. */
  waiting: ValueSpec | undefined;
}

async function walkWords(words: readonly string[]): Promise<Place> {
  const place: Place = { commands: commandTable, command: undefined, positional: [], waiting: undefined };
  for (const word of words) {
    if (place.waiting !== undefined && !word.startsWith('-')) {
      if (place.waiting.isList !== true) place.waiting = undefined;
    } else if (word.startsWith('-')) {
      const options = Object.entries({ ...globalOptions, ...place.command?.options });
      const [, option] =
        options.find(([name, { short }]) => word === `--${spellOption(name)}` || word === `-${short}`) ?? [];
      const waits = option?.placeholder !== undefined && option.isValueOptional !== true;
      place.waiting = waits ? option : undefined;
    } else {
      const next = place.command === undefined ? place.commands.find(({ name }) => name === word) : undefined;
      if (next === undefined) place.positional.push(word);
      else if ('load' in next) place.commands = await next.load();
      else place.command = next;
    }
  }
  return place;
}

function listOptions(command: CommandSpec | undefined): readonly Candidate[] {
  const options = { ...command?.options, ...globalOptions, help: { help: 'show help' } };
  return Object.entries(options).map(([name, { help }]) => ({ word: `--${spellOption(name)}`, meaning: help }));
}

async function completeValue(
  { choices, completes }: ValueSpec,
  positional: readonly string[],
  listNames: ListNames,
): Promise<readonly Candidate[] | typeof files> {
  if (choices !== undefined) return choices.map((word) => ({ word, meaning: '' }));
  if (completes === undefined || completes === 'files') return completes === 'files' ? files : [];
  return listNames(completes, positional);
}

async function askDaemon(
  kind: Kind,
  before: readonly string[],
  context: CommandContext,
): Promise<readonly Candidate[]> {
  const client = context.openClient();
  if (kind === 'tool-argument') {
    const { tool } = await client.call('ToolService/GetToolSchema', { name: before[0] ?? '' });
    const given = before.slice(1).map((pair) => pair.split('=', 1)[0]);
    return describeArguments(parseObject(tool?.inputSchemaJson))
      .filter(({ name }) => !name.includes('.') && !given.includes(name))
      .map(({ name, description }) => ({ word: `${name}=`, meaning: description }));
  }
  const { tools } = await client.call('ToolService/ListAvailableTools', {});
  return tools
    .filter(({ origin }) => kind === 'tool' || ['executable', 'configured', 'pipeline'].includes(origin))
    .map(({ name, description }) => ({ word: name, meaning: description.split('\n', 1)[0] ?? '' }));
}
