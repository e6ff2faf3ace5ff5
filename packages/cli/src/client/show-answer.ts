import { answerToJson, exitCodeOfStatus, keptOf, outputOf, statusOf, toNumber } from './answer-json.ts';
import type { CommandContext } from '../command-context.ts';
import { spellBytes } from '@sallyport/contract';
import { renderOutput } from '../terminal/render-output.ts';
import { renderFields } from '../terminal/table.ts';
import { makeVisibleLine, visibleJson } from '../terminal/visible-text.ts';
import type { DeniedJson, ExecuteToolResponseJson } from '@sallyport/contract';

/** Prints the answer to a call and returns its exit code. `showSuccess` replaces the general form of an output. */
export function showAnswer(
  answer: ExecuteToolResponseJson,
  context: CommandContext,
  showSuccess: (output: unknown) => void = (output) =>
    context.terminal.print(...renderOutput(output, context.terminal)),
): number {
  const status = statusOf(answer);
  if (context.json) {
    context.terminal.print(visibleJson(answerToJson(answer)));
    return exitCodeOfStatus[status];
  }
  const { note } = context.terminal;
  for (const warning of answer.warnings ?? []) note(...renderWarning(makeVisibleLine(warning), context.terminal));
  const kept = keptOf(answer);
  if (kept !== undefined) showKept(kept, context);
  else if (status === 'success') showSuccess(outputOf(answer));
  else if (answer.denied !== undefined) showDenial(answer, answer.denied, context);
  else showError(answer, context);
  return exitCodeOfStatus[status];
}

function renderWarning(text: string, { paintNote, columns }: CommandContext['terminal']): string[] {
  const [first = '', ...others] = renderFields([['Warning', text]], columns, '');
  return [first.replace('Warning', paintNote('yellow', 'Warning')), ...others];
}

function showKept(
  { hash, sizeBytes }: { readonly hash: string; readonly sizeBytes: number },
  { terminal, commandName }: CommandContext,
): void {
  terminal.print(`The output is too large for an answer (${spellBytes(sizeBytes)}). It is stored; get it with`);
  terminal.print(`  ${commandName} content get ${hash} --output FILE`);
}

function showDenial(
  { tool = '', callId = '' }: ExecuteToolResponseJson,
  denied: DeniedJson,
  { terminal }: CommandContext,
): void {
  const { note, paintNote, columns } = terminal;
  const isPending = statusOf({ denied }) === 'pending_approval';
  const fields: [string, string][] = [
    ['rule', denied.ruleId ?? ''],
    ['code', denied.rationaleCode ?? ''],
    ['why', denied.message ?? ''],
    // Most are in the message already; a long list of them is not.
    ...(denied.violations ?? [])
      .filter(({ message = '' }) => !denied.message?.includes(message))
      .map(({ field = '', message = '' }): [string, string] => ['', field === '' ? message : `${field}: ${message}`]),
    ['decide', isPending ? (denied.approval?.link ?? '') : ''],
    ['remedy', denied.remedy ?? ''],
    ['call', isPending || denied.remedy?.includes(callId) === true ? '' : callId],
  ];
  const heading = isPending ? paintNote('yellow', 'Waits for a person') : paintNote('red', 'Denied');
  note(`${heading}  ${makeVisibleLine(tool)}`);
  note(
    ...renderFields(
      fields.map(([label, value]) => [label, visibleLines(value)]),
      columns,
    ),
  );
}

/** Mistakes in a file, and what a program wrote before it failed, have lines. */
function visibleLines(text: string): string {
  return text.split('\n').map(makeVisibleLine).join('\n');
}

function showError(
  { tool = '', error = {}, callId = '' }: ExecuteToolResponseJson,
  { terminal }: CommandContext,
): void {
  const { note, paintNote, columns } = terminal;
  const waitMs = toNumber(error.retryAfterMs);
  const later = waitMs > 0 ? `Try again in ${Math.ceil(waitMs / 1000)} s.` : 'The same call may succeed later.';
  const fields: [string, string][] = [
    ['code', error.code ?? 'UNKNOWN'],
    ['why', error.message?.trimEnd() ?? ''],
    ['call', callId],
    ['remedy', error.retryable === true ? later : ''],
  ];
  note(`${paintNote('red', 'Failed')}  ${makeVisibleLine(tool)}`);
  note(
    ...renderFields(
      fields.map(([label, value]) => [label, visibleLines(value)]),
      columns,
    ),
  );
}
