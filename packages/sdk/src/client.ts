import { ToolDenied, ToolFailed } from './call-result.ts';
import type { ApprovalNeed, CallProgress, CallResult, Stored, Success } from './call-result.ts';
import { exchangeOverFetch, exchangeOverHttp } from './exchange.ts';
import type { Exchange } from './exchange.ts';
import { GateConnection } from './gate-connection.ts';
import type { Json } from './json.ts';
import { readProgress, readResult, readTool } from './wire.ts';
import type {
  ExecuteToolResponseJson,
  ExecuteToolStreamResponseJson,
  GetContentResponseJson,
  GetToolJson,
  ListToolsJson,
  ToolInfo,
} from './wire.ts';

export * from './call-result.ts';
export { GateError } from './gate-error.ts';
export type { Json, JsonObject } from './json.ts';
export type { ToolInfo } from './wire.ts';

export interface ClientOptions {
  /** Such as `http://127.0.0.1:4780`, which is also what absent means. Not together with `socketPath`. */
  readonly address?: string;
  /** The agent socket, `run/agent/sallyport.sock` in the home of the daemon. */
  readonly socketPath?: string;
  /** Of the session. Absent: SALLYPORT_TOKEN. */
  readonly token?: string;
  /** Sends the requests to `address`. Absent: node:http. */
  readonly fetch?: typeof globalThis.fetch;
}

export interface CallOptions {
  /** Ends the call earlier than the tool's own limit. */
  readonly timeoutMs?: number;
  /** The same key with the same arguments runs once in a session. */
  readonly dedupeKey?: string;
  /** An id of your own, echoed in the result. */
  readonly requestId?: string;
  /** Both are kept in the audit log. */
  readonly taskId?: string;
  readonly correlationId?: string;
  /** Where a person must agree: how long to wait for that before the call is given back as pending. Absent: not at all. */
  readonly waitMs?: number;
  /** The task under which a person approved exactly this call. */
  readonly approvalTaskId?: string;
  /** Covers the call, alone or as a step of a plan. */
  readonly confirmToken?: string;
  /** Cancels the call: what it runs is ended. */
  readonly signal?: AbortSignal;
  /** Told what happens meanwhile. Must not throw. */
  readonly onProgress?: (progress: CallProgress) => void;
  /** Told, before the wait, that a person must agree, and where. Must not throw. */
  readonly onPending?: (task: Pick<ApprovalNeed, 'taskId' | 'link'>) => void;
}

export interface Client {
  /** The output of the tool, however large. Rejects with ToolDenied or ToolFailed, or as `tryCallTool` does. */
  readonly callTool: <Output = Json>(name: string, input?: object, options?: CallOptions) => Promise<Output>;
  /** However the call ended. Rejects with GateError, or with the reason of the signal that cancelled it. */
  readonly tryCallTool: <Output = Json>(
    name: string,
    input?: object,
    options?: CallOptions,
  ) => Promise<CallResult<Output>>;
  /** An output that was too large for an answer. A governed call of its own, of `content.get`. */
  readonly readOutput: <Output = Json>(stored: Pick<Stored, 'hash'>, signal?: AbortSignal) => Promise<Output>;
  /** The tools that this session may call now. */
  readonly listTools: (filter?: { readonly category?: string; readonly tag?: string }) => Promise<readonly ToolInfo[]>;
  /** Rejects with GateError `not_found` for a tool that this session does not have. */
  readonly getToolSchema: (name: string) => Promise<ToolInfo>;
  /** Drops idle connections. Not needed before a process ends. */
  readonly close: () => void;
}

const toolService = 'sallyport.v1.ToolService';
const defaultAddress = 'http://127.0.0.1:4780';

/** Throws TypeError for options that cannot work. Connects with the first request. */
export function createClient(options: ClientOptions = {}): Client {
  const token = (options.token ?? globalThis.process?.env['SALLYPORT_TOKEN'])?.trim();
  if (!token) throw new TypeError('There is no token: pass one, or set SALLYPORT_TOKEN. `session create` prints it.');
  const gate = new GateConnection(openExchange(options), token);

  const tryCallTool: Client['tryCallTool'] = async <Output>(name: string, input = {}, more: CallOptions = {}) => {
    const { taskId, correlationId, signal, onProgress, onPending, ...fields } = more;
    const call = { ...fields, name, inputJson: JSON.stringify(input), context: { taskId, correlationId } };
    const isFollowed = onProgress !== undefined || onPending !== undefined;
    const answer = isFollowed
      ? await follow(gate, call, more)
      : await gate.ask(`${toolService}/ExecuteTool`, call, signal);
    return readResult(answer as ExecuteToolResponseJson) as CallResult<Output>;
  };
  const readOutput: Client['readOutput'] = async <Output>({ hash }: Pick<Stored, 'hash'>, signal?: AbortSignal) =>
    JSON.parse(await readContent(gate, hash, signal)) as Output;
  return {
    tryCallTool,
    readOutput,
    callTool: async <Output>(name: string, input?: object, more: CallOptions = {}) => {
      const result = await tryCallTool<Output>(name, input, more);
      throwUnlessSuccess(result);
      return result.status === 'stored' ? readOutput<Output>(result, more.signal) : result.output;
    },
    listTools: async (filter = {}) => {
      const { tools = [] } = (await gate.ask(`${toolService}/ListAvailableTools`, filter)) as ListToolsJson;
      return tools.map(readTool);
    },
    getToolSchema: async (name) => {
      const { tool = {} } = (await gate.ask(`${toolService}/GetToolSchema`, { name })) as GetToolJson;
      return readTool(tool);
    },
    close: () => gate.close(),
  };
}

/** Makes the call and tells what happens until its answer comes. */
async function follow(
  gate: GateConnection,
  call: object,
  { onProgress, onPending, signal }: CallOptions,
): Promise<ExecuteToolResponseJson> {
  let answer: ExecuteToolResponseJson = {};
  for await (const message of gate.stream(`${toolService}/ExecuteToolStream`, { call }, signal)) {
    const { progress, pending, response } = message as ExecuteToolStreamResponseJson;
    if (progress !== undefined) onProgress?.(readProgress(progress));
    if (pending !== undefined) onPending?.({ taskId: pending.taskId ?? '', link: pending.link ?? '' });
    if (response !== undefined) answer = response;
  }
  return answer;
}

/** All of some content, as text. */
async function readContent(gate: GateConnection, hash: string, signal?: AbortSignal): Promise<string> {
  const chunks: Buffer[] = [];
  let result: CallResult | undefined;
  const request = { hash: Buffer.from(hash, 'hex').toString('base64') };
  for await (const message of gate.stream('sallyport.v1.ContentService/Get', request, signal)) {
    const { chunk, outcome } = message as GetContentResponseJson;
    if (chunk !== undefined) chunks.push(Buffer.from(chunk, 'base64'));
    if (outcome !== undefined) result = readResult(outcome);
  }
  // Only an outcome that is a success means that it was all.
  throwUnlessSuccess(result ?? readResult({}));
  return Buffer.concat(chunks).toString();
}

function throwUnlessSuccess<Output>(result: CallResult<Output>): asserts result is Success<Output> | Stored {
  if (result.status === 'error') throw new ToolFailed(result);
  if (result.status === 'denied' || result.status === 'pending_approval') throw new ToolDenied(result);
}

function openExchange({ address, socketPath, fetch }: ClientOptions): Exchange {
  if (socketPath !== undefined) {
    if (address === undefined && fetch === undefined) return exchangeOverHttp({ socketPath });
    throw new TypeError('Give either socketPath or address: fetch and an address do not go with a socket.');
  }
  const url = new URL(address ?? defaultAddress);
  if (!/^https?:$/.test(url.protocol))
    throw new TypeError(`The address must begin with http: or https:, not ${url.protocol}`);
  return fetch === undefined ? exchangeOverHttp({ address: url }) : exchangeOverFetch(url, fetch);
}
