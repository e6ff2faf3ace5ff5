import { createServer, STATUS_CODES } from 'node:http';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Readable } from 'node:stream';
import type { NetworkEvent, NetworkLog } from '../network-log.ts';
import { answerRequest, answerTunnel } from './answer-failure.ts';
import type { Dial } from './dial-checked.ts';
import { defaultEgressLimits } from './egress-limits.ts';
import type { EgressLimits } from './egress-limits.ts';
import { EgressRecord } from './egress-record.ts';
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
  /** Called with the outcome of every request, in groups. Must not throw. */
  readonly onEvents?: (events: readonly NetworkEvent[]) => void;
  /** Absent: as the system does it. */
  readonly resolve?: Resolve;
  readonly dial?: Dial;
}

/** A socket that is bound already, or where to bind one. */
export type ListenOn = BoundSocket | { readonly host: string; readonly port: number };

/** Of requests that could not be read. */
const unreadStatus: Readonly<Record<string, number>> = {
  HPE_HEADER_OVERFLOW: 431,
  HPE_CHUNK_EXTENSIONS_OVERFLOW: 413,
  ERR_HTTP_REQUEST_TIMEOUT: 408,
};

/**
 * An HTTP proxy for one call: anyone who reaches it has the rights of that call and no others. Each request is checked,
 * resolved and dialled by itself, so nothing that was true for one is assumed for the next.
 */
export class EgressProxy {
  readonly #limits: EgressLimits;
  readonly #record: EgressRecord;
  readonly #outlet: Outlet;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  /** Connections of the program that wait for an answer, which is this. */
  readonly #busy = new WeakMap<Socket, ServerResponse>();
  readonly #closing = new AbortController();
  #bytes = 0;

  constructor({ hosts, limits, onEvents, resolve, dial }: EgressProxyOptions) {
    this.#limits = { ...defaultEgressLimits, ...limits };
    this.#record = new EgressRecord(onEvents ?? (() => undefined));
    const { connectMs } = this.#limits;
    this.#outlet = new Outlet({ hosts, connectMs, record: this.#record, resolve, dial });
    this.#server = this.#createServer();
  }

  /** Connections that were opened to granted hosts. */
  get connections(): number {
    return this.#record.connections;
  }

  /** All requests so far. */
  get log(): NetworkLog {
    return this.#record.log;
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

  /** Reports all requests so far at once. */
  flush(): void {
    this.#record.flush();
  }

  /** Breaks off every connection. Afterwards nothing is sent or received, and everything has been reported. */
  async close(): Promise<void> {
    this.#closing.abort(new Error('the call has ended'));
    for (const socket of this.#sockets) socket.destroy();
    await new Promise<void>((resolve) => void this.#server.close(() => resolve()));
    this.#record.flush();
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
      // It is missed by us, on record.
      requireHostHeader: false,
      noDelay: true,
    });
    server.maxConnections = connections;
    // The size is limited; a limit of their number would drop the rest in silence.
    server.maxHeadersCount = 0;
    server.setTimeout(idleMs);
    server.on('connection', (socket) => this.#track(socket));
    server.on('drop', () => this.#record.noteLimit(`more than ${connections} connections at once`));
    // One connection that could not be accepted must not end all calls.
    server.on('error', (error) => this.#record.noteLimit(error.message));
    server.on('request', (request, response) => void this.#forward(request, response));
    server.on('checkExpectation', (request, response) => void this.#forward(request, response));
    server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => this.#refuseUnread(error, socket));
    server.on('connect', (request, socket: Socket, head) => void this.#tunnel(request, socket, head));
    return server;
  }

  /** As Node does it, but recorded: a program sent a request that the parser could not read. */
  #refuseUnread({ code = '' }: NodeJS.ErrnoException, client: Socket): void {
    const response = this.#busy.get(client);
    if (response === undefined && code.startsWith('HPE_')) this.#record.noteBadRequest('');
    if (!client.writable || response?.headersSent === true) {
      client.destroy();
      return;
    }
    const status = unreadStatus[code] ?? 400;
    client.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nConnection: close\r\n\r\n`);
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
      this.#busy.set(client, response);
      response.once('close', () => this.#busy.delete(client));
      const parsed = parseProxyRequest(request);
      const upstream = await this.#connect(client, parsed.authority, { defaultPort: 80 });
      this.#meter(request);
      this.#meter(upstream);
      await forwardRequest(request, response, upstream, parsed, { maxHeaderBytes: this.#limits.headerBytes });
    } catch (error) {
      if (error instanceof BadProxyRequest) this.#record.noteBadRequest(request.url ?? '');
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
      this.#record.noteLimit(`more than ${most} bytes in all`);
      void this.close();
    });
  }
}
