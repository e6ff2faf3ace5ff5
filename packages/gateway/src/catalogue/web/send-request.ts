import { request as openRequest } from 'node:http';
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { EgressRecord, Outlet, parseHostPattern, resolveBySystem } from '@sallyport/sandbox';
import type { Dial, NetworkEvent, Resolve } from '@sallyport/sandbox';
import { takeTurns } from './take-turns.ts';
import type { WebAddress } from './web-address.ts';

export interface WebRequest {
  readonly method: string;
  readonly address: WebAddress;
  readonly headers: Readonly<Record<string, string>>;
  /** Absent: the request has none. */
  readonly body?: Uint8Array | undefined;
}

/** How requests leave the machine. What is absent is as the system does it; tests put their own network there. */
export interface WayOut {
  readonly resolve?: Resolve;
  readonly dial?: Dial;
  /** Which hosts of the operator are told the span of a call. Absent: none, because it would tell strangers which requests belong together. */
  readonly isTraced?: (authority: string) => boolean;
  /** Authorities that are trusted instead of the usual ones, in PEM. */
  readonly ca?: string;
}

export interface SendOptions extends WayOut {
  /** Machines of the own network that may be reached, as in `Grants.hosts`. */
  readonly granted: readonly string[];
  readonly signal: AbortSignal;
  readonly noteNetwork: (events: readonly NetworkEvent[]) => void;
  /** Of the call. Absent: nobody follows the trace. */
  readonly traceparent?: string | undefined;
  /** Called before the first byte leaves. Absent: nobody has to know. */
  readonly onConnected?: () => void;
}

const connectMs = 10_000;
/** Of all calls together. */
const resolveInTurn = takeTurns(resolveBySystem, 2);
const maxHeaderBytes = 32 * 1024;

/**
 * Sends one request through the egress gate, on a connection of its own, and resolves with the answer, whose body is
 * still to be read. A name is resolved once and leads to public addresses only.
 *
 * Throws HostRefused where the gate does not connect. The signal ends the request and the reading of its answer.
 */
export async function sendRequest(request: WebRequest, options: SendOptions): Promise<IncomingMessage> {
  const { address } = request;
  const { signal, granted } = options;
  const record = new EgressRecord(options.noteNetwork);
  // A name was judged by the rules; a machine of the own network has to be granted in so many words.
  const hosts = [...granted, ...(address.isAddress ? [] : [address.authority])].map(parseHostPattern);
  const outlet = new Outlet({
    hosts,
    connectMs,
    record,
    resolve: options.resolve ?? resolveInTurn,
    dial: options.dial,
  });
  let socket: Socket;
  try {
    socket = await outlet.connect(address.authority, signal);
  } finally {
    record.flush();
  }
  options.onConnected?.();
  const traced = options.traceparent !== undefined && options.isTraced?.(address.authority) === true;
  const headers = traced ? { ...request.headers, traceparent: options.traceparent ?? '' } : request.headers;
  return exchange({ ...request, headers }, address.isSecure ? secure(socket, address, options) : socket, signal);
}

function secure(socket: Socket, { host, isAddress }: WebAddress, { ca }: WayOut): Socket {
  return connectTls({
    socket,
    ALPNProtocols: ['http/1.1'],
    ...(isAddress && host !== 'localhost' ? { host: host.replaceAll(/[[\]]/g, '') } : { servername: host, host }),
    ...(ca === undefined ? {} : { ca }),
  });
}

function exchange({ method, address, headers, body }: WebRequest, socket: Socket, signal: AbortSignal) {
  const { url } = address;
  return new Promise<IncomingMessage>((resolve, reject) => {
    const outgoing = openRequest({
      createConnection: () => socket,
      method,
      path: `${url.pathname}${url.search}`,
      headers: {
        ...headers,
        host: url.host,
        connection: 'close',
        ...(body === undefined ? {} : { 'content-length': body.length }),
      },
      maxHeaderSize: maxHeaderBytes,
      insecureHTTPParser: false,
      signal,
    });
    outgoing.on('error', (error) => {
      socket.destroy();
      reject(error);
    });
    outgoing.once('upgrade', () => outgoing.destroy(new Error('the host changed the protocol')));
    outgoing.once('response', (answer) => {
      answer.once('close', () => socket.destroy());
      resolve(answer);
    });
    outgoing.end(body);
  });
}
