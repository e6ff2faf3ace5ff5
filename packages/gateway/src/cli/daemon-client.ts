import { readFileSync } from 'node:fs';
import { exitCodes } from '@sallyport/contract/codes';
import type { Home } from '../daemon/home.ts';
import { readSecret } from '../daemon/secret-files.ts';
import { ConfigError } from '../model/fault.ts';
import { CommandFailure, describeError, hasErrorCode, usageFailure } from './failure.ts';
import { postJson } from './post-json.ts';
import { streamJson } from './stream-json.ts';
import type * as wire from './wire-json.ts';

export type Role = 'operator' | 'agent';

export interface DaemonClient {
  readonly role: Role;
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
    exchange: (target: { readonly socketPath: string; readonly credential: string }) => Promise<Answer>,
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

export interface ClientOptions {
  readonly home: Home;
  /** How a person starts a daemon here. */
  readonly startCommand: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Holds a session's token. Absent: SALLYPORT_TOKEN, and without that the caller is the operator. */
  readonly tokenFile?: string;
}

/** Acts as the agent whose token is set, and as the operator when none is. Connects with the first request. */
export function openClient(options: ClientOptions): DaemonClient {
  const token = readToken(options);
  const role = token === undefined ? 'operator' : 'agent';
  const credential = token ?? readOperatorCredential(options);
  const socketPath = role === 'operator' ? options.home.operatorSocket : options.home.agentSocket;
  const reach = async <Answer>(exchange: () => Promise<Answer>): Promise<Answer> => {
    try {
      return await exchange();
    } catch (error) {
      throw isUnreachable(error) ? unreachable(options, error) : error;
    }
  };
  const send = <Answer>(method: string, message: object, signal?: AbortSignal): Promise<Answer> => {
    const request = { socketPath, path: `/sallyport.v1.${method}`, credential, message };
    return reach(() => postJson({ ...request, ...(signal === undefined ? {} : { signal }) }) as Promise<Answer>);
  };
  return {
    role,
    executeTool: (request, signal) => send('ToolService/ExecuteTool', request, signal),
    followTool: (call, { onProgress, onPending, ...post }) =>
      reach(async () => {
        const path = '/sallyport.v1.ToolService/ExecuteToolStream';
        for await (const event of streamJson({ socketPath, path, credential, message: { call }, ...post })) {
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
    stop: async () => void (await send('OperatorService/Stop', {})),
    readAudit: ({ from, limit, waitMs = 0 }) =>
      send('OperatorService/ReadAudit', { from: String(from), limit, waitMs }),
    readAuditOfCall: (callId) => send('OperatorService/ReadAudit', { callId }),
    stream: (exchange) => reach(() => exchange({ socketPath, credential })),
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

// Tokens come from a file or the environment, never from an argument: every user of the machine sees arguments.
function readToken({ environment, tokenFile }: ClientOptions): string | undefined {
  if (tokenFile === undefined) return environment['SALLYPORT_TOKEN']?.trim() || undefined;
  let token: string;
  try {
    token = readFileSync(tokenFile, 'utf8').trim();
  } catch (error) {
    throw usageFailure(`The token file cannot be read: ${describeError(error)}`);
  }
  if (token === '') throw usageFailure(`The token file is empty: ${tokenFile}`);
  return token;
}

function readOperatorCredential(options: ClientOptions): string {
  const own = options.environment['SALLYPORT_CREDENTIAL_FILE'];
  if (own) return readOwnCredential(own);
  const file = options.home.operatorCredentialFile;
  try {
    return readFileSync(file, 'utf8').trim();
  } catch (error) {
    // The first start writes it, so without it there has been none.
    if (hasErrorCode(error, 'ENOENT', 'ENOTDIR')) throw unreachable(options);
    throw new CommandFailure(
      'CREDENTIAL_UNREADABLE',
      exitCodes.unreachable,
      `The operator credential cannot be read: ${describeError(error)}`,
      { remedy: 'Run the command as the user who owns it, or set SALLYPORT_TOKEN to act as an agent.' },
    );
  }
}

/** Of a person who is not the first operator. */
function readOwnCredential(file: string): string {
  let credential: string | undefined;
  try {
    credential = readSecret(file);
  } catch (error) {
    if (error instanceof ConfigError) throw error;
    throw usageFailure(`The credential file cannot be read: ${describeError(error)}`);
  }
  if (credential !== undefined) return credential;
  throw usageFailure(
    `There is no credential file ${file}.`,
    'SALLYPORT_CREDENTIAL_FILE names it. Unset that to act as the first operator.',
  );
}

function isUnreachable(error: unknown): boolean {
  return hasErrorCode(error, 'ENOENT', 'ECONNREFUSED', 'ENOTDIR', 'EACCES', 'ENAMETOOLONG', 'EINVAL', 'ENOTSOCK');
}

function unreachable({ home, startCommand }: ClientOptions, error?: unknown): CommandFailure {
  if (hasErrorCode(error, 'EACCES')) {
    return new CommandFailure('UNREACHABLE', exitCodes.unreachable, `This user may not reach ${home.folder}.`, {
      remedy: 'Run the command as the user who runs the daemon.',
    });
  }
  return new CommandFailure('UNREACHABLE', exitCodes.unreachable, `No daemon answers in ${home.folder}.`, {
    remedy: `Start one with \`${startCommand}\`, or set SALLYPORT_HOME to the folder of a running one.`,
  });
}
