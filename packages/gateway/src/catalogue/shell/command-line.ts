/** A command line of which every word is known. Nothing in it is left for a shell to expand. */
export interface CommandLine<Command extends SimpleCommand = SimpleCommand> {
  /** In the order in which they stand. At least one. */
  readonly pipelines: readonly CommandPipeline<Command>[];
}

export interface CommandPipeline<Command extends SimpleCommand = SimpleCommand> {
  /** What decides whether it runs: how the one before it ended. `;` for the first. */
  readonly after: '&&' | '||' | ';';
  /** They run at the same time, each reading what the one before it writes. At least one. */
  readonly commands: readonly Command[];
}

export interface SimpleCommand {
  /** The first names the program. */
  readonly words: readonly [string, ...string[]];
  /** They take effect in this order. */
  readonly redirections: readonly Redirection[];
}

export type Redirection =
  | { readonly kind: 'from-file'; readonly target: string }
  | {
      readonly kind: 'to-file';
      readonly descriptor: OutputDescriptor;
      readonly target: string;
      readonly append: boolean;
    }
  /** The descriptor leads where `like` leads at this point. */
  | { readonly kind: 'merge'; readonly descriptor: OutputDescriptor; readonly like: OutputDescriptor };

export type OutputDescriptor = 1 | 2;

export function listCommands<Command extends SimpleCommand>(line: CommandLine<Command>): readonly Command[] {
  return line.pipelines.flatMap((pipeline) => pipeline.commands);
}

/** The same line with every command replaced. */
export function mapCommands<Command extends SimpleCommand>(
  line: CommandLine,
  change: (command: SimpleCommand) => Command,
): CommandLine<Command> {
  return { pipelines: line.pipelines.map((each) => ({ ...each, commands: each.commands.map(change) })) };
}
