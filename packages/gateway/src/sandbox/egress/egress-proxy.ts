import { createServer } from 'node:http';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Readable } from 'node:stream';
import { answerRequest, answerTunnel } from './answer-failure.ts';
import type { Dial } from './dial-checked.ts';
import { defaultEgressLimits } from './egress-limits.ts';
import type { EgressLimits } from './egress-limits.ts';
import { EgressRecord } from './egress-record.ts';
import type { EgressEvent } from './egress-record.ts';
import { forwardRequest } from './forward-request.ts';
import type { HostPattern } from './host-pattern.ts';
import type { BoundSocket } from './namespace-door.ts';
import { openTunnel } from './open-tunnel.ts';
import { Outlet } from './outlet.ts';
import { BadProxyRequest, parseProxyRequest } from './parse-proxy-request.ts';
import type { Resolve } from './resolve-checked.ts';

export interface EgressProxyOptions {
  /** What the rules grant to this call. Empty: every request is refused. */
  readonly hosts: readonly HostPattern[];
  readonly limits?: Partial<EgressLimits>;
  /** Must not throw. */
  readonly onEvent?: (event: EgressEvent) => void;
  /** Absent: as the system does it. */
  readonly resolve?: Resolve;
  readonly dial?: Dial;
}

/** A socket that is bound already, or where to bind one. */
export type ListenOn = BoundSocket | { readonly host: string; readonly port: number };

/**
 * An HTTP proxy for one call: whoever reaches it has the rights of that call and no others. Each request is checked,
 * resolved and dialled by itself, so nothing that was true for one is assumed for the next.
 */
export class EgressProxy {
  readonly #limits: EgressLimits;
  readonly #record: EgressRecord;
  readonly #outlet: Outlet;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  /** Connections of the program that wait for an answer. */
  readonly #busy = new WeakSet<Socket>();
  readonly #closing = new AbortController();
  #bytes = 0;

  constructor({ hosts, limits, onEvent, resolve, dial }: EgressProxyOptions) {
    this.#limits = { ...defaultEgressLimits, ...limits };
    this.#record = new EgressRecord(onEvent ?? (() => undefined));
    const { connectMs } = this.#limits;
    this.#outlet = new Outlet({ hosts, connectMs, record: this.#record, resolve, dial });
    this.#server = this.#createServer();
  }

  /** Connections that were opened to granted hosts. */
  get connections(): number {
    return this.#record.connections;
  }

  /** What was asked for and refused, as `host:port`, each once; at most 20. */
  get refusedHosts(): readonly string[] {
    return this.#record.refusedHosts;
  }

  /** Resolves with the port once connections are accepted. */
  listen(on: ListenOn): Promise<number> {
    return new Promise((resolve, reject) => {
      this.#server.once('error', reject);
      this.#server.listen(on, () => {
        const address = this.#server.address();
        resolve(typeof address === 'object' && address !== null ? address.port : 0);
      });
    });
  }

  /** Breaks off every connection. Nothing is sent or received afterwards. */
  close(): Promise<void> {
    this.#closing.abort(new Error('the call has ended'));
    for (const socket of this.#sockets) socket.destroy();
    return new Promise((resolve) => void this.#server.close(() => resolve()));
  }

  #createServer(): Server {
    const { connections, headerBytes, headersMs, idleMs } = this.#limits;
    const server = createServer({
      maxHeaderSize: headerBytes,
      headersTimeout: headersMs,
      connectionsCheckingInterval: Math.ceil(headersMs / 2),
      // Uploads may take as long as the call may.
      requestTimeout: 0,
      insecureHTTPParser: false,
      noDelay: true,
    });
    server.maxConnections = connections;
    // The size is limited; a limit of their number would drop the rest in silence.
    server.maxHeadersCount = 0;
    server.setTimeout(idleMs);
    server.on('connection', (socket) => this.#track(socket));
    server.on('drop', () => this.#record.noteLimit('connections', `more than ${connections} at once`));
    // One connection that could not be accepted must not end all calls.
    server.on('error', (error) => this.#record.noteLimit('system', error.message));
    server.on('request', (request, response) => void this.#forward(request, response));
    server.on('connect', (request, socket: Socket, head) => void this.#tunnel(request, socket, head));
    return server;
  }

  async #tunnel(request: IncomingMessage, client: Socket, head: Buffer): Promise<void> {
    try {
      const upstream = await this.#connect(client, request.url ?? '');
      client.setTimeout(this.#limits.idleMs, () => client.destroy());
      openTunnel(client, upstream, head);
      this.#meter(client);
      this.#meter(upstream);
    } catch (error) {
      answerTunnel(client, error);
    }
  }

  async #forward(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const client = request.socket;
    try {
      // Otherwise one connection could open any number of others, before the first answer is there.
      if (this.#busy.has(client)) throw new BadProxyRequest('Wait for the answer before the next request.');
      this.#busy.add(client);
      response.once('close', () => this.#busy.delete(client));
      const parsed = parseProxyRequest(request);
      const upstream = await this.#connect(client, parsed.authority, { defaultPort: 80 });
      this.#meter(request);
      this.#meter(upstream);
      await forwardRequest(request, response, upstream, parsed, { maxHeaderBytes: this.#limits.headerBytes });
    } catch (error) {
      answerRequest(response, error);
    }
  }

  async #connect(client: Socket, authority: string, options: { readonly defaultPort?: number } = {}): Promise<Socket> {
    const gone = new AbortController();
    const leave = (): void => gone.abort(new Error('the program hung up'));
    client.once('close', leave);
    try {
      const signal = AbortSignal.any([this.#closing.signal, gone.signal]);
      const upstream = await this.#outlet.connect(authority, signal, options);
      this.#track(upstream);
      return upstream;
    } finally {
      client.removeListener('close', leave);
    }
  }

  /** From here on the socket is closed with the call at the latest, and its errors end nothing but itself. */
  #track(socket: Socket): void {
    this.#sockets.add(socket);
    socket.on('error', () => socket.destroy());
    socket.once('close', () => this.#sockets.delete(socket));
    if (this.#closing.signal.aborted) socket.destroy();
  }

  #meter(source: Readable): void {
    const { bytes: most } = this.#limits;
    if (most === undefined) return;
    source.on('data', (chunk: Buffer) => {
      this.#bytes += chunk.length;
      if (this.#bytes <= most) return;
      this.#record.noteLimit('bytes', `more than ${most} in all`);
      void this.close();
    });
  }
}
