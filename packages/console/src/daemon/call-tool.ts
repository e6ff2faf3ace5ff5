import type { ApprovalNeedJson } from '@sallyport/contract';
import { daemon } from './connect.ts';

/** A gate or the tool said no. */
export class CallProblem extends Error {
  readonly code: string;
  /** What can be done. Empty: nothing. */
  readonly remedy: string;

  constructor(code: string, message: string, remedy = '') {
    super(message);
    this.code = code;
    this.remedy = remedy;
  }
}

/** The call waits for its own person to look at the effect and confirm it. */
export class ConfirmationNeeded extends CallProblem {
  readonly binding: string;
  readonly effect: string;

  constructor(message: string, { binding = '', effect = '' }: ApprovalNeedJson) {
    super('APPROVAL_REQUIRED', message);
    this.binding = binding;
    this.effect = effect;
  }
}

/** The same for a call that the person was asked about, and agreed to, in other words than the gate's. */
export async function callConfirmed<Output>(name: string, input: object): Promise<Output> {
  try {
    return await callTool<Output>(name, input);
  } catch (error) {
    if (error instanceof ConfirmationNeeded) return callTool<Output>(name, input, error.binding);
    throw error;
  }
}

/** A governed call by the person of this console: through the same gates as any other, and on record. */
export async function callTool<Output>(name: string, input: object, confirmBinding = ''): Promise<Output> {
  const call = { name, inputJson: JSON.stringify(input), confirmBinding };
  const { success, denied, error } = await daemon.call('ToolService/ExecuteTool', call);
  if (success !== undefined) return JSON.parse(success.outputJson || 'null') as Output;
  if (denied?.approval?.binding) throw new ConfirmationNeeded(denied.message ?? '', denied.approval);
  if (denied !== undefined) throw new CallProblem(denied.rationaleCode ?? '', denied.message ?? '', denied.remedy);
  throw new CallProblem(error?.code ?? 'INTERNAL', error?.message ?? 'The call failed.');
}
