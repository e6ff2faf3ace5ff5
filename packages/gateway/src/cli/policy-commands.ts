import type { Command } from 'commander';
import type { ExplainOptions } from './policy.ts';
import type { Run } from './program.ts';

type Start = (command: Parameters<Run>[1]) => Promise<void>;

/** `policy`: what is allowed, why, and what would change. */
export function addPolicyCommands(program: Command, start: Start): void {
  const policy = program.command('policy').description('understand, try and apply the rules');
  policy
    .command('status')
    .description('say which rules are in force, and whether the files differ')
    .action(() => start(async (context) => (await import('./policy.ts')).showPolicy(context)));
  policy
    .command('check')
    .description('find rules that never match, are covered by others, or reach no tool')
    .option('--files', 'look at the files as they are now, not at the rules in force')
    .action((options: { files?: boolean }) =>
      start(async (context) => (await import('./policy.ts')).checkPolicy(options, context)),
    );
  policy
    .command('explain <tool> [name=value...]')
    .description('say how a call would be decided, by which rule, and why not by the others')
    .option('--input <json>', 'the arguments as JSON')
    .option('--agent <name>', 'who would call')
    .option('--as <kind>', 'agent or operator')
    .option('--mode <mode>', 'in another mode than the present one')
    .option('--files', 'by the files as they are now')
    .action((tool: string, pairs: string[], options: ExplainOptions) =>
      start(async (context) => (await import('./policy.ts')).explainPolicy(tool, pairs, options, context)),
    );
  policy
    .command('test <file>')
    .description('check a file of cases: what is expected of which call')
    .option('--files', 'by the files as they are now')
    .action((file: string, options: { files?: boolean }) =>
      start(async (context) => (await import('./policy.ts')).testPolicy(file, options, context)),
    );
  policy
    .command('replay')
    .description('decide recorded calls again by the files as they are now, and show what would change')
    .option('--last <records>', 'how many of the newest records to look at', Number)
    .action((options: { last?: number }) =>
      start(async (context) => (await import('./policy.ts')).replayPolicy(options, context)),
    );
  policy
    .command('apply')
    .description('put the files in force as they are now')
    .action(() => start(async (context) => (await import('./policy.ts')).applyPolicy(context)));
}
