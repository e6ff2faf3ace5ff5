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
import { confirmRows, foldEffect } from '../../terminal/confirm-effect.ts';
import { declined, usageFailure } from '../../client/failure.ts';
import { formatDuration } from '../../terminal/format-time.ts';
import { askReason, mustBeRevealed, showMasked } from './reveal-masked.ts';
import { runOperatorTool } from '../../client/run-tool.ts';
import { shortenIds } from '../../terminal/short-id.ts';
import { showAnswer } from '../../client/show-answer.ts';
import { renderTable } from '../../terminal/table.ts';
import { makeVisibleLine } from '../../terminal/visible-text.ts';

export type ShownPlan = InJson<Plan>;

export interface PlanDecisionOptions {
  readonly steps?: readonly string[];
  readonly note?: string;
  readonly yes?: boolean;
}

export function listPlans(context: CommandContext): Promise<number> {
  return runOperatorTool('plans.list', { limit: 200 }, context, ({ plans }: InJson<ListPlansResponse>) => {
    const { print, paint, columns } = context.terminal;
    if (plans.length === 0) return print('No plan was proposed.');
    const ids = shortenIds(plans.map(({ id }) => id));
    const rows = plans.map((plan) =>
      [ids.get(plan.id) ?? '', plan.status, plan.agent, `${plan.steps.length}`, plan.summary].map(makeVisibleLine),
    );
    const [header = '', ...body] = renderTable([['PLAN', 'STATUS', 'AGENT', 'STEPS', 'SUMMARY'], ...rows], columns);
    print(paint('dim', header), ...body);
  });
}

export function showPlan(id: string, context: CommandContext): Promise<number> {
  return runOperatorTool('plans.show', { plan_id: id }, context, ({ plan }: InJson<GetPlanResponse>) => {
    if (plan !== undefined) context.terminal.print(...renderPlan(plan, context));
  });
}

/** Steps are counted from 1 here, as people do. */
export async function approvePlan(id: string, options: PlanDecisionOptions, context: CommandContext): Promise<number> {
  const steps = options.steps?.map(readStep);
  if (options.yes !== true) {
    const exitCode = await lookFirst(id, steps, context);
    if (exitCode !== 0) return exitCode;
  }
  return runOperatorTool(
    'plans.approve',
    { plan_id: id, steps, note: options.note },
    context,
    ({ plan }: InJson<DecidePlanResponse>) => {
      const { print, paint } = context.terminal;
      if (plan === undefined) return;
      const which = plan.approvedSteps.length === plan.steps.length ? 'all steps' : `steps ${numbersOf(plan)}`;
      print(`${paint('green', 'Approved')}  ${which} of the plan of ${makeVisibleLine(plan.agent)}`);
    },
  );
}

export function denyPlan(id: string, options: PlanDecisionOptions, context: CommandContext): Promise<number> {
  return runOperatorTool(
    'plans.deny',
    { plan_id: id, note: options.note },
    context,
    ({ plan }: InJson<DecidePlanResponse>) => {
      const { print, paint } = context.terminal;
      if (plan === undefined) return;
      print(`${paint('red', 'Denied')}  the plan of ${makeVisibleLine(plan.agent)}`);
    },
  );
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

function readStep(text: string): number {
  if (!/^[1-9]\d{0,2}$/.test(text)) throw usageFailure(`${text} is not a step.`, 'Steps are counted from 1.');
  return Number(text) - 1;
}
