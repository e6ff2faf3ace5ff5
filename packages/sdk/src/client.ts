import {
  executeTool,
  GateClient,
  GateError,
  joinChunks,
  overFetch,
  readResult,
  traceHeaders,
} from '@sallyport/contract/client';
import type {
  ApprovalNeed,
  CallResult as Result,
  Stored,
  Success,
  TraceContext,
  Transport,
} from '@sallyport/contract/client';
import type { InJson, ProgressJson, ToolDescriptor } from '@sallyport/contract';
import { CallStream } from '@sallyport/contract/call-stream';
import { overHttp } from '@sallyport/contract/http-transport';
import type { Target } from '@sallyport/contract/http-transport';
import { ToolDenied, ToolFailed } from './call-errors.ts';
import type { Json } from './json.ts';

export * from './call-errors.ts';
export { GateError } from '@sallyport/contract/client';
export type {
  ApprovalNeed,
  CallFacts,
  Denied,
  Failed,
  PendingApproval,
  Stored,
  Success,
  TraceContext,
  Usage,
  Violation,
} from '@sallyport/contract/client';
export type { Json, JsonObject } from './json.ts';

/** How a call ended. `status` tells which. */
export type CallResult<Output = Json> = Result<Output>;

/** What happens while a call runs. Never part of the result. */
export type CallProgress =
  | { readonly kind: 'stderr'; readonly text: string }
  /** `total` is absent when nobody knows it. */
  | { readonly kind: 'step'; readonly done: number; readonly total?: number; readonly message: string };

export interface ClientOptions {
  /** Absent: `http://127.0.0.1:4780`. Not together with `socketPath`. */
  readonly address?: string;
  /** The agent socket, `run/agent/sallyport.sock` in the home of the daemon. */
  readonly socketPath?: string;
  /** The token of the session. Absent: SALLYPORT_TOKEN. */
  readonly token?: string;
  /** Sends the requests to `address`. Absent: node:http. */
  readonly fetch?: typeof globalThis.fetch;
  /** Returns the span of a call that names none. Absent: each call begins a trace. */
  readonly currentTrace?: () => TraceContext | undefined;
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
  /** How long to wait if a person must agree, before the call returns as pending. Absent: not at all. */
  readonly waitMs?: number;
  /** The task under which a person approved exactly this call. */
  readonly approvalTaskId?: string;
  /** Covers the call, alone or as a step of a plan. */
  readonly confirmToken?: string;
  /** The span that the call belongs to. Absent: what `currentTrace` of the client says. */
  readonly trace?: TraceContext;
  /** Cancels the call: what it runs is ended. */
  readonly signal?: AbortSignal;
  /** Called with what happens meanwhile. Must not throw. */
  readonly onProgress?: (progress: CallProgress) => void;
  /** Called before the wait if a person must agree, with the place where they decide. Must not throw. */
  readonly onPending?: (task: Pick<ApprovalNeed, 'taskId' | 'link'>) => void;
}

/** A tool as the gate describes it. Its schemas are JSON: `JSON.parse(tool.inputSchemaJson)`. */
export type ToolInfo = InJson<ToolDescriptor>;

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

const defaultAddress = 'http://127.0.0.1:4780';

/** Throws TypeError for options that cannot work. Connects with the first request. */
export function createClient(options: ClientOptions = {}): Client {
  const token = (options.token ?? globalThis.process?.env['SALLYPORT_TOKEN'])?.trim();
  if (!token) throw new TypeError('There is no token: pass one, or set SALLYPORT_TOKEN. `session create` prints it.');
  const { transport, streamTarget } = openTransport(options);
  const gate = new GateClient(transport, () => token);
  const stream = streamTarget && new CallStream(streamTarget, token);

  const tryCallTool: Client['tryCallTool'] = async <Output>(name: string, input = {}, more: CallOptions = {}) => {
    const { taskId, correlationId, signal, onProgress, onPending, trace = options.currentTrace?.(), ...fields } = more;
    const context = {
      ...(taskId === undefined ? {} : { taskId }),
      ...(correlationId === undefined ? {} : { correlationId }),
    };
    const call = { ...fields, name, inputJson: JSON.stringify(input), context };
    const streamed = onProgress || onPending ? undefined : stream?.execute(call, { signal, trace });
    const answer = await (streamed ??
      executeTool(gate, call, {
        signal,
        headers: traceHeaders({ trace }),
        onProgress: onProgress && ((progress) => onProgress(readProgress(progress))),
        onPending: onPending && (({ taskId: id = '', link = '' }) => onPending({ taskId: id, link })),
      }));
    return readResult(answer) as CallResult<Output>;
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
    listTools: async (filter = {}) => (await gate.call('ToolService/ListAvailableTools', filter)).tools,
    getToolSchema: async (name) => {
      const { tool } = await gate.call('ToolService/GetToolSchema', { name });
      if (tool === undefined) throw new GateError('bad_answer', 'The gate returned no tool.');
      return tool;
    },
    close: () => {
      gate.close();
      stream?.close();
    },
  };
}

/** All of some content, as text. */
async function readContent(gate: GateClient, hash: string, signal?: AbortSignal): Promise<string> {
  const chunks: Uint8Array[] = [];
  let result: Result | undefined;
  const request = { hash: Buffer.from(hash, 'hex').toString('base64') };
  for await (const { chunk, outcome } of gate.watch('ContentService/Get', request, { signal })) {
    if (chunk !== undefined) chunks.push(Buffer.from(chunk, 'base64'));
    if (outcome !== undefined) result = readResult(outcome);
  }
  // Only a success means that the content is complete.
  throwUnlessSuccess(result ?? readResult({}));
  return new TextDecoder().decode(joinChunks(chunks));
}

function throwUnlessSuccess<Output>(result: Result<Output>): asserts result is Success<Output> | Stored {
  if (result.status === 'error') throw new ToolFailed(result);
  if (result.status === 'denied' || result.status === 'pending_approval') throw new ToolDenied(result);
}

function readProgress({ stderr, message = '', done = '0', total }: ProgressJson): CallProgress {
  if (stderr !== undefined) return { kind: 'stderr', text: stderr };
  return { kind: 'step', message, done: Number(done), ...(total === undefined ? {} : { total: Number(total) }) };
}

interface Opened {
  readonly transport: Transport;
  /** Absent: calls go one by one. */
  readonly streamTarget?: Target;
}

/** The only code that knows how requests are sent. */
function openTransport({ address, socketPath, fetch }: ClientOptions): Opened {
  if (socketPath !== undefined) {
    if (address === undefined && fetch === undefined) return overSocket({ path: socketPath });
    throw new TypeError('Give either socketPath or address: fetch and an address do not go with a socket.');
  }
  const url = new URL(address ?? defaultAddress);
  if (!/^https?:$/.test(url.protocol))
    throw new TypeError(`The address must begin with http: or https:, not ${url.protocol}`);
  if (fetch !== undefined) return { transport: overFetch(url, { fetch }) };
  const isSecure = url.protocol === 'https:';
  // URLs write IPv6 addresses in brackets, sockets do not.
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1');
  const target = { host, port: Number(url.port || (isSecure ? 443 : 80)), isSecure };
  return isSecure ? { transport: overHttp(target, { keepAlive: true }) } : overSocket(target);
}

function overSocket(target: Target): Opened {
  return { transport: overHttp(target, { keepAlive: true }), streamTarget: target };
}
