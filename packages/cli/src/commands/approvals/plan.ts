import type {
  DecidePlanResponse,
  GetPlanResponse,
  InJson,
  ListPlansResponse,
  Plan,
  PlanStep,
} from '@sallyport/contract';
import { renderEffect, renderText } from './approval-card.ts';
import { outputOf, statusOf } from '../../client/answer-json.ts';
import type { CommandContext } from '../../command-context.ts';
import { command, flag, list, text, word } from '../../command-table.ts';
import type { Given } from '../../command-table.ts';
import { confirmRows, foldEffect } from '../../terminal/confirm-effect.ts';
import { declined, usageFailure } from '../../client/failure.ts';
import { formatDuration } from '../../terminal/format-time.ts';
import { askReason, mustBeRevealed, showMasked } from './reveal-masked.ts';
import { operatorCommand, runOperatorTool } from '../../client/run-tool.ts';
import { shortenIds } from '../../terminal/short-id.ts';
import { showAnswer } from '../../client/show-answer.ts';
import { printTable } from '../../terminal/table.ts';
import { makeVisibleLine } from '../../terminal/visible-text.ts';

export type ShownPlan = InJson<Plan>;

const planArgument = { planId: word('plan-id') };
const approveOptions = {
  steps: list('numbers', 'approve only these steps, counted from 1'),
  note: text('text', 'kept with the decision'),
  yes: flag('approve without being shown the plan'),
};

export const planCommands = [
  operatorCommand('list', {
    help: 'list the plans',
    tool: 'plans.list',
    input: () => ({ limit: 200 }),
    print: ({ plans }: InJson<ListPlansResponse>, { terminal }) => {
      if (plans.length === 0) return terminal.print('No plan was proposed.');
      const ids = shortenIds(plans.map(({ id }) => id));
      const rows = plans.map(({ id, status, agent, steps, summary }) => [
        ...[ids.get(id) ?? '', status, agent],
        ...[`${steps.length}`, summary],
      ]);
      printTable(terminal, ['PLAN', 'STATUS', 'AGENT', 'STEPS', 'SUMMARY'], rows);
    },
  }),
  operatorCommand('show', {
    help: 'show a plan and what each step would do',
    arguments: planArgument,
    tool: 'plans.show',
    print: ({ plan }: InJson<GetPlanResponse>, context) => {
      if (plan !== undefined) context.terminal.print(...renderPlan(plan, context));
    },
  }),
  command('watch', {
    help: 'show plans as they are proposed and decided',
    run: async (_, context) => (await import('./plan-watch.ts')).watchPlans(context),
  }),
  command('approve', {
    help: 'let the calls of a plan run, in their order; it is shown first',
    arguments: planArgument,
    options: approveOptions,
    run: approvePlan,
  }),
  operatorCommand('deny', {
    help: 'stop a plan',
    arguments: planArgument,
    options: { note: text('text', 'tell the agent what to change') },
    tool: 'plans.deny',
    print: ({ plan }: InJson<DecidePlanResponse>, { terminal }) => {
      if (plan === undefined) return;
      terminal.print(`${terminal.paint('red', 'Denied')}  the plan of ${makeVisibleLine(plan.agent)}`);
    },
  }),
];

/** Steps are counted from 1 here, as people do. */
async function approvePlan(
  { planId, note, yes = false, ...given }: Given<typeof planArgument, typeof approveOptions>,
  context: CommandContext,
): Promise<number> {
  const steps = given.steps?.map(readStep);
  if (!yes) {
    const exitCode = await lookFirst(planId, steps, context);
    if (exitCode !== 0) return exitCode;
  }
  const input = { plan_id: planId, steps, note };
  return runOperatorTool('plans.approve', input, context, ({ plan }: InJson<DecidePlanResponse>) => {
    const { print, paint } = context.terminal;
    if (plan === undefined) return;
    const which = plan.approvedSteps.length === plan.steps.length ? 'all steps' : `steps ${numbersOf(plan)}`;
    print(`${paint('green', 'Approved')}  ${which} of the plan of ${makeVisibleLine(plan.agent)}`);
  });
}

async function lookFirst(id: string, steps: readonly number[] | undefined, context: CommandContext): Promise<number> {
  const { terminal } = context;
  if (context.json || !terminal.interactive) {
    throw usageFailure('Nobody is at this terminal to look at the plan.', 'Look with `plan show`, then add --yes.');
  }
  const client = context.openOperatorClient();
  const answer = await client.executeTool({ name: 'plans.show', inputJson: JSON.stringify({ plan_id: id }) });
  if (statusOf(answer) !== 'success') return showAnswer(answer, context);
  const { plan } = outputOf(answer) as InJson<GetPlanResponse>;
  if (plan === undefined) return showAnswer(answer, context);
  const masked = [...plan.steps.entries()].filter(
    ([at, step]) => (steps?.includes(at) ?? true) && mustBeRevealed(step.masked).length > 0,
  );
  if (plan.hold === '' && masked.length > 0) {
    terminal.print('Part of the plan is masked, and could be anything. It has to be revealed before you can approve.');
    const reason = await askReason(context);
    for (const [step] of masked) {
      terminal.print('', `step ${step + 1}`);
      const call = { tool: 'plans.reveal', input: { plan_id: id, step } } as const;
      await showMasked(call, reason, client, context);
    }
  }
  if (!(await confirmRows(renderPlan(plan, context), `the plan of ${plan.agent}`, terminal))) throw declined();
  return 0;
}

export function renderPlan(plan: ShownPlan, { terminal }: Pick<CommandContext, 'terminal'>): string[] {
  const { columns } = terminal;
  const isPending = plan.status === 'pending';
  const fields: [string, string][] = [
    ['plan', plan.id],
    ['status', plan.status],
    ['agent', plan.agent],
    ['it says', plan.summary],
    ['expires', isPending ? `in ${formatDuration(Math.max(0, Number(plan.expiresAtMs) - Date.now()))}` : ''],
    ['on hold', plan.hold],
    ['decided', plan.decidedBy],
    ['approved', plan.approvedSteps.length > 0 ? `steps ${numbersOf(plan)}; ${plan.started} begun` : ''],
    ['note', plan.note],
  ];
  const head = renderText(fields, columns);
  return [...head, ...plan.steps.flatMap((step, at) => ['', ...renderStep(step, at + 1, terminal)])];
}

function renderStep(step: InJson<PlanStep>, number: number, terminal: CommandContext['terminal']): string[] {
  const { tool, title, reason, risk, effect, argumentsJson } = step;
  return [
    `${number}. ${makeVisibleLine(tool)} (${makeVisibleLine(risk)} risk)`,
    ...(title === '' ? [] : foldEffect(makeVisibleLine(title), terminal)),
    ...(reason === '' ? [] : renderText([['it says', reason]], terminal.columns)),
    ...renderEffect(effect === '' ? argumentsJson : effect, terminal),
  ];
}

function numbersOf({ approvedSteps }: ShownPlan): string {
  return approvedSteps.map((index) => index + 1).join(', ');
}

function readStep(given: string): number {
  if (!/^[1-9]\d{0,2}$/.test(given)) throw usageFailure(`${given} is not a step.`, 'Steps are counted from 1.');
  return Number(given) - 1;
}
