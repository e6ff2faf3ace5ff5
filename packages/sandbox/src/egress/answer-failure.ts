import { STATUS_CODES } from 'node:http';
import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { HostRefused } from './host-refused.ts';
import { BadProxyRequest } from './parse-proxy-request.ts';

const lingerMs = 2000;

/** Answers a request that failed. */
export function answerRequest(response: ServerResponse, error: unknown): void {
  if (response.headersSent) {
    response.destroy();
    return;
  }
  const { status, text } = describeFailure(error);
  // After a request that could be read in two ways, so could the next one.
  if (status === 400) response.setHeader('Connection', 'close');
  response.setHeader('Content-Type', 'text/plain; charset=utf-8');
  response.writeHead(status, { 'Content-Length': Buffer.byteLength(text) }).end(text);
}

/** Answers a CONNECT that failed, and closes. */
export function answerTunnel(client: Socket, error: unknown): void {
  if (client.destroyed) return;
  const { status, text } = describeFailure(error);
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    'Connection: close',
    'Content-Type: text/plain; charset=utf-8',
    `Content-Length: ${Buffer.byteLength(text)}`,
  ];
  client.end(`${head.join('\r\n')}\r\n\r\n${text}`);
  // Closed at once, with bytes of the client unread, the answer could be lost on its way.
  client.resume();
  const late = setTimeout(() => client.destroy(), lingerMs);
  client.once('close', () => clearTimeout(late));
}

/** What the program reads instead of an answer: which host, and why not. What would change that is for operators. */
function describeFailure(error: unknown): { readonly status: number; readonly text: string } {
  if (error instanceof BadProxyRequest) return { status: 400, text: `${error.message}\n` };
  if (error instanceof HostRefused) {
    return { status: 403, text: `Sallyport does not connect to ${error.target}: ${error.message}.\n` };
  }
  if (error instanceof Error && error.name === 'TimeoutError') {
    return { status: 504, text: 'Sallyport allows the host, but it did not answer in time.\n' };
  }
  const { code = 'the connection failed' } = error as NodeJS.ErrnoException;
  return { status: 502, text: `Sallyport allows the host, but could not reach it: ${code}.\n` };
}
