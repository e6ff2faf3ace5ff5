import type { ShownMask } from './approval-card.ts';
import { outputOf, statusOf } from './answer-json.ts';
import type { CommandContext } from './command-context.ts';
import type { DaemonClient } from './daemon-client.ts';
import { foldEffect } from './confirm-effect.ts';
import { declined, usageFailure } from './failure.ts';
import { Questions } from './questions.ts';
import { showAnswer } from './show-answer.ts';
import type { Terminal } from './terminal.ts';
import { makeVisible, makeVisibleLine } from './visible-text.ts';

export interface RevealedSecret {
  readonly number: number;
  readonly name?: string;
  /** It is the rest of a long effect. Absent: a secret. */
  readonly rest?: boolean;
  readonly value: string;
}

/** A call that shows what is masked, without its reason. */
export interface RevealCall {
  readonly tool: 'approvals.reveal' | 'plans.reveal';
  readonly input: object;
}

/** Behind these marks could be anything, so the gate accepts no approval before they were revealed. */
export function mustBeRevealed(masked: readonly ShownMask[] = []): readonly ShownMask[] {
  return masked.filter(({ held = false }) => !held);
}

/** For a person who has just said why: that is the consent which the gate asks for. Undefined: it was not shown. */
export async function revealMasked(
  { tool, input }: RevealCall,
  reason: string,
  client: Pick<DaemonClient, 'executeTool'>,
  context: CommandContext,
): Promise<boolean> {
  const request = { name: tool, inputJson: JSON.stringify({ ...input, reason }) };
  let answer = await client.executeTool(request);
  const confirmBinding = answer.denied?.approval?.binding;
  if (confirmBinding !== undefined) answer = await client.executeTool({ ...request, confirmBinding });
  if (statusOf(answer) !== 'success') {
    showAnswer(answer, context);
    return false;
  }
  const { revealed } = outputOf(answer) as { readonly revealed: readonly RevealedSecret[] };
  context.terminal.print(...renderRevealed(revealed, context.terminal));
  return true;
}

export function renderRevealed(
  revealed: readonly RevealedSecret[],
  terminal: Pick<Terminal, 'columns' | 'paint'>,
): string[] {
  const { paint } = terminal;
  return [
    ...revealed.flatMap(({ number, name = '', rest = false, value }) => {
      if (rest) return [paint('bold', `the rest of the effect (${number})`), ...foldEffect(value, terminal)];
      return [paint('bold', makeVisibleLine(`secret ${number}${name === '' ? '' : `: ${name}`}`)), makeVisible(value)];
    }),
    '',
    paint('dim', 'It is on record that you looked. The values are not.'),
  ];
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

export const reasonQuestion = 'Why do you need to see it? It stands in the log: ';
