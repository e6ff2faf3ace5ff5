import type * as contract from '@sallyport/contract';
import { toNumber } from '../../client/answer-json.ts';
import { masksToJson } from './approval-json.ts';
import type { CommandContext } from '../../command-context.ts';
import { followWatch, openExit } from '../../client/follow-watch.ts';
import { renderPlan } from './plan.ts';
import type { ShownPlan, ShownStep } from './plan.ts';
import { makeVisibleLine, visibleJson } from '../../terminal/visible-text.ts';
import type { WireJson } from '../../client/wire-json.ts';

type WatchPlansJson = WireJson<contract.WatchPlansResponse>;
type PlanJson = NonNullable<WatchPlansJson['plan']>;

/** Shows plans as they come: at a terminal whole, with the commands that decide; otherwise each event is a line. */
export async function watchPlans(context: CommandContext): Promise<number> {
  const client = context.openOperatorClient();
  const { signal } = openExit();
  const { interactive, print, paint } = context.terminal;
  if (interactive && !context.json) print(paint('dim', 'Plans appear here. Ctrl-C leaves.'));
  await followWatch({ client, method: 'PlanService/WatchPlans', signal }, (message) => {
    const { event = '', plan = {} } = message as WatchPlansJson;
    printEvent(event, planToJson(plan), context);
  });
  return 0;
}

function printEvent(event: string, plan: ShownPlan, context: CommandContext): void {
  const { terminal, json, commandName } = context;
  if (json) return terminal.print(visibleJson({ event, ...plan }));
  if (event !== 'pending' || !terminal.interactive) {
    const { plan_id: id, agent, summary, decided_by: by = '' } = plan;
    const words = [event, id, plan.status, agent, summary, by].filter((word) => word !== '');
    return terminal.print(words.map(makeVisibleLine).join('  '));
  }
  const id = makeVisibleLine(plan.plan_id);
  terminal.print(
    '',
    ...renderPlan(plan, context),
    '',
    `${commandName} plan approve ${id}`,
    `${commandName} plan deny ${id} --note 'what to change'`,
  );
}

/** A plan from the wire, in the words in which the tools describe one. */
function planToJson(plan: PlanJson): ShownPlan {
  const { decidedBy = '', note = '' } = plan;
  return {
    plan_id: plan.id ?? '',
    status: plan.status ?? '',
    agent: plan.agent ?? '',
    summary: plan.summary ?? '',
    steps: (plan.steps ?? []).map(stepToJson),
    approved_steps: plan.approvedSteps ?? [],
    started: plan.started ?? 0,
    expires_at: new Date(toNumber(plan.expiresAtMs)).toISOString(),
    ...(decidedBy === '' ? {} : { decided_by: decidedBy }),
    ...(note === '' ? {} : { note }),
    ...(plan.hold ? { hold: plan.hold } : {}),
  };
}

function stepToJson(step: NonNullable<PlanJson['steps']>[number]): ShownStep {
  return {
    tool: step.tool ?? '',
    arguments_json: step.argumentsJson ?? '',
    risk: step.risk ?? '',
    reason: step.reason ?? '',
    title: step.title ?? '',
    effect: step.effect ?? '',
    ...masksToJson(step.masked),
    undoable: step.undoable ?? false,
  };
}
