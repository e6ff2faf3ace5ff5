import { once } from 'node:events';
import { createServer } from 'node:http';
import type { IncomingHttpHeaders, IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { gunzipSync } from 'node:zlib';

export interface ReceivedSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly traceState?: string;
  readonly name: string;
  readonly kind: number;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  /** By their keys. */
  readonly attributes: Readonly<Record<string, string>>;
  readonly status: { readonly code?: number; readonly message?: string };
}

/** What the receiver does with a request. A number: the status of its answer. */
export type Behaviour = 'take' | 'hang' | 'tear' | number;

/** A receiver of OTLP over HTTP in JSON, as a collector is one. It fails for requests that are not of that form. */
export class OtlpReceiver {
  readonly #server: Server;
  readonly spans: ReceivedSpan[] = [];
  /** All that came, as it came, without compression. */
  readonly bodies: string[] = [];
  readonly headers: IncomingHttpHeaders[] = [];
  readonly faults: string[] = [];
  resource: Readonly<Record<string, string>> = {};
  behaviour: Behaviour = 'take';
  /** How many spans of each request it says it did not take. */
  rejects = 0;

  private constructor() {
    this.#server = createServer((request, response) => void this.#receive(request, response));
  }

  static async open(port = 0): Promise<OtlpReceiver> {
    const receiver = new OtlpReceiver();
    receiver.#server.listen(port, '127.0.0.1');
    await once(receiver.#server, 'listening');
    return receiver;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  /** Waits until a span is there that is meant. */
  async find(isMeant: (span: ReceivedSpan) => boolean): Promise<ReceivedSpan> {
    for (const untilMs = Date.now() + 60_000; Date.now() < untilMs; await new Promise((go) => setTimeout(go, 20))) {
      const found = this.spans.find(isMeant);
      if (found !== undefined) return found;
    }
    throw new Error(`no such span among ${JSON.stringify(this.spans.slice(-20))}, ${JSON.stringify(this.faults)}`);
  }

  async close(): Promise<void> {
    if (!this.#server.listening) return;
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, 'close');
  }

  async #receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const bytes = await buffer(request).catch(() => undefined);
    if (bytes === undefined || this.behaviour === 'hang') return;
    if (this.behaviour === 'tear') return void request.socket.destroy();
    if (typeof this.behaviour === 'number') return void response.writeHead(this.behaviour).end('{}');
    const { method, url, headers } = request;
    const isRight = method === 'POST' && url === '/v1/traces' && headers['content-type'] === 'application/json';
    if (!isRight) this.faults.push(`${method} ${url} ${headers['content-type']}`);
    this.headers.push(headers);
    const body = (headers['content-encoding'] === 'gzip' ? gunzipSync(bytes) : bytes).toString();
    this.bodies.push(body);
    this.#read(JSON.parse(body) as Exported);
    response
      .writeHead(200, { 'content-type': 'application/json' })
      .end(JSON.stringify({ partialSuccess: { rejectedSpans: String(this.rejects) } }));
  }

  #read({ resourceSpans }: Exported): void {
    for (const { resource, scopeSpans } of resourceSpans) {
      this.resource = readAttributes(resource.attributes);
      for (const { spans } of scopeSpans)
        this.spans.push(...spans.map((span) => ({ ...span, attributes: readAttributes(span.attributes) })));
    }
  }
}

type Attributes = readonly { readonly key: string; readonly value: { readonly stringValue?: string } }[];

interface Exported {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: Attributes };
    readonly scopeSpans: readonly {
      readonly spans: readonly (Omit<ReceivedSpan, 'attributes'> & { readonly attributes: Attributes })[];
    }[];
  }[];
}

function readAttributes(attributes: Attributes): Record<string, string> {
  return Object.fromEntries(attributes.map(({ key, value }) => [key, value.stringValue ?? '']));
}
