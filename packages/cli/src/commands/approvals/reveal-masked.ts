import type { InJson, MaskedSecret, RevealedSecrets } from '@sallyport/contract';
import { outputOf, statusOf } from '../../client/answer-json.ts';
import type { CommandContext } from '../../command-context.ts';
import type { DaemonClient } from '../../client/daemon-client.ts';
import { foldEffect, showPages } from '../../terminal/confirm-effect.ts';
import { declined, usageFailure } from '../../client/failure.ts';
import { Questions } from '../../terminal/questions.ts';
import { showAnswer } from '../../client/show-answer.ts';
import type { Terminal } from '../../terminal/terminal.ts';
import { makeVisibleLine } from '../../terminal/visible-text.ts';

/** A call that shows what is masked, without its reason. */
export interface RevealCall {
  readonly tool: 'approvals.reveal' | 'plans.reveal';
  readonly input: object;
}

/** Behind these marks could be anything, so the gate accepts no approval before they were revealed. */
export function mustBeRevealed(masked: readonly InJson<MaskedSecret>[]): readonly InJson<MaskedSecret>[] {
  return masked.filter(({ held }) => !held);
}

/**
 * For a person who has just said why: that is the consent which the gate asks for. The rows that are to be shown, which
 * may be more than a screen has. Undefined: it was not revealed, and the terminal says why.
 */
export async function revealMasked(
  { tool, input }: RevealCall,
  reason: string,
  client: Pick<DaemonClient, 'executeTool'>,
  context: CommandContext,
): Promise<readonly string[] | undefined> {
  const request = { name: tool, inputJson: JSON.stringify({ ...input, reason }) };
  let answer = await client.executeTool(request);
  const confirmBinding = answer.denied?.approval?.binding;
  if (confirmBinding !== undefined) answer = await client.executeTool({ ...request, confirmBinding });
  if (statusOf(answer) !== 'success') {
    showAnswer(answer, context);
    return undefined;
  }
  const { revealed } = outputOf(answer) as InJson<RevealedSecrets>;
  return renderRevealed(revealed, context.terminal);
}

export function renderRevealed(
  revealed: InJson<RevealedSecrets>['revealed'],
  terminal: Pick<Terminal, 'columns' | 'paint'>,
): string[] {
  const { paint } = terminal;
  return [
    ...revealed.flatMap(({ number, name, rest, value }) => {
      const title = rest ? `the rest of the effect (${number})` : `secret ${number}${name === '' ? '' : `: ${name}`}`;
      return [paint('bold', makeVisibleLine(title)), ...foldEffect(value, terminal)];
    }),
    '',
    paint('dim', 'It is on record that you looked. The values are not.'),
  ];
}

/** Reveals what is masked, a page at a time. Leaving before the end is a no. */
export async function showMasked(
  call: RevealCall,
  reason: string,
  client: Pick<DaemonClient, 'executeTool'>,
  context: CommandContext,
): Promise<void> {
  const rows = await revealMasked(call, reason, client, context);
  if (rows === undefined) throw declined();
  using questions = new Questions(context.terminal);
  if (!(await showPages(rows, questions, context.terminal))) throw declined();
}

export async function askReason({ terminal, json }: CommandContext): Promise<string> {
  if (json || !terminal.interactive) {
    throw usageFailure('Nobody is at this terminal to say why.', 'Say it with --reason.');
  }
  using questions = new Questions(terminal);
  const reason = (await questions.ask(reasonQuestion))?.trim() ?? '';
  if (reason === '') throw declined();
  return reason;
}

export const reasonQuestion = 'Why do you need to see it? Your answer is recorded: ';
