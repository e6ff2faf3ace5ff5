import type { IncomingMessage, ServerResponse } from 'node:http';

/** The request as the SDK takes it, without its body, which has been read. Throws for a host that is none. */
export function toWebRequest(request: IncomingMessage, signal: AbortSignal): Request {
  const { method = 'GET', url = '/', headers } = request;
  const named = Object.entries(headers).filter(([name, value]) => value !== undefined && !name.startsWith(':'));
  const single = named.map(([name, value]): [string, string] => [name, String(value)]);
  return new Request(new URL(url, 'http://localhost'), { method, headers: single, signal });
}

/**
 * Sends the answer of the SDK: its head at once, because a stream may have nothing to say for long, and no more of its
 * body than the reader takes. Resolves when all of it is sent or the reader has gone.
 */
export async function sendWebResponse(answer: Response, response: ServerResponse): Promise<void> {
  const headers = Object.fromEntries(answer.headers);
  // HTTP/2 has no such header, and in HTTP/1.1 the door sees to it.
  delete headers['connection'];
  response.writeHead(answer.status, { ...headers, 'x-content-type-options': 'nosniff' });
  if (answer.body === null) {
    response.end();
    return;
  }
  response.flushHeaders();
  const reader = (answer.body as ReadableStream<Uint8Array>).getReader();
  // Also when the door ends the stream itself.
  const stop = (): void => void reader.cancel().catch(() => undefined);
  response.on('close', stop);
  response.on('finish', stop);
  if (response.destroyed) stop();
  for (;;) {
    const { done, value } = await reader.read();
    if (done || response.writableEnded || response.destroyed) break;
    if (!response.write(value)) await waitForRoom(response);
  }
  if (!response.writableEnded) response.end();
}

function waitForRoom(response: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const proceed = (): void => {
      response.off('drain', proceed);
      response.off('close', proceed);
      resolve();
    };
    response.on('drain', proceed);
    response.on('close', proceed);
  });
}
