import type { IncomingHttpHeaders } from 'node:http2';
import type { Socket } from 'node:net';
import type { Connection } from './connection.ts';
import type { DoorContext } from './door-context.ts';
import { Http2Reply } from './http2/reply.ts';
import { Http2Session } from './http2/session.ts';
import { findRepeatedHeader, serveHttp } from './serve-http.ts';
import { limitArrival } from './limit-arrival.ts';
import { findDuplex, serveConnectDuplex } from './serve-connect-duplex.ts';
import { serveGrpc } from './serve-grpc.ts';

/** Speaks HTTP/2 on a socket: gRPC, and everything that HTTP/1.1 serves too. Closes the session when it idles. */
export function serveHttp2(socket: Socket, connection: Connection, context: DoorContext): Http2Session {
  const { limits } = context;
  // The HTTP/1.1 server accepts its sockets half open; here the other end's goodbye is the end of all calls.
  socket.allowHalfOpen = false;
  let isClosing = false;
  const idle = setTimeout(() => {
    // Counting requests, not bytes: pings and dribbled headers do not keep a connection.
    if (!connection.idle) return;
    // All is answered, but somebody who does not take the answers would keep them here for ever.
    if (isClosing) return void socket.destroy();
    isClosing = true;
    session.close();
    idle.refresh();
  }, limits.idleTimeoutMs).unref();
  socket.on('close', () => clearTimeout(idle));
  /** The last head of a gRPC call that was looked at: most calls of a connection have the very same. */
  let sound: IncomingHttpHeaders | undefined;
  const session = new Http2Session({
    socket,
    maxStreams: limits.maxExchangesPerConnection,
    maxListBytes: limits.maxHeaderBytes,
    onStream: (stream) => {
      const { headers, rawHeaders } = stream;
      if (headers === sound) return void serveGrpc({ context, connection, stream, headers });
      const duplex = findDuplex(headers, context.methods);
      if (duplex !== undefined || isGrpc(headers)) {
        if (findRepeatedHeader(rawHeaders) === undefined && context.origin.refusalOf(headers) === undefined) {
          const call = { context, connection, stream, headers };
          if (duplex !== undefined) return void serveConnectDuplex(call, duplex);
          sound = headers;
          return void serveGrpc(call);
        }
      }
      limitArrival(stream, limits.requestTimeoutMs);
      void serveHttp({ context, connection, request: stream, response: new Http2Reply(stream) });
    },
    onStreamEnd: () => void idle.refresh(),
    onFault: (error) => context.log({ message: 'Serving a connection failed.', error }),
  });
  session.begin();
  return session;
}

function isGrpc(headers: IncomingHttpHeaders): boolean {
  const type = headers['content-type'];
  return (type === 'application/grpc' || type === 'application/grpc+proto') && headers[':method'] === 'POST';
}
