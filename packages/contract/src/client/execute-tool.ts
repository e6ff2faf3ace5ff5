import type { ApprovalNeedJson, ExecuteToolRequestJson, ExecuteToolResponseJson, ProgressJson } from '../index.ts';
import type { GateClient, SendOptions } from './gate-client.ts';
import { GateError } from './transport.ts';

export interface ExecuteOptions extends SendOptions {
  /** Told what happens while the call runs. Must not throw. */
  readonly onProgress?: ((progress: ProgressJson) => void) | undefined;
  /** Told, before the wait, that a person must agree. Must not throw. */
  readonly onPending?: ((need: ApprovalNeedJson) => void) | undefined;
}

/** One governed call, however it ends. Rejects as every request of the client does. */
export async function executeTool(
  gate: GateClient,
  call: ExecuteToolRequestJson,
  { onProgress, onPending, ...send }: ExecuteOptions = {},
): Promise<ExecuteToolResponseJson> {
  if (onProgress === undefined && onPending === undefined) return gate.call('ToolService/ExecuteTool', call, send);
  let answer: ExecuteToolResponseJson | undefined;
  for await (const { progress, pending, response } of gate.watch('ToolService/ExecuteToolStream', { call }, send)) {
    if (progress !== undefined) onProgress?.(progress);
    if (pending !== undefined) onPending?.(pending);
    answer ??= response;
  }
  if (answer === undefined) throw new GateError('bad_answer', 'The daemon gave no outcome.');
  return answer;
}
