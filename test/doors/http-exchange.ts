import { Agent, request } from 'node:http';
import type { IncomingHttpHeaders, OutgoingHttpHeaders, RequestOptions } from 'node:http';
import { connect } from 'node:net';
import type { Socket } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { executeToolPath } from './echo-doors.ts';

export interface HttpAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

export interface HttpQuestion {
  readonly method?: string;
  readonly path?: string;
  readonly headers?: OutgoingHttpHeaders;
  readonly body?: string | Uint8Array;
}

/** A port of loopback, or the path of a unix socket. */
export type Target = number | string;

const agent = new Agent({ keepAlive: false });

/** One HTTP/1.1 request through node's own client. */
export function askHttp(target: Target, question: HttpQuestion = {}): Promise<HttpAnswer> {
  const where: RequestOptions =
    typeof target === 'number' ? { host: '127.0.0.1', port: target } : { socketPath: target };
  const { method = 'POST', path = executeToolPath, headers = {}, body } = question;
  return new Promise((resolve, reject) => {
    const asked = request({ ...where, method, path, headers, agent }, (response) => {
      buffer(response).then(
        (read) => resolve({ status: response.statusCode ?? 0, headers: response.headers, body: read }),
        reject,
      );
    });
    asked.on('error', reject);
    asked.end(body);
  });
}

/** A Connect call with JSON in and out. */
export async function askJson(target: Target, message: unknown, question: HttpQuestion = {}) {
  const body = typeof message === 'string' ? message : JSON.stringify(message);
  const headers = { 'content-type': 'application/json', ...question.headers };
  const answer = await askHttp(target, { ...question, headers, body });
  return { ...answer, json: JSON.parse(answer.body.toString()) as Record<string, unknown> };
}

/** A plain connection, for what no client library would send. */
export async function openSocket(target: Target): Promise<Socket> {
  const socket = typeof target === 'number' ? connect(target, '127.0.0.1') : connect(target);
  socket.on('error', () => {});
  await new Promise((resolve, reject) => {
    socket.once('connect', resolve);
    socket.once('error', reject);
  });
  return socket;
}

/** Everything the other side says until it hangs up, or until `enough` of it has come. */
export function readSocket(socket: Socket, enough: (text: string) => boolean = () => false): Promise<string> {
  return new Promise((resolve) => {
    let text = '';
    socket.on('data', (chunk: Buffer) => {
      text += chunk.toString('latin1');
      if (enough(text)) resolve(text);
    });
    socket.on('close', () => resolve(text));
  });
}

/** The text of one HTTP/1.1 request, for a plain connection. */
export function writeRequest(port: number, message: unknown, headers: Readonly<Record<string, string>> = {}): string {
  const body = JSON.stringify(message);
  const lines = Object.entries({
    host: `127.0.0.1:${port}`,
    'content-type': 'application/json',
    'content-length': String(Buffer.byteLength(body)),
    ...headers,
  }).map(([name, value]) => `${name}: ${value}\r\n`);
  return `POST ${executeToolPath} HTTP/1.1\r\n${lines.join('')}\r\n${body}`;
}
