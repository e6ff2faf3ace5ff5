import { once } from 'node:events';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo, ListenOptions, Socket } from 'node:net';
import { messageLine } from '@sallyport/contract/message-line';
import type { Door } from '../../call/call.ts';
import { Connection } from './connection.ts';
import { ConnectionPlaces } from './connection-places.ts';
import type { Occupant } from './connection-places.ts';
import type { DoorContext } from './door-context.ts';
import { bearerOf } from './exchange.ts';
import type { TakeMessage } from './http-route.ts';
import { MessageLine } from './message-line.ts';
import { openPlainLane } from './plain-lane.ts';
import { findRepeatedHeader, serveHttp } from './serve-http.ts';
import { serveHttp2 } from './serve-http2.ts';
import { tellProtocol } from './wire/tell-protocol.ts';
import type { TransportLimits } from './transport-limits.ts';

// An `import` would read every export of the module, and some of them load a whole web client: 50 ms at each start.
const { createServer, STATUS_CODES } = process.getBuiltinModule('node:http');

/** One listening socket that speaks HTTP/1.1 and HTTP/2, and the connections it has accepted. */
export class DoorListener {
  readonly #door: Door;
  readonly #limits: TransportLimits;
  readonly #server: Server;
  readonly #places: ConnectionPlaces;
  /** Undefined: the protocol is not known yet. */
  readonly #connections = new Map<Socket, Connection | undefined>();
  #context: DoorContext | undefined;

  constructor(door: Door, limits: TransportLimits, maxConnections: number) {
    this.#door = door;
    this.#limits = limits;
    this.#places = new ConnectionPlaces(maxConnections);
    this.#server = this.#createServer();
  }

  /** Rejects with the error of the system call. Until `serve` is called, connections are refused. */
  async listen(options: ListenOptions): Promise<AddressInfo | string | null> {
    this.#server.listen(options);
    await once(this.#server, 'listening');
    return this.#server.address();
  }

  serve(context: DoorContext): void {
    this.#context = context;
    this.#server.on('error', (error) => context.log({ message: `Accepting at ${this.#door} failed.`, error }));
  }

  /** Accepts nothing more, lets open exchanges finish for `graceMs`, and then cuts what is left. */
  async close(graceMs: number): Promise<void> {
    const closed = new Promise((resolve) => this.#server.close(resolve));
    for (const [socket, connection] of this.#connections) {
      if (connection === undefined) socket.destroy();
      else connection.stop();
    }
    const cut = setTimeout(() => {
      for (const [socket, connection] of this.#connections) {
        connection?.abort('unavailable', 'Sallyport is stopping.');
        socket.destroy();
      }
    }, graceMs);
    await closed;
    clearTimeout(cut);
  }

  /**
   * The HTTP/1.1 server does the listening, because its timeouts run only then; its own reaction to a connection is
   * put behind the look at the first bytes.
   */
  #createServer(): Server {
    const limits = this.#limits;
    const server = createServer({
      maxHeaderSize: limits.maxHeaderBytes,
      headersTimeout: limits.headersTimeoutMs,
      requestTimeout: limits.requestTimeoutMs,
      keepAliveTimeout: limits.idleTimeoutMs,
      connectionsCheckingInterval: limits.timeoutCheckMs,
      // Clients offer other protocols as well, such as HTTP/2, and are answered in this one.
      shouldUpgradeCallback: (request) => this.#findLine(request) !== undefined,
    });
    const [speakHttp1] = server.listeners('connection');
    server.removeAllListeners('connection');
    server.on('connection', (socket) => this.#accept(socket, () => speakHttp1?.call(server, socket)));
    server.on('request', (request, response) => this.#serveHttp1(request, response));
    server.on('upgrade', (request, _socket, head) => this.#serveMessages(request, head));
    return server;
  }

  #accept(socket: Socket, speakHttp1: () => void): void {
    this.#connections.set(socket, undefined);
    const occupant: Occupant = {
      isIdle: () => this.#connections.get(socket)?.idle ?? true,
      evict: () => socket.destroy(),
    };
    socket.on('error', () => {});
    socket.once('close', () => {
      this.#places.leave(occupant);
      this.#connections.get(socket)?.abort('canceled', 'The caller went away.');
      this.#connections.delete(socket);
    });
    this.#places.enter(occupant);
    tellProtocol(socket, this.#limits.firstBytesTimeoutMs, (protocol) => {
      const context = this.#context;
      if (context === undefined) {
        socket.destroy();
      } else if (protocol === 'http/2') {
        const connection = this.#connect(socket, occupant, context, () => session.close());
        const session = serveHttp2(socket, connection, context);
      } else {
        const connection = this.#connect(socket, occupant, context, () => socket.end(() => socket.destroy()));
        openPlainLane(socket, connection, context, speakHttp1);
      }
    });
  }

  #serveHttp1(request: IncomingMessage, response: ServerResponse): void {
    const connection = this.#connections.get(request.socket);
    if (this.#context === undefined || connection === undefined) {
      response.destroy();
      return;
    }
    void serveHttp({ context: this.#context, connection, request, response });
  }

  /** What takes messages, if the request asks for a line of them, is in order, and brings an accepted credential. */
  #findLine({ socket, headers, rawHeaders, method = '', url = '' }: IncomingMessage): TakeMessage | undefined {
    const context = this.#context;
    if (context === undefined || this.#connections.get(socket)?.stopping !== false) return undefined;
    if (headers.upgrade !== messageLine.protocol || findRepeatedHeader(rawHeaders) !== undefined) return undefined;
    if (context.origin.refusalOf(headers) !== undefined) return undefined;
    if (context.callers.identify(this.#door, bearerOf(headers.authorization)) === undefined) return undefined;
    return context.routes.get(url)?.get(method)?.takeMessage;
  }

  #serveMessages(request: IncomingMessage, head: Buffer): void {
    const { socket, headers, url: path = '' } = request;
    const [take, connection] = [this.#findLine(request), this.#connections.get(socket)];
    if (take === undefined || connection === undefined) {
      socket.destroy();
      return;
    }
    socket.write(
      `HTTP/1.1 101 ${STATUS_CODES[101]}\r\nconnection: upgrade\r\nupgrade: ${messageLine.protocol}\r\n\r\n`,
    );
    new MessageLine({ socket, connection, headers, path, take }).begin(head);
  }

  #connect(socket: Socket, occupant: Occupant, context: DoorContext, hangUp: () => void): Connection {
    const door = this.#door;
    const source = door === 'tcp' ? (socket.remoteAddress ?? 'unknown') : unixSources[door];
    const onRecognised = (owner: string): void => this.#places.recognise(occupant, owner);
    const connection = new Connection({ door, source, context, hangUp, onRecognised });
    this.#connections.set(socket, connection);
    return connection;
  }
}

const unixSources = { 'operator-socket': 'unix:operator', 'agent-socket': 'unix:agent' } as const;
