import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import type { TestContext } from 'node:test';
import { EgressProxy } from './egress-proxy.ts';
import type { EgressProxyOptions } from './egress-proxy.ts';
import { parseHostPattern } from './host-pattern.ts';

export const publicAddress = '93.184.216.34';

/** A host of the internet, on loopback: `serve` gets each connection, and `received` is all that came in. */
export class FakeHost {
  readonly port: number;
  readonly connections: Socket[] = [];
  received = '';

  private constructor(port: number) {
    this.port = port;
  }

  static async open(t: TestContext, serve: (socket: Socket) => void): Promise<FakeHost> {
    const server = createServer({ allowHalfOpen: true });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const host = new FakeHost((server.address() as AddressInfo).port);
    server.on('connection', (socket) => {
      host.connections.push(socket);
      socket.on('error', () => socket.destroy());
      socket.on('data', (chunk) => (host.received += chunk.toString('latin1')));
      serve(socket);
    });
    t.after(async () => {
      for (const socket of host.connections) socket.destroy();
      await new Promise((resolve) => void server.close(resolve));
    });
    return host;
  }
}

/** Answers every connection with the same text, as soon as it has sent something. */
export function answering(text: string): (socket: Socket) => void {
  return (socket) => void socket.once('data', () => socket.end(text, 'latin1'));
}

export const helloAnswer = 'HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello';

export interface OpenProxy {
  readonly proxy: EgressProxy;
  readonly port: number;
  /** Addresses and ports that were dialled. */
  readonly dialled: string[];
}

/** A proxy for whom every name leads to a public address, and every address to `host`. */
export async function openProxy(
  t: TestContext,
  host: FakeHost | undefined,
  options: Partial<Omit<EgressProxyOptions, 'hosts'>> & { readonly hosts?: readonly string[] } = {},
): Promise<OpenProxy> {
  const dialled: string[] = [];
  const proxy = new EgressProxy({
    resolve: () => Promise.resolve([publicAddress]),
    dial: (address, port) => {
      dialled.push(`${address} ${port}`);
      return connect({ host: '127.0.0.1', port: host?.port ?? 1, allowHalfOpen: true });
    },
    ...options,
    hosts: (options.hosts ?? ['*.example.com']).map(parseHostPattern),
  });
  const port = await proxy.listen({ host: '127.0.0.1', port: 0 });
  t.after(() => proxy.close());
  return { proxy, port, dialled };
}

export async function openClient(t: TestContext, { port }: OpenProxy): Promise<Socket> {
  const socket = connect({ host: '127.0.0.1', port, allowHalfOpen: true });
  socket.on('error', () => socket.destroy());
  t.after(() => socket.destroy());
  await once(socket, 'connect');
  return socket;
}

/** Sends bytes and returns all that came back until the other side closed. */
export async function exchange(t: TestContext, proxy: OpenProxy, sent: string): Promise<string> {
  const client = await openClient(t, proxy);
  client.write(sent, 'latin1');
  return readToEnd(client);
}

export async function readToEnd(socket: Socket): Promise<string> {
  let text = '';
  socket.on('data', (chunk) => (text += chunk.toString('latin1')));
  await new Promise((resolve) => socket.once('end', resolve).once('close', resolve));
  return text;
}

/** Reads until the text ends so. */
export async function readUntil(socket: Socket, ending: string): Promise<string> {
  let text = '';
  while (!text.endsWith(ending)) {
    const [chunk] = (await once(socket, 'data')) as [Buffer];
    text += chunk.toString('latin1');
  }
  return text;
}

/** A request in absolute form, for an exchange that ends with its answer. */
export function get(url: string, ...headers: string[]): string {
  const { host } = new URL(url);
  return [`GET ${url} HTTP/1.1`, `Host: ${host}`, 'Connection: close', ...headers, '', ''].join('\r\n');
}

export const established = 'HTTP/1.1 200 Connection established\r\n\r\n';
