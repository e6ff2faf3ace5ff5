import type { IncomingMessage, ServerResponse } from 'node:http';
import type { IncomingHttpHeaders, ServerHttp2Session, ServerHttp2Stream } from 'node:http2';
import type { Socket } from 'node:net';
import type { Connection } from './connection.ts';
import type { DoorContext } from './door-context.ts';
import { findRepeatedHeader, serveHttp } from './serve-http.ts';
import { limitArrival } from './limit-arrival.ts';
import { findDuplex, serveConnectDuplex } from './serve-connect-duplex.ts';
import { serveGrpc } from './serve-grpc.ts';
import type { TransportLimits } from './transport-limits.ts';

/** Speaks HTTP/2 on a socket: gRPC, and everything that HTTP/1.1 serves too. Closes the session when it idles. */
export function serveHttp2(socket: Socket, connection: Connection, context: DoorContext): ServerHttp2Session {
  // Loaded with the first connection that needs it: 25 ms that the start of the daemon does not wait for.
  const { Http2ServerRequest, Http2ServerResponse, performServerHandshake } = process.getBuiltinModule('node:http2');
  const { limits } = context;
  // The HTTP/1.1 server accepts its sockets half open; here the other end's goodbye is the end of all calls.
  socket.allowHalfOpen = false;
  const session = performServerHandshake(socket, sessionOptions(limits));
  const idle = setTimeout(() => {
    // Counting requests, not bytes: pings and dribbled headers do not keep a connection.
    if (connection.idle) session.close();
  }, limits.idleTimeoutMs).unref();
  // Hostile bytes end in an error of the session or of a stream. Both close by themselves.
  session.on('error', ignore);
  session.on('close', () => clearTimeout(idle));
  const postponeIdle = () => idle.refresh();
  session.on('stream', (stream: ServerHttp2Stream, headers: IncomingHttpHeaders, _flags: number, raw: string[]) => {
    stream.on('error', ignore);
    stream.on('close', () => {
      postponeIdle();
      stream.removeAllListeners();
      stream.on('error', ignore);
    });
    const duplex = findDuplex(headers, context.methods);
    if (duplex !== undefined || isGrpc(headers)) {
      if (findRepeatedHeader(raw) === undefined && context.origin.refusalOf(headers) === undefined) {
        const call = { context, connection, stream, headers };
        void (duplex === undefined ? serveGrpc(call) : serveConnectDuplex(call, duplex));
        return;
      }
    }
    limitArrival(stream, limits.requestTimeoutMs);
    // Node promises that these two can replace the classes of HTTP/1.1.
    const request = new Http2ServerRequest(stream, headers, {}, raw) as unknown as IncomingMessage;
    const response = new Http2ServerResponse(stream) as unknown as ServerResponse;
    void serveHttp({ context, connection, request, response });
  });
  return session;
}

const ignore = () => {};

function sessionOptions(limits: TransportLimits) {
  return {
    maxSessionMemory: 2 * Math.ceil(limits.maxMessageBytes / 1e6),
    settings: {
      maxConcurrentStreams: limits.maxExchangesPerConnection,
      maxHeaderListSize: limits.maxHeaderBytes,
    },
  };
}

function isGrpc(headers: IncomingHttpHeaders): boolean {
  const type = headers['content-type'];
  return (type === 'application/grpc' || type === 'application/grpc+proto') && headers[':method'] === 'POST';
}
