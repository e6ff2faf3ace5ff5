import { codes, ToolProtocolService } from '@sallyport/contract';
import type { ToolRequest, ToolResponse } from '@sallyport/contract';
import { validateToolRequest } from '@sallyport/contract/validation';
import type { Answer } from '../../call/answer.ts';
import { doors } from '../../call/call.ts';
import type { RedactText } from '../../call/redacted.ts';
import { isRefusal } from '../../call/refusal.ts';
import type { Session } from '../../call/session.ts';
import type { Submit } from '../../call/submission.ts';
import type { Transfers, UploadStream } from '../../content/transfers.ts';
import { redactViolations } from '../../redaction/redact-refusal.ts';
import { authenticate } from '../../sessions/authenticate.ts';
import type { Store } from '../../storage/stores.ts';
import type { Peer } from '../transport/peer.ts';
import { bindService } from '../transport/service-binding.ts';
import type { ServiceBinding } from '../transport/service-binding.ts';
import { answerInAnyOrder } from '../answer-in-any-order.ts';
import { asMalformed, presentAnswer, presentFailure, respond } from './present-answer.ts';
import { readCall, readWithoutArguments, sizeOf } from './read-call.ts';

export interface ToolProtocolParts {
  readonly store: Pick<Store, 'findSessionByToken'>;
  /** Where the bytes of a large write wait for the call that stores them. */
  readonly uploads: Transfers<UploadStream>;
  /** Runs a call through the gateway. */
  readonly submit: Submit;
  /** For what the door itself finds wrong with a request. */
  readonly redact: RedactText;
  /** Called with errors of this door itself. Must not throw. */
  readonly onFault: (error: unknown) => void;
  /** Requests of one stream that are read and not yet answered. Absent: 256. */
  readonly mostOpenPerStream?: number;
}

/** More than this is stored first: as JSON it would not fit into arguments, and nobody reads it there. */
const largestArgumentBytes = 8 * 1024 * 1024;
/** A request this small costs strangers more to send than us to read. */
const harmlessBytes = 64 * 1024;

/** The typed door: each request gets one response with its id, whatever happens to it. */
export function toolProtocolService(parts: ToolProtocolParts): ServiceBinding {
  const { store, uploads, submit, redact, onFault, mostOpenPerStream = 256 } = parts;

  // Unknown callers will be refused. Until then they must not make the daemon write large arguments.
  const identify = ({ sessionToken: credential }: ToolRequest, { door }: Peer): Session | undefined => {
    const session = authenticate(store, { credential, door }, Date.now());
    return isRefusal(session) ? undefined : session;
  };

  /** Stores the content by a governed call of its own. */
  const storeContent = async (request: ToolRequest, content: Uint8Array, session: Session, peer: Peer) => {
    const upload = uploads.register(session.id, { chunks: [content], onReceived: () => undefined });
    try {
      const input = JSON.stringify({ upload_id: upload.id, size: content.length });
      return await submit({ ...readWithoutArguments(request, peer), toolName: 'content.put', input });
    } finally {
      upload.close();
    }
  };

  const run = async (request: ToolRequest, peer: Peer): Promise<Answer> => {
    if (sizeOf(request) <= harmlessBytes) return submit(readCall(request, peer));
    const session = identify(request, peer);
    if (session === undefined) return submit(readWithoutArguments(request, peer));
    const { tool } = request;
    if (tool.case !== 'fileWrite' || tool.value.content.length <= largestArgumentBytes) {
      return submit(readCall(request, peer));
    }
    const stored = await storeContent(request, tool.value.content, session, peer);
    const contentHash = storedHash(stored);
    return contentHash === undefined ? stored : submit(readCall(request, peer, { contentHash }));
  };

  const execute = async (request: ToolRequest, peer: Peer): Promise<ToolResponse> => {
    try {
      peer.recognise(request.sessionToken);
      const violations = validateToolRequest(request);
      if (violations.length > 0) {
        const answer = await submit({ ...readWithoutArguments(request, peer), violations });
        return presentAnswer(request, asMalformed(answer, redactViolations(violations, redact)));
      }
      return presentAnswer(request, await run(request, peer));
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

/** Undefined unless the content was stored. */
function storedHash({ output }: Answer): string | undefined {
  return output && (JSON.parse(output.outputJson) as { readonly hash: string }).hash;
}
