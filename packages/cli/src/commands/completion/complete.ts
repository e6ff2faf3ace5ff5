import type { Argument, Command, Option } from 'commander';
import { exitCodes } from '@sallyport/contract/codes';
import type { CommandContext } from '../../command-context.ts';
import { describeArguments } from '../tools/describe-schema.ts';
import { parseSchema } from '../tools/tool-json.ts';
import { makeVisibleLine } from '../../terminal/visible-text.ts';

/** A word that could stand where the cursor is, and what it means. */
export interface Candidate {
  readonly word: string;
  readonly meaning: string;
}

/** The shell knows the files. */
const files = ':files';

/** Prints what could follow. Whatever goes wrong, nobody who is typing wants to read of it. */
export async function complete(program: Command, words: readonly string[], context: CommandContext): Promise<number> {
  const typed = words.at(-1) ?? '';
  const candidates = await findCandidates(program, words, (kind, before) => askDaemon(kind, before, context)).catch(
    () => [],
  );
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
type Kind = 'tool' | 'installed-tool' | 'tool-argument';
type ListNames = (kind: Kind, before: readonly string[]) => Promise<readonly Candidate[]>;

/** The last word is the one being typed. Exported for tests, which need no daemon. */
export async function findCandidates(
  program: Command,
  words: readonly string[],
  listNames: ListNames,
): Promise<readonly Candidate[] | typeof files> {
  const typed = words.at(-1) ?? '';
  const { command, positional, waiting } = walkWords(program, words.slice(0, -1));
  if (waiting !== undefined)
    return waiting.argChoices?.map((word) => ({ word, meaning: '' })) ?? completeValue(waiting);
  if (typed.startsWith('-')) return listOptions(command, program);
  const subcommands = command.createHelp().visibleCommands(command);
  if (subcommands.length > 0) {
    return subcommands.map((each) => ({ word: each.name(), meaning: each.description() }));
  }
  const argument = command.registeredArguments[Math.min(positional.length, command.registeredArguments.length - 1)];
  if (argument === undefined || (positional.length >= command.registeredArguments.length && !argument.variadic))
    return [];
  if (argument.argChoices !== undefined) return argument.argChoices.map((word) => ({ word, meaning: '' }));
  return completeArgument(command, argument, positional, listNames);
}

/** Which command the words lead to, what was given to it, and the option that still waits for its value. */
function walkWords(
  program: Command,
  words: readonly string[],
): { command: Command; positional: readonly string[]; waiting: Option | undefined } {
  let command = program;
  const positional: string[] = [];
  let waiting: Option | undefined;
  for (const word of words) {
    if (waiting !== undefined && !word.startsWith('-')) {
      if (!waiting.variadic) waiting = undefined;
    } else if (word.startsWith('-')) {
      const option = [...command.options, ...program.options].find(
        ({ long, short }) => word === long || word === short,
      );
      waiting = option?.required === true ? option : undefined;
    } else {
      const next = command.commands.find((each) => each.name() === word);
      if (next === undefined) positional.push(word);
      else command = next;
    }
  }
  return { command, positional, waiting };
}

function listOptions(command: Command, program: Command): readonly Candidate[] {
  const options = command === program ? program.options : [...command.options, ...program.options];
  return [
    ...options
      .filter(({ hidden }) => !hidden)
      .map(({ long, description }) => ({ word: long ?? '', meaning: description })),
    { word: '--help', meaning: 'show help' },
  ];
}

function completeValue({ long }: Option): readonly Candidate[] | typeof files {
  return /file|folder|output|directory|paths|checkpoint|key/.test(long ?? '') ? files : [];
}

async function completeArgument(
  command: Command,
  argument: Argument,
  positional: readonly string[],
  listNames: ListNames,
): Promise<readonly Candidate[] | typeof files> {
  const family = command.parent?.name();
  const name = argument.name();
  if (name.startsWith('key=value')) return listNames('tool-argument', positional);
  if (name.startsWith('name[@version]')) return listNames('installed-tool', positional);
  if (family === 'tool' && ['show', 'invoke', 'dev', 'status'].includes(command.name()))
    return listNames('tool', positional);
  return /file|folder/.test(name) ? files : [];
}

async function askDaemon(
  kind: Kind,
  before: readonly string[],
  context: CommandContext,
): Promise<readonly Candidate[]> {
  const client = context.openClient();
  if (kind === 'tool-argument') {
    const { tool = {} } = await client.call('ToolService/GetToolSchema', { name: before[0] ?? '' });
    const given = before.slice(1).map((pair) => pair.split('=', 1)[0]);
    return describeArguments(parseSchema(tool.inputSchemaJson))
      .filter(({ name }) => !name.includes('.') && !given.includes(name))
      .map(({ name, description }) => ({ word: `${name}=`, meaning: description }));
  }
  const { tools = [] } = await client.call('ToolService/ListAvailableTools', {});
  return tools
    .filter(({ origin = '' }) => kind === 'tool' || ['executable', 'configured', 'pipeline'].includes(origin))
    .map(({ name = '', description = '' }) => ({ word: name, meaning: description.split('\n', 1)[0] ?? '' }));
}
