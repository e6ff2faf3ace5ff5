import { Argument } from 'commander';
import type { Command } from 'commander';
import type { Run } from '../../program.ts';
import { completionScript, shells } from './completion-scripts.ts';
import type { Shell } from './completion-scripts.ts';

type Start = (command: Parameters<Run>[1]) => Promise<void>;

/** `completion`, and what its scripts ask while somebody types. */
export function addCompletionCommands(program: Command, start: Start): void {
  program
    .command('completion')
    .description('print a script that completes commands, options and tool names in your shell')
    .addArgument(new Argument('<shell>').choices(shells))
    .addHelpText(
      'after',
      [
        '',
        'Put it to use:',
        '  bash  sallyport completion bash > ~/.local/share/bash-completion/completions/sallyport',
        '  zsh   source <(sallyport completion zsh)',
        '  fish  sallyport completion fish > ~/.config/fish/completions/sallyport.fish',
      ].join('\n'),
    )
    .action((shell: Shell) =>
      start(async ({ terminal }) => {
        terminal.print(completionScript(shell));
        return 0;
      }),
    );
  program
    .command('complete', { hidden: true })
    .description('print what could follow the words, one a line')
    .argument('[words...]')
    .allowUnknownOption()
    .helpOption(false)
    .action((words: readonly string[]) =>
      start(async (context) => (await import('./complete.ts')).complete(program, words, context)),
    );
}
