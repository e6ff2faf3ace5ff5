import { InvalidArgumentError, Option } from 'commander';
import type { Command } from 'commander';
import type { ApproveOptions, ShowOptions } from './approvals.ts';
import type { ConfirmIssueOptions } from './confirm.ts';
import type { PlanDecisionOptions } from './plan.ts';
import type { Run } from '../../program.ts';

type Start = (command: Parameters<Run>[1]) => Promise<void>;

/** `approvals`, `plan` and `confirm`: what people decide. */
export function addApprovalCommands(program: Command, start: Start): void {
  addApprovals(program, start);
  addPlans(program, start);
  addConfirm(program, start);
}

function addApprovals(program: Command, start: Start): void {
  const approvals = program.command('approvals').description('decide about calls that wait for a person');
  approvals
    .command('list')
    .description('list the calls that wait')
    .addOption(
      new Option('--status <status>', 'filter by status (default: pending)').choices([
        'pending',
        'approved',
        'denied',
        'expired',
        'used',
        'all',
      ]),
    )
    .action((options: { status?: string }) =>
      start(async (context) => (await import('./approvals.ts')).listApprovals(options, context)),
    );
  approvals
    .command('show <task-id>')
    .description('show one call and exactly what it would do')
    .option('--reveal', 'show the secrets that are masked in it; the log records that you looked, and why')
    .option('--secret <number>', 'show only this secret', parseCount)
    .option('--reason <text>', 'why you look; without it you are asked')
    .action((id: string, options: ShowOptions) =>
      start(async (context) => (await import('./approvals.ts')).showApproval(id, options, context)),
    );
  approvals
    .command('approve <task-id>')
    .description('let a call run; its effect is shown first')
    .option(
      '--effect-sha256 <hash>',
      'approve the effect with this hash, which you have seen; without it the effect is shown first',
    )
    .option('--runs <number>', 'how many runs to approve; without it, as many as were shown, or one', parseCount)
    .option('--note <text>', 'kept with the decision')
    .option('--for-session', 'also approve further calls of this tool by this session; not for high risk')
    .option('--minutes <number>', 'also approve further calls that touch the same things, for this long', parseCount)
    .option('--uses <number>', 'how many further calls', parseCount)
    .action((id: string, options: ApproveOptions) =>
      start(async (context) => (await import('./approvals.ts')).approveApproval(id, options, context)),
    );
  approvals
    .command('deny <task-id>')
    .description('stop a call')
    .option('--note <text>', 'tell the agent what to change')
    .action((id: string, options: { note?: string }) =>
      start(async (context) => (await import('./approvals.ts')).denyApproval(id, options, context)),
    );
  approvals
    .command('watch')
    .description('show calls as they come, and decide with one key')
    .action(() => start(async (context) => (await import('./approvals-watch.ts')).watchApprovals(context)));
  approvals
    .command('standing')
    .description('list approvals that are valid for more than one call')
    .action(() => start(async (context) => (await import('./approvals.ts')).listStanding(context)));
  approvals
    .command('revoke <standing-id>')
    .description('end one of these approvals')
    .action((id: string) => start(async (context) => (await import('./approvals.ts')).revokeStanding(id, context)));
}

function addPlans(program: Command, start: Start): void {
  const plan = program.command('plan').description('decide about plans of agents: several calls at once');
  plan
    .command('list')
    .description('list the plans')
    .action(() => start(async (context) => (await import('./plan.ts')).listPlans(context)));
  plan
    .command('show <plan-id>')
    .description('show a plan and what each step would do')
    .action((id: string) => start(async (context) => (await import('./plan.ts')).showPlan(id, context)));
  plan
    .command('watch')
    .description('show plans as they are proposed and decided')
    .action(() => start(async (context) => (await import('./plan-watch.ts')).watchPlans(context)));
  plan
    .command('approve <plan-id>')
    .description('let the calls of a plan run, in their order; it is shown first')
    .option('--steps <numbers...>', 'approve only these steps, counted from 1')
    .option('--note <text>', 'kept with the decision')
    .option('--yes', 'approve without being shown the plan')
    .action((id: string, options: PlanDecisionOptions) =>
      start(async (context) => (await import('./plan.ts')).approvePlan(id, options, context)),
    );
  plan
    .command('deny <plan-id>')
    .description('stop a plan')
    .option('--note <text>', 'tell the agent what to change')
    .action((id: string, options: PlanDecisionOptions) =>
      start(async (context) => (await import('./plan.ts')).denyPlan(id, options, context)),
    );
}

function addConfirm(program: Command, start: Start): void {
  const confirm = program.command('confirm').description('agree to a call beforehand, with a token');
  confirm
    .command('issue <tool> [key=value...]')
    .description('make a token for a call; its effect is shown first')
    .requiredOption('--session <session-id>', 'who may make the call')
    .requiredOption('--trace <trace-id>', 'the trace in which it will come: 32 hexadecimal digits')
    .option('--input <json>', 'the arguments as one JSON object')
    .option('--input-file <file>', 'the same from a file, or - for standard input')
    .option('--ttl-seconds <number>', 'how long the token is valid; 60 by default', parseCount)
    .option('--reusable', 'allow any number of uses')
    .action((tool: string, pairs: string[], options: ConfirmIssueOptions) =>
      start(async (context) => (await import('./confirm.ts')).issueToken(tool, pairs, options, context)),
    );
  confirm
    .command('revoke <token-id>')
    .description('revoke a token; for the token of a plan, give the id of the plan')
    .action((id: string) => start(async (context) => (await import('./confirm.ts')).revokeToken(id, context)));
  confirm
    .command('rotate')
    .description('sign with a new key')
    .option('--revoke-all', 'stop accepting all existing tokens')
    .action((options: { revokeAll?: boolean }) =>
      start(async (context) => (await import('./confirm.ts')).rotateKey(options, context)),
    );
}

function parseCount(text: string): number {
  if (!/^[1-9]\d{0,6}$/.test(text)) throw new InvalidArgumentError('It must be a whole number from 1.');
  return Number(text);
}
