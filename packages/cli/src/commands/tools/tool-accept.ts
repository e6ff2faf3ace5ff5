import { exitCodes } from '@sallyport/contract/codes';
import type { CommandContext } from '../../command-context.ts';
import { foldEffect, showPages } from '../../terminal/confirm-effect.ts';
import { Questions } from '../../terminal/questions.ts';
import { nothingChanged, runSteps, seekConsent } from '../../client/run-steps.ts';
import type { ConsentOptions, Step } from '../../client/run-steps.ts';
import { parseToolReference, readStanding, renderDeclaration, spellId } from './tool-standing.ts';
import type { ToolStanding } from './tool-standing.ts';
import { makeVisibleLine, visibleJson } from '../../terminal/visible-text.ts';

/** Shows a tool and what is different in it, asks, and from then on lets exactly that run. */
export function acceptTool(text: string, options: ConsentOptions, context: CommandContext): Promise<number> {
  const reference = parseToolReference(text);
  return runSteps(context, async (step) => {
    const standing = await readStanding(reference, step);
    if (standing.accepted) {
      if (context.json) context.terminal.print(visibleJson(standing));
      else context.terminal.print(`${spellId(standing)} is accepted already, as it is now.`);
      return exitCodes.success;
    }
    await showForConsent(standing, context);
    await seekConsent('Accept it as it is now?', options, context);
    const accepted = await acceptStanding(standing, step);
    if (context.json) context.terminal.print(visibleJson(accepted));
    else tellAccepted(accepted, context);
    return exitCodes.success;
  });
}

/**
 * All that a person should know before agreeing. Scripts have `tool status NAME --json`. `differences`: of a tool that
 * was accepted before, only what has changed.
 */
export async function showForConsent(
  standing: ToolStanding,
  { terminal, json }: CommandContext,
  { shows = 'all' }: { readonly shows?: 'all' | 'differences' } = {},
): Promise<void> {
  if (json) return;
  const { difference, acceptedAtMs } = standing;
  // What is new is shown whole; what has changed shows where.
  const hasChanged = acceptedAtMs !== undefined && difference !== '';
  if (hasChanged && shows === 'differences') terminal.print(terminal.paint('bold', spellId(standing)));
  else terminal.print(...renderDeclaration(standing, terminal));
  if (!hasChanged) return;
  terminal.print('', terminal.paint('dim', `Since ${makeVisibleLine(standing.acceptedBy ?? '')} accepted it:`));
  const rows = foldEffect(difference, terminal);
  if (!terminal.interactive) {
    terminal.print(...rows);
    return;
  }
  using questions = new Questions(terminal);
  if (!(await showPages(rows, questions, terminal))) throw nothingChanged();
}

/** Exactly what was shown: another file under the same name is not accepted by this. */
export function acceptStanding(
  { name, version, sha256 }: Pick<ToolStanding, 'name' | 'version' | 'sha256'>,
  step: Step,
): Promise<ToolStanding> {
  return step<ToolStanding>('tools.accept', { name, version, ...(sha256 && { sha256 }) }, 'agreed');
}

export function tellAccepted(standing: ToolStanding, { terminal, commandName }: CommandContext): void {
  terminal.print(`${terminal.paint('green', 'Accepted')}  ${spellId(standing)}: exactly this may run.`);
  if (standing.status === 'schema-unknown') {
    terminal.print('It does not describe its arguments, so each call asks, unless a rule names it.');
  } else {
    terminal.print(`  ${commandName} tool invoke ${makeVisibleLine(standing.name)}`);
  }
}
