import { Client, ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/client';
import type { CallToolResult, JsonSchemaValidator, Progress, Tool } from '@modelcontextprotocol/client';
import type { JsonObject } from '@sallyport/contract';
import type { UpstreamTransport } from './open-transport.ts';

export interface ConnectionEvents {
  readonly onToolsChanged: () => void;
  /** The server asked for something: to speak to a model or a person, or for folders. It was refused. */
  readonly onRefusedRequest: (method: string) => void;
  readonly onClose: () => void;
}

/** `auto`: the newest protocol both know. `legacy`: without asking first, which some servers do not survive. */
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

/** What tools return is checked by the gate, against the schema that was accepted and with bounded work. */
const checkedElsewhere = {
  getValidator:
    <T>(): JsonSchemaValidator<T> =>
    (input) => ({ valid: true, data: input as T, errorMessage: undefined }),
};

/** One established connection to a server. When it is closed it stays closed. */
export class UpstreamConnection {
  readonly #client: Client;
  readonly #transport: UpstreamTransport;

  private constructor(client: Client, transport: UpstreamTransport) {
    this.#client = client;
    this.#transport = transport;
  }

  /** Rejects when the server does not take part; then nothing of it is left. */
  static async open(
    transport: UpstreamTransport,
    options: ConnectionEvents & { readonly era: ProtocolEra; readonly version: string; readonly signal: AbortSignal },
  ): Promise<UpstreamConnection> {
    const client = new Client(
      { name: 'sallyport', version: options.version },
      {
        // None: whatever a server would ask of the one in front of the gate is refused.
        capabilities: {},
        jsonSchemaValidator: checkedElsewhere,
        versionNegotiation: options.era === 'auto' ? { mode: 'auto', probe: { timeoutMs: probeTimeoutMs } } : {},
        inputRequired: { autoFulfill: false },
        listMaxPages: mostPages,
        listChanged: {
          tools: { autoRefresh: false, debounceMs: relistPauseMs, onChanged: () => options.onToolsChanged() },
        },
      },
    );
    client.fallbackRequestHandler = async ({ method }) => {
      options.onRefusedRequest(method);
      throw new ProtocolError(ProtocolErrorCode.MethodNotFound, 'The gate in front of the client refuses this.');
    };
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

  /** Why it closed. Undefined: it did not, or was wanted. */
  get failure(): Error | undefined {
    return this.#transport.failure();
  }

  async listTools(signal: AbortSignal): Promise<readonly Tool[]> {
    if (this.#client.getServerCapabilities()?.tools === undefined) return [];
    const { tools } = await this.#client.listTools(undefined, {
      signal,
      timeout: requestTimeoutMs,
      cacheMode: 'refresh',
    });
    return tools;
  }

  /** An abort tells the server, and does not wait for what it says to that. */
  callTool(
    name: string,
    args: JsonObject,
    options: {
      readonly signal: AbortSignal;
      readonly timeoutMs: number;
      readonly onProgress: (progress: Progress) => void;
    },
  ): Promise<CallToolResult> {
    const { signal, timeoutMs, onProgress } = options;
    return this.#client.callTool(
      { name, arguments: { ...args } },
      { signal, timeout: timeoutMs, onprogress: onProgress },
    );
  }

  async close(): Promise<void> {
    await this.#client.close().catch(() => undefined);
    await this.#transport.close();
  }
}
