import type { CallOptions } from '@sallyport/contract';
import type { Session } from '../call/session.ts';
import type { Submit } from '../call/submission.ts';
import type { Store } from '../storage/stores.ts';
import type { Peer } from './transport/peer.ts';
import { RpcError } from './transport/rpc-error.ts';
import { submitTool } from './submit-tool.ts';
import type { ToolAnswer } from './submit-tool.ts';
import { checkCaller } from './check-caller.ts';

export interface OperatorParts {
  readonly store: Pick<Store, 'findSessionByToken'>;
  readonly submit: Submit;
}

/** Throws unless a person is at the other end. */
export function identifyOperator({ store }: Pick<OperatorParts, 'store'>, peer: Peer): Session {
  const session = checkCaller(store, peer);
  if (session.principal !== 'operator') throw new RpcError('permission_denied', 'This method is for operators.');
  return session;
}

/**
 * The governed call of an operator's tool. The attempt of anybody else goes the same way, so that it is on record and
 * counts against its session; what they hear is that this is not for them.
 */
export async function submitAsOperator(
  parts: OperatorParts,
  name: string,
  args: object,
  options: CallOptions | undefined,
  peer: Peer,
): Promise<ToolAnswer> {
  try {
    return await submitTool(parts.submit, name, args, options, peer);
  } catch (error) {
    if (error instanceof RpcError && error.code === 'not_found') identifyOperator(parts, peer);
    throw error;
  }
}
