import type { CommandContext } from '../../command-context.ts';
import { openExit } from './approvals-watch.ts';
import { renderPlan } from './plan.ts';
import type { ShownPlan } from './plan.ts';
import { makeVisibleLine, visibleJson } from '../../terminal/visible-text.ts';

/** Shows plans as they come: at a terminal whole, with the commands that decide; otherwise each event is a line. */
export async function watchPlans(context: CommandContext): Promise<number> {
  const client = context.openOperatorClient();
  const { signal } = openExit();
  const { interactive, print, paint } = context.terminal;
  if (interactive && !context.json) print(paint('dim', 'Plans appear here. Ctrl-C leaves.'));
  for await (const { event, plan } of client.watch('PlanService/WatchPlans', {}, { signal })) {
    if (plan !== undefined) printEvent(event, plan, context);
  }
  return 0;
}

function printEvent(event: string, plan: ShownPlan, context: CommandContext): void {
  const { terminal, json, commandName } = context;
  if (json) return terminal.print(visibleJson({ event, plan }));
  if (event !== 'pending' || !terminal.interactive) {
    const { id, agent, summary, decidedBy } = plan;
    const words = [event, id, plan.status, agent, summary, decidedBy].filter((word) => word !== '');
    return terminal.print(words.map(makeVisibleLine).join('  '));
  }
  const id = makeVisibleLine(plan.id);
  terminal.print(
    '',
    ...renderPlan(plan, context),
    '',
    `${commandName} plan approve ${id}`,
    `${commandName} plan deny ${id} --note 'what to change'`,
  );
}
