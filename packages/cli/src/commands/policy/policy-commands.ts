import type { Command } from 'commander';
import type { ExplainOptions } from './policy-explain.ts';
import { parseRecords, parseSince } from './policy-options.ts';
import type { ReplayOptions, SpanOptions } from './policy-replay.ts';
import type { PromoteOptions } from './policy.ts';
import type { Run } from '../../program.ts';
import type { ConsentOptions } from '../../client/run-steps.ts';

type Start = (command: Parameters<Run>[1]) => Promise<void>;

/** `policy`: what is allowed, why, and what would change. */
export function addPolicyCommands(program: Command, start: Start): void {
  const policy = program.command('policy').description('understand, try and apply the rules');
  policy
    .command('status')
    .description('show which rules are in force, and whether the files differ')
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
    .description('show what each gate says about a call, which rule decides, and why the others do not')
    .option('--input <json>', 'the arguments as JSON')
    .option('--agent <name>', 'who would call; roles and permissions are those of the organisation')
    .option('--as <kind>', 'agent or operator')
    .option('--session <id>', 'a session that would call: its agent, folder and lease')
    .option('--mode <mode>', 'explain it in this mode instead of the present one')
    .option('--files', 'use the files as they are now, not the rules in force')
    .option('--all', 'show the rules about other tools too')
    .action((tool: string, pairs: string[], options: ExplainOptions) =>
      start(async (context) => (await import('./policy-explain.ts')).explainPolicy(tool, pairs, options, context)),
    );
  policy
    .command('test <file>')
    .description('check a file of cases: what is expected of which call')
    .option('--files', 'use the files as they are now, not the rules in force')
    .action((file: string, options: { files?: boolean }) =>
      start(async (context) => (await import('./policy-test.ts')).testPolicy(file, options, context)),
    );
  addReplayCommands(policy, start);
  addChangeCommands(policy, start);
}

function addReplayCommands(policy: Command, start: Start): void {
  addSpanOptions(policy.command('replay'))
    .description('decide recorded calls again by other rules, and show what would change')
    .option('--rules <folder>', 'use the rules in this folder; without it, the files as they are now')
    .action((options: ReplayOptions) =>
      start(async (context) => (await import('./policy-replay.ts')).replayPolicy(options, context)),
    );
  addSpanOptions(policy.command('shadow'))
    .description('count what rules that are only tried out would have done to recorded calls')
    .action((options: SpanOptions) =>
      start(async (context) => (await import('./policy-replay.ts')).showShadow(options, context)),
    );
}

function addChangeCommands(policy: Command, start: Start): void {
  policy
    .command('apply')
    .description('show what the files would have changed, ask, and put them in force as they are now')
    .option('--yes', 'do not ask')
    .action((options: ConsentOptions) =>
      start(async (context) => (await import('./policy.ts')).applyPolicy(options, context)),
    );
  addSpanOptions(policy.command('promote <rule>'))
    .description('show what a tried-out rule would have changed, ask, and put it in force')
    .option('--dry-run', 'only show it')
    .option('--yes', 'do not ask')
    .action((rule: string, options: PromoteOptions) =>
      start(async (context) => (await import('./policy.ts')).promoteRule(rule, options, context)),
    );
}

function addSpanOptions(command: Command): Command {
  return command
    .option('--since <when>', 'how far back: 30m, 2h or 7d ago, or a time such as 2026-03-01T14:00', parseSince)
    .option('--last <records>', 'how many of the newest records to look at', parseRecords);
}
