import { canonicalJson } from '@sallyport/contract';
import type { Submission } from '../../call/submission.ts';
import { credentialOf } from '../connect/read-call.ts';
import type { OfferedTools } from './offered-tools.ts';
import { nameCall, nameRequest } from './pending-tickets.ts';
import { readMeta } from './read-meta.ts';
import type { ToolCall } from './tool-call.ts';

/** What the client asks for, and a name for it that its repetitions share. */
export function readCall(
  tools: Pick<OfferedTools, 'canonicalName'>,
  { caller: { peer }, id, connection, name, args = {}, meta, signal }: ToolCall,
): { readonly call: Submission; readonly callName: string } {
  const traceparent = peer.headers('traceparent');
  const who = credentialOf(peer);
  const toolName = tools.canonicalName(name);
  const input = canonicalJson(args);
  const callName = nameCall(who.credential ?? '', toolName, input);
  const call: Submission = {
    ...{ door: peer.door, source: peer.source, ...who, toolName, input, parsedInput: args },
    confirmBinding: '',
    ...(traceparent === undefined ? {} : { traceparent }),
    ...readMeta(meta, nameRequest(connection, id, callName)),
    signal,
  };
  return { call, callName };
}
