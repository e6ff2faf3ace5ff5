import type { HttpReply, HttpRequest } from '../transport/http-route.ts';

/** What the SDK looks at. The token is not among it: who calls is settled before. */
const isForSdk = /^(?:accept|content-type|last-event-id|mcp-.+)$/;

/** The request as the SDK takes it, without its body, which has been read. */
export function toWebRequest(
  { method = 'GET', headers }: Pick<HttpRequest, 'method' | 'headers'>,
  signal: AbortSignal,
): Request {
  const taken: Record<string, string> = {};
  for (const name in headers) if (isForSdk.test(name)) taken[name] = String(headers[name]);
  return new Request('http://localhost/mcp', { method, headers: taken, signal });
}

/** Sends the answer of the SDK. Resolves when all of it is sent or the reader has gone. */
export async function sendWebResponse(answer: Response, response: HttpReply): Promise<void> {
  const headers: Record<string, string | number> = { 'x-content-type-options': 'nosniff' };
  // HTTP/2 has no such header as the one left out, and in HTTP/1.1 the door sees to it.
  for (const [name, value] of answer.headers) if (name !== 'connection') headers[name] = value;
  if (headers['content-type'] === 'text/event-stream') return sendEvents(answer, headers, response);
  // Head and body in one packet: a reader that waits for the second would wait for a second round.
  const body = await answer.bytes();
  response.writeHead(answer.status, { ...headers, ...(body.length > 0 ? { 'content-length': body.length } : {}) });
  const sent = new Promise<void>((resolve) => {
    response.on('close', resolve);
    response.on('finish', resolve);
  });
  if (response.destroyed) return;
  response.end(body);
  await sent;
}

const headWithinMs = 100;

/**
 * No more goes out than the reader takes. A stream may have nothing to say for long, so that its head does not wait for
 * it; a quick answer goes in one packet all the same.
 */
async function sendEvents(
  answer: Response,
  headers: Readonly<Record<string, string | number>>,
  response: HttpReply,
): Promise<void> {
  response.writeHead(answer.status, headers);
  const head = setTimeout(() => response.flushHeaders(), headWithinMs);
  const reader = (answer.body as ReadableStream<Uint8Array>).getReader();
  // Also when the door ends the stream itself.
  const stop = (): void => void reader.cancel().catch(() => undefined);
  response.on('close', stop);
  response.on('finish', stop);
  if (response.destroyed) stop();
  for (;;) {
    const { done, value } = await reader.read();
    clearTimeout(head);
    if (done || response.writableEnded || response.destroyed) break;
    if (!response.write(value)) await waitForRoom(response);
  }
  if (!response.writableEnded) response.end();
}

function waitForRoom(response: HttpReply): Promise<void> {
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
