import type { Command } from 'commander';
import type { Run } from '../../program.ts';

type Start = (command: Parameters<Run>[1]) => Promise<void>;

/** `mode`: how much the gate lets through, and why. */
export function addModeCommands(program: Command, start: Start): void {
  const mode = program.command('mode').description('see and change the mode of the gate');
  mode
    .command('show')
    .description('show the mode, its limits and why it was set')
    .action(() => start(async (context) => (await import('./mode.ts')).showMode(context)));
  mode
    .command('set <mode>')
    .description('change the mode; LOCKDOWN stops running calls that change something')
    .requiredOption('--cause <text>', 'why; it stands in the log')
    .action((to: string, { cause }: { cause: string }) =>
      start(async (context) => (await import('./mode.ts')).setMode(to, cause, context)),
    );
  mode
    .command('history')
    .description('list the changes of the mode, newest first')
    .option('-n, --lines <number>', 'how many', Number, 20)
    .action(({ lines }: { lines: number }) =>
      start(async (context) => (await import('./mode.ts')).listModeChanges(lines, context)),
    );
}
