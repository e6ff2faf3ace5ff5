import { ToolProtocolService } from '@sallyport/contract';
import type { ToolRequest, ToolResponse } from '@sallyport/contract';
import { validateToolRequest } from '@sallyport/contract/validation';
import type { GatewayEnding } from '../../gateway.ts';
import { doors } from '../../model/call.ts';
import type { Begun } from '../../model/call.ts';
import { refuse } from '../../model/refusal.ts';
import type { Refusal, Violation } from '../../model/refusal.ts';
import type { Peer } from '../rpc/peer.ts';
import { bindService } from '../rpc/service-binding.ts';
import type { ServiceBinding } from '../rpc/service-binding.ts';
import { answerInAnyOrder } from './answer-in-any-order.ts';
import { familyOf, mapRequest } from './map-request.ts';
import { presentError, presentResponse, respond } from './present-response.ts';
import type { ResponseParts } from './present-response.ts';

export interface ToolProtocolParts extends ResponseParts {
  /** Runs a call through the gateway. */
  readonly submit: (call: TypedCall) => Promise<GatewayEnding>;
  /** Hears of what went wrong in this door itself. Must not throw. */
  readonly onFault: (error: unknown) => void;
  /** Requests of one stream that are read and not yet answered. Absent: 256. */
  readonly mostOpenPerStream?: number;
}

export type TypedCall = Omit<Begun, 'callId' | 'startedAtMs'> & {
  /** What is wrong with the form of the request. Absent: nothing. */
  readonly violations?: readonly Violation[];
};

const largestReadMb = 100;
const longestIdentifier = 256;
const mostViolationsTold = 5;

/** The typed door: each request gets one response with its id, whatever happens to it. */
export function toolProtocolService(parts: ToolProtocolParts): ServiceBinding {
  const { submit, onFault, content, mostOpenPerStream = 256 } = parts;
  // Without a place for large results there is no sense in reading more than an answer holds.
  const mapOptions = { maxReadMb: content === undefined ? 1 : largestReadMb };

  const execute = async (request: ToolRequest, peer: Peer): Promise<ToolResponse> => {
    try {
      const violations = validateToolRequest(request);
      if (violations.length > 0) {
        const ending = await submit(malformedCall(request, peer, violations));
        return await presentResponse(request, asMalformed(ending, violations), parts);
      }
      const { toolName, arguments: args, timeoutMs } = mapRequest(request, mapOptions);
      const ending = await submit({
        ...commonFacts(peer),
        credential: request.sessionToken,
        requestId: request.requestId,
        toolName,
        input: JSON.stringify(args),
        timeoutMs,
        dedupeKey: request.dedupeKey,
      });
      return await presentResponse(request, ending, parts);
    } catch (error) {
      onFault(error);
      return respond(request.requestId, presentError('INTERNAL'));
    }
  };

  return bindService(ToolProtocolService, doors, {
    execute,
    executeStream: (requests, peer) =>
      answerInAnyOrder(requests, mostOpenPerStream, (request) => execute(request, peer)),
  });
}

function commonFacts(peer: Peer) {
  const traceparent = peer.headers('traceparent');
  return {
    door: peer.door,
    source: peer.source,
    taskId: '',
    correlationId: '',
    ...(traceparent === undefined ? {} : { traceparent }),
    confirmBinding: '',
    signal: peer.signal,
  };
}

/**
 * A request that is not valid goes the same way as any other, so that it is on record before it is answered. It carries
 * no arguments that a tool could take: were the violations overlooked, it would still be refused.
 */
function malformedCall(request: ToolRequest, peer: Peer, violations: readonly Violation[]): TypedCall {
  return {
    ...commonFacts(peer),
    requestId: request.requestId.slice(0, longestIdentifier + 1),
    toolName: familyOf(request),
    input: 'null',
    timeoutMs: 0,
    dedupeKey: '',
    violations,
  };
}

function asMalformed(ending: GatewayEnding, violations: readonly Violation[]): GatewayEnding {
  // A fault says more than the violations: the gate could not even write them down.
  if (ending.kind === 'faulted') return ending;
  return { kind: 'refused', call: ending.call, refusal: describeViolations(violations), stage: 'decode-call' };
}

function describeViolations(violations: readonly Violation[]): Refusal {
  const told = violations.slice(0, mostViolationsTold).map(({ message }) => message);
  const more = violations.length - told.length;
  const message = `The request is not valid: ${told.join('; ')}${more > 0 ? `; and ${more} more` : ''}.`;
  return refuse('MALFORMED_CALL', 'call-shape', message, { violations });
}
