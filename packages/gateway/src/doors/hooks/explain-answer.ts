import { describeCode } from '@sallyport/contract';
import type { Answer } from '../../call/answer.ts';

/** The reason and what to do instead, in words for the agent. Undefined: a fault of ours. */
export function explainAnswer(answer: Answer | undefined): string {
  const { message = describeCode('INTERNAL').meaning, remedy } = answer?.problem ?? {};
  return `Sallyport: ${message}${remedy ? ` ${remedy}` : ''}`;
}
