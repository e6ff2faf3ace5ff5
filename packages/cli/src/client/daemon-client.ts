import { executeTool, GateClient, GateError, traceHeaders, traceOfEnvironment } from '@sallyport/contract/client';
import type { ExecuteOptions } from '@sallyport/contract/client';
import type { ExecuteToolRequestJson, ExecuteToolResponseJson } from '@sallyport/contract';
import { overHttp } from '@sallyport/contract/http-transport';
import type { Target } from '@sallyport/contract/http-transport';
import { exitCodes } from '@sallyport/contract/codes';
import { checkListener } from './check-listener.ts';
import { chooseCaller, readToken, unreachable } from './choose-caller.ts';
import type { ClientOptions, Role } from './choose-caller.ts';
import { CommandFailure, hasErrorCode, interrupted, RpcFailure, usageFailure } from './failure.ts';

/** The client of the contract, whose errors end the command: everything here rejects with CommandFailure. */
export interface DaemonClient {
  readonly role: Role;
  readonly target: Target;
  readonly call: GateClient['call'];
  /** Ends without an error when its signal aborts. */
  readonly watch: GateClient['watch'];
  readonly executeTool: (request: ExecuteToolRequestJson, options?: ExecuteOptions) => Promise<ExecuteToolResponseJson>;
  /** For what is no call with JSON: runs the exchange with where the daemon is and who asks. */
  readonly stream: <Answer>(
    exchange: (daemon: { readonly target: Target; readonly credential: string }) => Promise<Answer>,
  ) => Promise<Answer>;
}

/** Acts as the agent whose token is set, and as the operator when none is. Connects with the first request. */
export function openClient(options: ClientOptions): DaemonClient {
  const { role, credential, target } = chooseCaller(options);
  // Every door takes this name, also behind a forwarded port.
  const transport = overHttp(target, { keepAlive: false, hostHeader: 'localhost' });
  const gate = new GateClient(transport, () => credential);
  const explain = (error: unknown, signal?: AbortSignal): unknown => {
    if (signal?.aborted === true) return interrupted();
    const cause = error instanceof GateError ? error.cause : error;
    if (isUnreachable(cause)) return unreachable(options, target, cause);
    if (!(error instanceof GateError)) return error;
    return error.code === 'unreachable' ? lostConnection(error) : new RpcFailure(error.code, error.message);
  };
  const checkPeer = (): void => {
    // What an agent's token can do is little beside the credential of a person.
    if (role === 'operator') checkListener(target, options.home.folder);
  };
  const reach = async <Answer>(exchange: () => Promise<Answer>, signal?: AbortSignal): Promise<Answer> => {
    checkPeer();
    try {
      return await exchange();
    } catch (error) {
      throw explain(error, signal);
    }
  };
  // Who starts the command in a span of their own sees its call there.
  const trace = traceHeaders(traceOfEnvironment(options.environment));
  const traced = (more?: ExecuteOptions): ExecuteOptions => ({ ...more, headers: { ...trace, ...more?.headers } });
  return {
    role,
    target,
    call: (method, request, more) => reach(() => gate.call(method, request, traced(more)), more?.signal),
    watch: async function* (method, request, more) {
      checkPeer();
      try {
        yield* gate.watch(method, request, more);
      } catch (error) {
        if (more?.signal?.aborted !== true) throw explain(error);
      }
    },
    executeTool: (request, more) => reach(() => executeTool(gate, request, traced(more)), more?.signal),
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

/** Nobody listens there. */
function isUnreachable(error: unknown): boolean {
  return hasErrorCode(error, 'ENOENT', 'ECONNREFUSED', 'ENOTDIR', 'EACCES', 'ENAMETOOLONG', 'EINVAL', 'ENOTSOCK');
}

function lostConnection(cause: Error): CommandFailure {
  return new CommandFailure('CONNECTION_LOST', exitCodes.unreachable, 'The daemon ended before it answered.', {
    cause,
    remedy: 'Whether the call had an effect is in the log: see `audit tail` once the daemon runs again.',
  });
}
