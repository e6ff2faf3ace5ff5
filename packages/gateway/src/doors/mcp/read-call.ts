import { canonicalJson } from '@sallyport/contract';
import type { Submission } from '../../call/submission.ts';
import { bearerOf } from '../transport/exchange.ts';
import type { ClientFolders } from './client-folders.ts';
import type { OfferedTools } from './offered-tools.ts';
import { nameCall, nameRequest } from './pending-tickets.ts';
import { readMeta, traceOf } from './read-meta.ts';
import type { ToolCall } from './tool-call.ts';

/** What the client asks for, and a name for it that its repetitions share. */
export function readCall(
  { tools, folders }: { readonly tools: Pick<OfferedTools, 'canonicalName'>; readonly folders: ClientFolders },
  { caller: { peer, session }, id, connection, name, args: given = {}, meta, signal }: ToolCall,
  clientFolder: string | undefined,
): { readonly call: Submission; readonly callName: string } {
  const credential = bearerOf(peer.headers('authorization'));
  const toolName = tools.canonicalName(name);
  const args = folders.place(toolName, given, clientFolder, session);
  const input = canonicalJson(args);
  const callName = nameCall(credential ?? '', toolName, input);
  const said = readMeta(meta, nameRequest(connection, id, callName));
  const { traceparent, tracestate } = traceOf(said, peer);
  const { requestId, timeoutMs, dedupeKey, taskId, correlationId, waitMs } = said;
  const { approvalTaskId, confirmToken, violations } = said;
  const call: Submission = {
    door: peer.door,
    source: peer.source,
    toolName,
    input,
    parsedInput: args,
    confirmBinding: '',
    clientFolder,
    requestId,
    timeoutMs,
    dedupeKey,
    taskId,
    correlationId,
    waitMs,
    signal,
    credential,
    traceparent,
    tracestate,
    approvalTaskId,
    confirmToken,
    violations,
  };
  return { call, callName };
}
