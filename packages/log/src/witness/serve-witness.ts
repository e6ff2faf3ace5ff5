import { createServer } from 'node:http';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Witness } from './witness.ts';

/** A note has at most 64 KB, and a proof some three. */
const mostBytes = 96 * 1024;
const requestTimeoutMs = 10_000;

/** Serves the witness protocol. Anyone may ask; a checkpoint that no known log has signed is refused. */
export function serveWitness(witness: Witness, onError: (error: unknown) => void): Server {
  const server = createServer((request, response) => {
    answer(witness, request, response).catch((error: unknown) => {
      onError(error);
      reply(response, 500, 'the witness cannot remember at the moment\n');
    });
  });
  server.requestTimeout = requestTimeoutMs;
  return server;
}

async function answer(witness: Witness, request: IncomingMessage, response: ServerResponse): Promise<void> {
  if (!request.url?.endsWith('/add-checkpoint')) return reply(response, 404, 'there is only add-checkpoint here\n');
  if (request.method !== 'POST') return reply(response, 405, 'this takes POST\n');
  const body = await readBody(request);
  if (body === undefined) return reply(response, 413, 'the request is too long\n');
  const { status, contentType, body: said } = witness.addCheckpoint(body);
  reply(response, status, said, contentType);
}

/** Undefined: it is longer than any request of the protocol. */
async function readBody(request: IncomingMessage): Promise<string | undefined> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length > mostBytes) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function reply(response: ServerResponse, status: number, body: string, contentType = 'text/plain'): void {
  if (response.headersSent) return;
  response.writeHead(status, { 'content-type': contentType, 'content-length': Buffer.byteLength(body) });
  response.end(body);
}
