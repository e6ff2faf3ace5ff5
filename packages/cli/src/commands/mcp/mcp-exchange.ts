import type { Agent, IncomingMessage } from 'node:http';
import type { Target } from '@sallyport/contract/http-transport';

// Importing node:http as a module reads every export, which loads the whole fetch stack behind some of them: 35 ms.
const http = process.getBuiltinModule('node:http');

/** Where the daemon is, and who asks. */
export interface McpTarget {
  readonly target: Target;
  readonly credential: string;
}

export interface McpRequest {
  readonly method: 'POST' | 'GET' | 'DELETE';
  readonly headers: Readonly<Record<string, string>>;
  /** One message of JSON-RPC, as the client wrote it. */
  readonly body?: string;
  /** Aborting closes the connection, by which the daemon cancels the call. */
  readonly signal: AbortSignal;
}

/** The daemon's answer: its messages come one by one, and are waited for. */
export interface McpAnswer {
  readonly status: number;
  readonly sessionId: string | undefined;
  readonly messages: AsyncIterable<string>;
}

const mostMessageBytes = 64 * 1024 * 1024;

/** Speaks Streamable HTTP with the daemon. Connections are kept for further requests. */
export class McpExchange {
  readonly #target: McpTarget;
  readonly #agent: Agent;

  constructor(target: McpTarget) {
    this.#target = target;
    this.#agent = new http.Agent({ keepAlive: true });
  }

  /** Rejects with the error of the system, and when the signal aborts. */
  send({ method, headers, body, signal }: McpRequest): Promise<McpAnswer> {
    const { target, credential } = this.#target;
    const where = 'path' in target ? { socketPath: target.path } : target;
    return new Promise((resolve, reject) => {
      const request = http.request({
        ...{ ...where, method, signal, agent: this.#agent },
        path: '/mcp',
        headers: {
          accept: 'application/json, text/event-stream',
          authorization: `Bearer ${credential}`,
          ...(body === undefined
            ? {}
            : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }),
          ...headers,
        },
      });
      request.on('error', reject);
      request.on('response', (response) => resolve(describeAnswer(response)));
      request.end(body);
    });
  }

  close(): void {
    this.#agent.destroy();
  }
}

function describeAnswer(response: IncomingMessage): McpAnswer {
  const { 'content-type': type = '', 'mcp-session-id': sessionId } = response.headers;
  return {
    status: response.statusCode ?? 0,
    sessionId: typeof sessionId === 'string' ? sessionId : undefined,
    messages: type.startsWith('text/event-stream') ? readEvents(response) : readWhole(response),
  };
}

async function* readWhole(response: IncomingMessage): AsyncGenerator<string> {
  let text = '';
  for await (const chunk of response.setEncoding('utf8') as AsyncIterable<string>) text = checked(text + chunk);
  if (text !== '') yield text;
}

/** The data of each event, which is one message. Comments only keep the connection alive. */
async function* readEvents(response: IncomingMessage): AsyncGenerator<string> {
  let text = '';
  for await (const chunk of response.setEncoding('utf8') as AsyncIterable<string>) {
    const events = checked(text + chunk).split('\n\n');
    text = events.pop() ?? '';
    for (const event of events) {
      const data = event
        .split('\n')
        .filter((line) => line.startsWith('data:'))
        .map((line) => line.slice('data:'.length).trimStart());
      if (data.length > 0) yield data.join('\n');
    }
  }
}

function checked(text: string): string {
  if (text.length > mostMessageBytes) throw new Error('the daemon sent a message that is too long');
  return text;
}
