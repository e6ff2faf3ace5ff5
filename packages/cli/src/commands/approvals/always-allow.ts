import type { InJson, PolicyDraft } from '@sallyport/contract';
import { outputOf, statusOf } from '../../client/answer-json.ts';
import { showAnswer } from '../../client/show-answer.ts';
import type { CommandContext } from '../../command-context.ts';
import type { KeyReader } from '../../terminal/key-reader.ts';
import { wrapWords } from '../../terminal/text-width.ts';
import { showDraft } from '../policy/policy-own.ts';
import { runCall } from '../tools/tool-invoke.ts';
import type { ShownApproval } from './approval-card.ts';

/**
 * Drafts a rule from a call that waits, and shows it; the person takes it as it is, widens it step by step, or leaves it.
 * Undefined: they left it, or there is none.
 */
export async function draftAlways(
  { callId }: ShownApproval,
  context: CommandContext,
  keys: Pick<KeyReader, 'ask'>,
): Promise<InJson<PolicyDraft> | undefined> {
  for (let widen = 0; ;) {
    const request = { name: 'policy.draft', inputJson: JSON.stringify({ call: callId, widen }) };
    const answer = await runCall(request, context);
    if (statusOf(answer) !== 'success') {
      showAnswer(answer, context);
      return undefined;
    }
    const draft = outputOf(answer) as InJson<PolicyDraft>;
    context.terminal.print('');
    showDraft(draft, context);
    const wider = draft.wider === '' ? '' : ', w to widen it';
    const said = await keys.ask(`Type always to add it and approve${wider}, or press Enter: `);
    if (said === 'always') return draft;
    if (said !== 'w' || draft.wider === '') return undefined;
    widen += 1;
  }
}

/** Puts the rule in force that the person was shown. The call itself was approved before. */
export async function applyAlways(draft: InJson<PolicyDraft>, context: CommandContext): Promise<void> {
  const { callId: call, width: widen, shown } = draft;
  const request = { name: 'policy.allow', inputJson: JSON.stringify({ call, widen, shown }) };
  const answer = await runCall(request, context, { consent: 'agreed' });
  const { print, columns } = context.terminal;
  if (statusOf(answer) === 'success') return print('The rule is in force.');
  print(...wrapWords('The call was approved, but the rule was not added:', columns));
  showAnswer(answer, context);
}
