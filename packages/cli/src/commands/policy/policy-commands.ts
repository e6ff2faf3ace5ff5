import { InvalidArgumentError } from 'commander';
import { command, file, flag, parsed, text, word, words } from '../../command-table.ts';

const files = { files: flag('use the files as they are now, not the rules in force') };
const yes = { yes: flag('do not ask') };
const span = {
  since: parsed('when', 'how far back: 30m, 2h or 7d ago, or a time such as 2026-03-01T14:00', parseSince),
  last: parsed('records', 'how many of the newest records to look at', parseRecords),
};

/** What is allowed, why, and what would change. */
export const policyCommands = [
  command('status', {
    help: 'show which rules are in force, and whether the files differ',
    run: async (_, context) => (await import('./policy.ts')).showPolicy(context),
  }),
  command('check', {
    help: 'find rules that never match, are covered by others, or reach no tool',
    options: { files: flag('look at the files as they are now, not at the rules in force') },
    run: async (given, context) => (await import('./policy.ts')).checkPolicy(given, context),
  }),
  command('explain', {
    help: 'show what each gate says about a call, which rule decides, and why the others do not',
    arguments: { tool: word('tool'), pairs: words('name=value') },
    options: {
      input: text('json', 'the arguments as JSON'),
      agent: text('name', 'who would call; roles and permissions are those of the organisation'),
      as: text('kind', 'agent or operator'),
      session: text('id', 'a session that would call: its agent, folder and lease'),
      mode: text('mode', 'explain it in this mode instead of the present one'),
      ...files,
      all: flag('show the rules about other tools too'),
    },
    run: async ({ tool, pairs, ...options }, context) =>
      (await import('./policy-explain.ts')).explainPolicy(tool, pairs, options, context),
  }),
  command('test', {
    help: 'check a file of cases: what is expected of which call',
    arguments: { file: word('file', { completes: 'files' }) },
    options: files,
    run: async (given, context) => (await import('./policy-test.ts')).testPolicy(given.file, given, context),
  }),
  command('replay', {
    help: 'decide recorded calls again by other rules, and show what would change',
    options: { ...span, rules: file('folder', 'use the rules in this folder; without it, the files as they are now') },
    run: async (given, context) => (await import('./policy-replay.ts')).replayPolicy(given, context),
  }),
  command('shadow', {
    help: 'count what rules that are only tried out would have done to recorded calls',
    options: span,
    run: async (given, context) => (await import('./policy-replay.ts')).showShadow(given, context),
  }),
  command('apply', {
    help: 'show what the files would have changed, ask, and put them in force as they are now',
    options: yes,
    run: async (given, context) => (await import('./policy.ts')).applyPolicy(given, context),
  }),
  command('promote', {
    help: 'show what a tried-out rule would have changed, ask, and put it in force',
    arguments: { rule: word('rule') },
    options: { ...span, dryRun: flag('only show it'), ...yes },
    run: async ({ rule, ...options }, context) => (await import('./policy.ts')).promoteRule(rule, options, context),
  }),
];

const unitsMs = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

/** `30m`, `2h`, `7d` ago, or a date or time as ISO 8601 has it. As ISO 8601. */
function parseSince(given: string): string {
  const [, count, unit] = /^(\d{1,6})([smhd])$/.exec(given) ?? [];
  const agoMs = count === undefined ? undefined : Number(count) * unitsMs[unit as keyof typeof unitsMs];
  const time = agoMs === undefined ? new Date(given) : new Date(Date.now() - agoMs);
  if (!Number.isNaN(time.getTime()) && (agoMs !== undefined || /^\d{4}-/.test(given))) return time.toISOString();
  throw new InvalidArgumentError('It must be like 30m, 2h or 7d ago, or a time like 2026-03-01T14:00.');
}

function parseRecords(given: string): number {
  if (!/^[1-9]\d{0,6}$/.test(given) || Number(given) > 1_000_000) {
    throw new InvalidArgumentError('It must be a whole number from 1 to 1000000.');
  }
  return Number(given);
}
