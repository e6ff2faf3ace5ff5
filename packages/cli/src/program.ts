import { Argument, Command, Option } from 'commander';
import { version } from '@sallyport/gateway';
import type { CommandContext } from './command-context.ts';
import { spellOption, spellPlaceholder } from './command-table.ts';
import type { CommandSpec, ValueSpec } from './command-table.ts';
import { commandTable, globalOptions } from './commands/index.ts';

export interface GlobalOptions {
  readonly json?: boolean;
  readonly tokenFile?: string;
}

/** Gives a command its context and keeps the exit code it returns. */
export type Run = (
  options: GlobalOptions,
  command: (context: CommandContext) => number | Promise<number>,
) => Promise<void>;

export interface ProgramOptions {
  readonly json: boolean;
  /** Only the groups that are named here are read. Absent: all of them. */
  readonly words?: readonly string[];
}

/** The parser of the command line, with the help of every command, as the table declares them. */
export async function buildProgram(run: Run, { json, words }: ProgramOptions): Promise<Command> {
  const program = new Command('sallyport')
    .description('The one gate between AI agents and their tools.')
    .version(version, '-V, --version', globalOptions.version.help)
    .helpOption('-h, --help', 'show help')
    .helpCommand('help [command]', 'show help for a command')
    .configureHelp({ showGlobalOptions: true })
    .showHelpAfterError('Add --help to see what is possible.')
    .exitOverride();
  for (const name of ['json', 'tokenFile'] as const) program.addOption(toOption(name, globalOptions[name]));
  program.configureOutput({
    outputError: (text, write) =>
      write(text.replace(/^error: (.)/, (_, first: string) => `Error  ${first.toUpperCase()}`)),
    // Scripts get errors as JSON on standard output, once.
    ...(json ? { writeErr: () => undefined } : {}),
  });
  const start = (command: Parameters<Run>[1]): Promise<void> => run(program.opts<GlobalOptions>(), command);
  for (const entry of commandTable) {
    if (!('load' in entry)) addCommand(program, entry, start);
    else {
      const group = program.command(entry.name).description(entry.help);
      const isNamed = words === undefined || words.includes(entry.name);
      for (const spec of isNamed ? await entry.load() : []) addCommand(group, spec, start);
    }
  }
  return program;
}

function addCommand(parent: Command, spec: CommandSpec, start: (command: Parameters<Run>[1]) => Promise<void>): void {
  const { name, help, more, isHidden = false } = spec;
  const command = parent.command(name, { hidden: isHidden }).description(help);
  if (isHidden) command.allowUnknownOption().helpOption(false);
  if (more !== undefined) command.addHelpText('after', more);
  const names = Object.keys(spec.arguments);
  for (const argument of Object.values(spec.arguments)) command.addArgument(toArgument(argument));
  for (const [option, value] of Object.entries(spec.options)) command.addOption(toOption(option, value));
  command.action((...values: unknown[]) => {
    const given = names.map((key, at) => [key, values[at]] as const).filter(([, value]) => value !== undefined);
    return start((context) => spec.run({ ...Object.fromEntries(given), ...command.opts() }, context));
  });
}

function toArgument(spec: ValueSpec): Argument {
  const argument = new Argument(spellPlaceholder(spec, spec.isRequired !== true));
  return spec.choices === undefined ? argument : argument.choices(spec.choices);
}

function toOption(name: string, spec: ValueSpec): Option {
  const { short, help, choices, parse, defaultValue, isRequired = false, isValueOptional = false } = spec;
  const flags = `${short === undefined ? '' : `-${short}, `}--${spellOption(name)}`;
  const option = new Option(`${flags} ${spellPlaceholder(spec, isValueOptional)}`.trimEnd(), help);
  if (choices !== undefined) option.choices(choices);
  if (parse !== undefined) option.argParser(parse);
  return option.default(defaultValue).makeOptionMandatory(isRequired);
}
