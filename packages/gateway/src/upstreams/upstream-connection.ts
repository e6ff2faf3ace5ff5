import { Client, isInputRequiredResult, ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/client';
import type {
  CallToolResult,
  ClientCapabilities,
  GetPromptResult,
  InputRequiredResult,
  JsonSchemaValidator,
  Progress,
  Prompt,
  ReadResourceResult,
  RequestOptions,
  Resource,
  ResourceTemplateType,
  Tool,
} from '@modelcontextprotocol/client';
import type { JsonObject } from '@sallyport/contract';
import { signalOf } from '../call/cancellation.ts';
import type { AbortLike } from '../call/cancellation.ts';
import { ToolFailure } from '../call/tool.ts';
import type { UpstreamTransport } from './transport/open-transport.ts';
import { OddAnswer } from './plain-calls.ts';
import { kindOf, RequestRefused, requestMethods } from './requests/request-kinds.ts';
import type { RequestKind } from './requests/request-kinds.ts';
import type { AnswerRequest } from './requests/request-desk.ts';

export interface ConnectionEvents {
  readonly onToolsChanged: () => void;
  /** The server asked for something while it worked. */
  readonly answer: AnswerRequest;
  /** The server asked for something that the gate does not know or did not offer. It was refused. */
  readonly onUnknownRequest: (method: string) => void;
  readonly onClose: () => void;
}

/** `auto`: the newest protocol that both know. `legacy`: without asking first, because that ends some servers. */
export type ProtocolEra = 'auto' | 'legacy';

export interface ServerFacts {
  readonly name: string;
  readonly version: string;
  readonly protocolVersion: string;
}

const probeTimeoutMs = 5000;
const requestTimeoutMs = 30_000;
const relistPauseMs = 1000;
const mostPages = 64;
const mostRounds = 8;
/** Resources of one server; a list is one answer. */
const mostListed = 1000;
const firstModern = '2026-07-28';
const refusal = 'The gate in front of the client refuses this.';

const capabilities: Readonly<Record<RequestKind, ClientCapabilities>> = {
  elicitation: { elicitation: { form: { applyDefaults: true }, url: {} } },
  sampling: { sampling: {} },
  roots: { roots: {} },
};

/** The gate checks what tools return, against the accepted schema and with bounded work. */
const checkedElsewhere = {
  getValidator:
    <T>(): JsonSchemaValidator<T> =>
    (input) => ({ valid: true, data: input as T, errorMessage: undefined }),
};

/** What a server has, as it listed it. */
export interface ServerOffers {
  readonly tools: readonly Tool[];
  readonly prompts: readonly Prompt[];
  readonly hasResources: boolean;
}

export interface ConnectionCall {
  readonly signal: AbortLike;
  readonly timeoutMs: number;
  readonly onProgress: (progress: Progress) => void;
  /** Absent: nobody follows the trace. */
  readonly traceparent?: string | undefined;
  readonly answer: AnswerRequest;
}

interface SentHow extends Pick<RequestOptions, 'signal' | 'timeout' | 'onprogress'> {
  readonly allowInputRequired: true;
}

/** One established connection to a server. When it is closed it stays closed. */
export class UpstreamConnection {
  readonly #client: Client;
  readonly #transport: UpstreamTransport;

  private constructor(client: Client, transport: UpstreamTransport) {
    this.#client = client;
    this.#transport = transport;
  }

  /** Rejects when the server does not connect; then nothing of it is left. */
  static async open(
    transport: UpstreamTransport,
    options: ConnectionEvents & {
      readonly era: ProtocolEra;
      readonly version: string;
      readonly mayAsk: readonly RequestKind[];
      readonly signal: AbortSignal;
    },
  ): Promise<UpstreamConnection> {
    const client = new Client(
      { name: 'sallyport', version: options.version },
      {
        // Requests that are not named here are refused without asking anybody.
        capabilities: Object.assign({}, ...options.mayAsk.map((kind) => capabilities[kind])) as ClientCapabilities,
        jsonSchemaValidator: checkedElsewhere,
        versionNegotiation: options.era === 'auto' ? { mode: 'auto', probe: { timeoutMs: probeTimeoutMs } } : {},
        inputRequired: { autoFulfill: false },
        listMaxPages: mostPages,
        listChanged: {
          tools: { autoRefresh: false, debounceMs: relistPauseMs, onChanged: () => options.onToolsChanged() },
          prompts: { autoRefresh: false, debounceMs: relistPauseMs, onChanged: () => options.onToolsChanged() },
        },
      },
    );
    client.fallbackRequestHandler = async ({ method }) => {
      options.onUnknownRequest(method);
      throw new ProtocolError(ProtocolErrorCode.MethodNotFound, refusal);
    };
    for (const kind of options.mayAsk) answerRequests(client, kind, options.answer);
    Object.assign(client, { onclose: options.onClose, onerror: () => undefined });
    const connection = new UpstreamConnection(client, transport);
    const giveUp = (): void => void transport.close();
    options.signal.addEventListener('abort', giveUp);
    try {
      await client.connect(transport.transport, { signal: options.signal, timeout: requestTimeoutMs });
      return connection;
    } catch (error) {
      await connection.close();
      throw transport.failure() ?? error;
    } finally {
      options.signal.removeEventListener('abort', giveUp);
    }
  }

  get server(): ServerFacts {
    const { name = '', version = '' } = this.#client.getServerVersion() ?? {};
    return { name, version, protocolVersion: this.#client.getNegotiatedProtocolVersion() ?? '' };
  }

  /** Why it closed. Undefined: it is open, or was closed on purpose. */
  get failure(): Error | undefined {
    return this.#transport.failure();
  }

  async listOffers(signal: AbortSignal): Promise<ServerOffers> {
    const { tools, prompts, resources } = this.#client.getServerCapabilities() ?? {};
    const how = { signal, timeout: requestTimeoutMs, cacheMode: 'refresh' } as const;
    const listed = tools === undefined ? { tools: [] } : await this.#client.listTools(undefined, how);
    // A server whose prompts fail still has its tools.
    const prompted = prompts && (await this.#client.listPrompts(undefined, how).catch(() => undefined));
    signal.throwIfAborted();
    return { tools: listed.tools, prompts: prompted?.prompts ?? [], hasResources: resources !== undefined };
  }

  async listResources({ signal, timeoutMs }: ConnectionCall): Promise<readonly Resource[]> {
    const how = { signal: signalOf(signal), timeout: timeoutMs, cacheMode: 'refresh' } as const;
    return (await this.#client.listResources(undefined, how)).resources.slice(0, mostListed);
  }

  async listTemplates({ signal, timeoutMs }: ConnectionCall): Promise<readonly ResourceTemplateType[]> {
    const how = { signal: signalOf(signal), timeout: timeoutMs, cacheMode: 'refresh' } as const;
    return (await this.#client.listResourceTemplates(undefined, how)).resourceTemplates.slice(0, mostListed);
  }

  readResource(uri: string, options: ConnectionCall): Promise<ReadResourceResult> {
    return this.#ask(uri, options, (round, how) =>
      this.#client.readResource({ uri, ...round }, { ...how, cacheMode: 'bypass' }),
    );
  }

  getPrompt(name: string, args: Readonly<Record<string, string>>, options: ConnectionCall): Promise<GetPromptResult> {
    return this.#ask(name, options, (round, how) => this.#client.getPrompt({ name, arguments: args, ...round }, how));
  }

  /**
   * An abort is sent to the server, without waiting for a reply. A server of the newer protocol asks its questions in
   * its answer, and is called again with the result of `answer`.
   */
  async callTool(name: string, args: JsonObject, options: ConnectionCall): Promise<CallToolResult> {
    const { signal, timeoutMs, onProgress, traceparent } = options;
    let odd: JsonObject = {};
    const { calls } = this.#transport;
    if (calls !== undefined) {
      const plain = await calls.call(name, args, {
        signal,
        timeoutMs,
        onProgress,
        traceparent,
        isModern: this.#isModern,
      });
      if (!(plain instanceof OddAnswer)) return plain;
      odd = plain.meta;
    }
    const send = (round: object, how: SentHow) =>
      this.#client.callTool({ name, arguments: { ...args }, ...round }, how);
    return this.#ask(name, options, send, odd);
  }

  /** Sends a request, and repeats it with each answer that the server asks for, until it returns a result. */
  async #ask<Result extends object>(
    what: string,
    { signal, timeoutMs, onProgress, answer, traceparent }: ConnectionCall,
    send: (round: object, how: SentHow) => Promise<Result | InputRequiredResult>,
    firstMeta: JsonObject = {},
  ): Promise<Result> {
    const trace = traceparent === undefined ? {} : { traceparent };
    const how = {
      ...{ signal: signalOf(signal), timeout: timeoutMs },
      ...{ onprogress: onProgress, allowInputRequired: true as const },
    };
    let round = withMeta({ ...trace, ...firstMeta });
    for (let rounds = 0; rounds <= mostRounds; rounds++) {
      const result = await send(round, how);
      if (!isInputRequiredResult(result)) return result;
      round = { ...withMeta(trace), ...(await answerRound(result, answer)) };
    }
    throw new ToolFailure('EXECUTION_ERROR', `${what} asked for more input again and again.`);
  }

  get #isModern(): boolean {
    return (this.#client.getNegotiatedProtocolVersion() ?? '') >= firstModern;
  }

  /** Sets aside what the server must not leave behind, while it runs. */
  sweep(): Promise<void> {
    return this.#transport.sweep();
  }

  /** What the server has used until now. Empty: that cannot be measured. */
  measure(): ReturnType<UpstreamTransport['measure']> {
    return this.#transport.measure();
  }

  async close(): Promise<void> {
    await this.#client.close().catch(() => undefined);
    await this.#transport.close();
  }
}

function answerRequests(client: Client, kind: RequestKind, answer: AnswerRequest): void {
  client.setRequestHandler(requestMethods[kind], async ({ params = {} }) => {
    try {
      return (await answer({ kind, params: params as unknown as JsonObject })) as never;
    } catch (error) {
      // The server must not learn about other errors.
      const message = error instanceof RequestRefused ? error.message : refusal;
      throw new ProtocolError(ProtocolErrorCode.InvalidRequest, message);
    }
  });
}

function withMeta(meta: JsonObject): object {
  return Object.keys(meta).length === 0 ? {} : { _meta: meta };
}

/** What the next request carries: all answers, and the server's own note, if it gave one, exactly as it was. */
async function answerRound(
  { inputRequests = {}, requestState }: InputRequiredResult,
  answer: AnswerRequest,
): Promise<object> {
  const inputResponses: Record<string, JsonObject> = {};
  for (const [key, { method, params = {} }] of Object.entries(inputRequests)) {
    const kind = kindOf(method);
    if (kind === undefined)
      throw new ToolFailure('EXECUTION_ERROR', 'The server sent a request that the gate does not know.');
    inputResponses[key] = await answer({ kind, params: params as unknown as JsonObject });
  }
  return { inputResponses, ...(requestState === undefined ? {} : { requestState }) };
}
