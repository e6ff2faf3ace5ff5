import { codes, ToolProtocolService, wholeText } from '@sallyport/contract';
import type { Code, ToolRequest, ToolResponse } from '@sallyport/contract';
import { validateToolRequest } from '@sallyport/contract/validation';
import type { Transfers, UploadStream } from '../../content/transfers.ts';
import type { GatewayEnding } from '../../gateway.ts';
import { doors } from '../../call/call.ts';
import type { Begun } from '../../call/call.ts';
import { isRefusal, refuse } from '../../call/refusal.ts';
import type { Refusal, Violation } from '../../call/refusal.ts';
import type { Session } from '../../call/session.ts';
import { authenticate } from '../../sessions/authenticate.ts';
import type { Store } from '../../storage/stores.ts';
import type { RedactedEnding } from '../redact-ending.ts';
import type { Peer } from '../transport/peer.ts';
import { consentOf } from '../http/parse-call.ts';
import { untilDecided } from '../await-decision.ts';
import { bindService } from '../transport/service-binding.ts';
import type { ServiceBinding } from '../transport/service-binding.ts';
import { answerInAnyOrder } from './answer-in-any-order.ts';
import { familyOf, mapRequest, sizeOf } from './map-request.ts';
import type { MapOptions } from './map-request.ts';
import { presentFailure, presentResponse, respond } from './present-response.ts';

export interface ToolProtocolParts {
  readonly store: Pick<Store, 'findSessionByToken'>;
  /** Where the bytes of a large write wait for the call that stores them. */
  readonly uploads: Transfers<UploadStream>;
  /** Runs a call through the gateway. */
  readonly submit: (call: TypedCall) => Promise<RedactedEnding>;
  /** For what the door itself finds wrong with a request. */
  readonly redact: (ending: GatewayEnding) => RedactedEnding;
  /** Hears of what went wrong in this door itself. Must not throw. */
  readonly onFault: (error: unknown) => void;
  /** Requests of one stream that are read and not yet answered. Absent: 256. */
  readonly mostOpenPerStream?: number;
}

export type TypedCall = Omit<Begun, 'callId' | 'startedAtMs'> & {
  /** What is wrong with the form of the request. Absent: nothing. */
  readonly violations?: readonly Violation[];
};

/** More than this is stored first: as JSON it would not fit into arguments, and nobody reads it there. */
const largestArgumentBytes = 8 * 1024 * 1024;
/** A request this small costs strangers more to send than us to read. */
const harmlessBytes = 64 * 1024;
/** What no tool takes for arguments. */
const noArguments = 'null';
const longestIdentifier = 256;
const mostViolationsTold = 5;
/** With which the gateway refuses a call for its form. */
const formCodes: readonly Code[] = ['MALFORMED_CALL', 'MALFORMED_ARGUMENTS'];

/** The typed door: each request gets one response with its id, whatever happens to it. */
export function toolProtocolService(parts: ToolProtocolParts): ServiceBinding {
  const { store, uploads, submit, redact, onFault, mostOpenPerStream = 256 } = parts;

  // Whoever is not known will be refused; until then they do not make the daemon write large arguments.
  const identify = ({ sessionToken: credential }: ToolRequest, { door }: Peer): Session | undefined => {
    const session = authenticate(store, { credential, door }, Date.now());
    return isRefusal(session) ? undefined : session;
  };

  /** Stores the content by a governed call of its own. */
  const storeContent = async (request: ToolRequest, content: Uint8Array, session: Session, peer: Peer) => {
    const upload = uploads.register(session.id, { chunks: [content], onReceived: () => undefined });
    try {
      const input = JSON.stringify({ upload_id: upload.id, size: content.length });
      return await submit({ ...callWithoutArguments(request, peer), toolName: 'content.put', input });
    } finally {
      upload.close();
    }
  };

  const run = async (request: ToolRequest, peer: Peer): Promise<RedactedEnding> => {
    if (sizeOf(request) <= harmlessBytes) return submit(fullCall(request, peer));
    const session = identify(request, peer);
    if (session === undefined) return submit(callWithoutArguments(request, peer));
    const { tool } = request;
    if (tool.case !== 'fileWrite' || tool.value.content.length <= largestArgumentBytes) {
      return submit(fullCall(request, peer));
    }
    const stored = await storeContent(request, tool.value.content, session, peer);
    const contentHash = storedHash(stored);
    return contentHash === undefined ? stored : submit(fullCall(request, peer, { contentHash }));
  };

  const execute = async (request: ToolRequest, peer: Peer): Promise<ToolResponse> => {
    try {
      peer.recognise(request.sessionToken);
      const violations = validateToolRequest(request);
      if (violations.length > 0) {
        const ending = await submit({ ...callWithoutArguments(request, peer), violations });
        return presentResponse(request, redact(asMalformed(ending, violations)));
      }
      return presentResponse(request, await run(request, peer));
    } catch (error) {
      onFault(error);
      return respond(request.requestId, presentFailure({ code: 'INTERNAL', message: codes.INTERNAL.meaning }));
    }
  };

  return bindService(ToolProtocolService, doors, {
    execute,
    executeStream: (requests, peer) =>
      answerInAnyOrder(requests, mostOpenPerStream, (request) =>
        execute(request, peer).finally(() => peer.letGo(request)),
      ),
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

/** Undefined unless the content was stored. */
function storedHash(ending: RedactedEnding): string | undefined {
  if (ending.kind !== 'completed' || !ending.call.outcome.ok) return undefined;
  return (JSON.parse(ending.call.outcome.outputJson) as { readonly hash: string }).hash;
}

function fullCall(request: ToolRequest, peer: Peer, options: MapOptions = {}): TypedCall {
  const { toolName, arguments: args, timeoutMs } = mapRequest(request, options);
  const { sessionToken: credential, requestId, dedupeKey, approvalTaskId, confirmToken } = request;
  return {
    ...commonFacts(peer),
    ...{ credential, requestId, toolName, input: JSON.stringify(args), timeoutMs, dedupeKey },
    ...consentOf(approvalTaskId, confirmToken),
    waitMs: untilDecided,
  };
}

/** For a request that is refused in any case: it goes the same way, so that it is on record before it is answered. */
function callWithoutArguments(request: ToolRequest, peer: Peer): TypedCall {
  return {
    ...commonFacts(peer),
    // No token is that long; what is left of it is none either.
    credential: request.sessionToken.slice(0, longestIdentifier),
    requestId: wholeText(request.requestId, longestIdentifier),
    toolName: familyOf(request),
    input: noArguments,
    timeoutMs: 0,
    dedupeKey: '',
  };
}

/** What the gateway said, with the violations; they are the reason itself unless another gate spoke first. */
function asMalformed(ending: GatewayEnding, violations: readonly Violation[]): GatewayEnding {
  if (ending.kind === 'faulted') return ending;
  const refusal =
    ending.kind === 'completed' || formCodes.includes(ending.refusal.code)
      ? describeViolations(violations)
      : { ...ending.refusal, violations };
  return { kind: 'refused', call: ending.call, refusal, stage: 'decode-call' };
}

function describeViolations(violations: readonly Violation[]): Refusal {
  const told = violations.slice(0, mostViolationsTold).map(({ message }) => message);
  const more = violations.length - told.length;
  const message = `The request is not valid: ${told.join('; ')}${more > 0 ? `; and ${more} more` : ''}.`;
  return refuse('MALFORMED_CALL', 'call-shape', message, { violations });
}
