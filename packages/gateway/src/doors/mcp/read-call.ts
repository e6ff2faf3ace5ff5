import type { CallToolRequest, ServerContext } from '@modelcontextprotocol/server';
import { canonicalJson } from '@sallyport/contract';
import type { Submission } from '../../call/submission.ts';
import { credentialOf } from '../connect/read-call.ts';
import { callerOf, rawParamsOf } from './caller.ts';
import type { OfferedTools } from './offered-tools.ts';
import { nameCall, nameRequest } from './pending-tickets.ts';
import { readMeta } from './read-meta.ts';

/** What the client asks for, and a name for it that its repetitions share. */
export function readCall(
  tools: Pick<OfferedTools, 'canonicalName'>,
  params: CallToolRequest['params'],
  context: ServerContext,
): { readonly call: Submission; readonly callName: string } {
  const { id, signal, _meta: meta } = context.mcpReq;
  const { peer } = callerOf(context);
  const traceparent = peer.headers('traceparent');
  const who = credentialOf(peer);
  const toolName = tools.canonicalName(params.name);
  const input = canonicalJson(rawParamsOf(context)['arguments'] ?? {});
  const callName = nameCall(who.credential ?? '', toolName, input);
  const call: Submission = {
    ...{ door: peer.door, source: peer.source, ...who, toolName, input },
    confirmBinding: '',
    ...(traceparent === undefined ? {} : { traceparent }),
    ...readMeta(meta, nameRequest(context.sessionId, id, callName)),
    signal: AbortSignal.any([signal, peer.signal]),
  };
  return { call, callName };
}
