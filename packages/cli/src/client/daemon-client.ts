import { exitCodes } from '@sallyport/contract/codes';
import { chooseCaller, readToken, unreachable } from './choose-caller.ts';
import type { ClientOptions, Role } from './choose-caller.ts';
import { CommandFailure, hasErrorCode, usageFailure } from './failure.ts';
import { postJson } from './post-json.ts';
import { streamJson } from './stream-json.ts';
import type { Target } from './target.ts';
import type * as wire from '@sallyport/contract';

export interface DaemonClient {
  readonly role: Role;
  readonly target: Target;
  readonly executeTool: (
    request: wire.ExecuteToolRequestJson,
    signal?: AbortSignal,
  ) => Promise<wire.ExecuteToolResponseJson>;
  /** The same, hearing how the work goes on. */
  readonly followTool: (
    request: wire.ExecuteToolRequestJson,
    options: FollowOptions,
  ) => Promise<wire.ExecuteToolResponseJson>;
  readonly listTools: (request: wire.ListAvailableToolsRequestJson) => Promise<wire.ListAvailableToolsResponseJson>;
  readonly getTool: (name: string) => Promise<wire.GetToolSchemaResponseJson>;
  readonly getStatus: () => Promise<wire.GetStatusResponseJson>;
  /** The daemon's own judgement of its log, for who cannot read the files. */
  readonly verifyAudit: () => Promise<wire.VerifyAuditResponseJson>;
  readonly stop: () => Promise<void>;
  /** A negative `from` counts from the end. Waits up to `waitMs` for a first record. */
  readonly readAudit: (request: {
    from: number;
    limit: number;
    waitMs?: number;
  }) => Promise<wire.ReadAuditResponseJson>;
  readonly readAuditOfCall: (callId: string) => Promise<wire.ReadAuditResponseJson>;
  /** For calls that stream: runs the exchange with where the daemon is and who asks. */
  readonly stream: <Answer>(
    exchange: (daemon: { readonly target: Target; readonly credential: string }) => Promise<Answer>,
  ) => Promise<Answer>;
}

export interface FollowOptions {
  readonly signal: AbortSignal;
  readonly onProgress: (progress: wire.ProgressJson) => void;
  /** Hears that the call waits for a person. */
  readonly onPending: (need: wire.ApprovalNeedJson) => void;
  /** W3C trace context. Absent: a trace of its own. */
  readonly traceparent?: string;
}

interface ExecutionEvent {
  readonly progress?: wire.ProgressJson;
  readonly pending?: wire.ApprovalNeedJson;
  readonly response?: wire.ExecuteToolResponseJson;
}

/** Acts as the agent whose token is set, and as the operator when none is. Connects with the first request. */
export function openClient(options: ClientOptions): DaemonClient {
  const { role, credential, target } = chooseCaller(options);
  const reach = async <Answer>(exchange: () => Promise<Answer>): Promise<Answer> => {
    try {
      return await exchange();
    } catch (error) {
      throw isUnreachable(error) ? unreachable(options, target, error) : error;
    }
  };
  const send = <Answer>(method: string, message: object, signal?: AbortSignal): Promise<Answer> => {
    const request = { target, path: `/sallyport.v1.${method}`, credential, message };
    return reach(() => postJson({ ...request, ...(signal === undefined ? {} : { signal }) }) as Promise<Answer>);
  };
  return {
    role,
    target,
    executeTool: (request, signal) => send('ToolService/ExecuteTool', request, signal),
    followTool: (call, { onProgress, onPending, ...post }) =>
      reach(async () => {
        const path = '/sallyport.v1.ToolService/ExecuteToolStream';
        for await (const event of streamJson({ target, path, credential, message: { call }, ...post })) {
          const { progress, pending, response } = event as ExecutionEvent;
          if (response !== undefined) return response;
          if (progress !== undefined) onProgress(progress);
          if (pending !== undefined) onPending(pending);
        }
        throw new CommandFailure('BAD_ANSWER', exitCodes.toolError, 'The daemon gave no outcome.');
      }),
    listTools: (request) => send('ToolService/ListAvailableTools', request),
    getTool: (name) => send('ToolService/GetToolSchema', { name }),
    getStatus: () => send('OperatorService/GetStatus', {}),
    verifyAudit: () => send('OperatorService/VerifyAudit', {}),
    stop: async () => void (await send('OperatorService/Stop', {})),
    readAudit: ({ from, limit, waitMs = 0 }) =>
      send('OperatorService/ReadAudit', { from: String(from), limit, waitMs }),
    readAuditOfCall: (callId) => send('OperatorService/ReadAudit', { callId }),
    stream: (exchange) => reach(() => exchange({ target, credential })),
  };
}

/** For commands that only an operator has. A token is never set aside silently: it says who is asking. */
export function openOperatorClient(options: ClientOptions): DaemonClient {
  if (readToken(options) === undefined) return openClient(options);
  throw usageFailure(
    'This command is for the operator, but the token of a session is set.',
    'Unset SALLYPORT_TOKEN and leave out --token-file.',
  );
}

function isUnreachable(error: unknown): boolean {
  return hasErrorCode(error, 'ENOENT', 'ECONNREFUSED', 'ENOTDIR', 'EACCES', 'ENAMETOOLONG', 'EINVAL', 'ENOTSOCK');
}
