import { spellBytes } from '@sallyport/contract';
import { ProtocolError, ProtocolErrorCode, ResourceNotFoundError } from '@modelcontextprotocol/server';
import type { ReadResourceRequest, ReadResourceResult, ServerContext } from '@modelcontextprotocol/server';
import type { DownloadStream, Transfers } from '../../content/transfers.ts';
import { ToolFailure } from '../../call/tool.ts';
import type { Submit } from '../../call/submission.ts';
import { credentialOf } from '../connect/read-call.ts';
import { callerOf } from './caller.ts';
import { hashOfUri } from './kept-results.ts';
import { nameRequest } from './pending-tickets.ts';
import { readMeta } from './read-meta.ts';

export interface ResourceParts {
  readonly submit: Submit;
  readonly downloads: Transfers<DownloadStream>;
}

/** The answer holds all of a resource, and so does the memory of both ends. */
const largestResourceBytes = 16 * 1024 * 1024;

/** A kept result, read by the governed call that reads content at every door. */
export async function readResource(
  { submit, downloads }: ResourceParts,
  { params: { uri } }: ReadResourceRequest,
  context: ServerContext,
): Promise<ReadResourceResult> {
  const hash = hashOfUri(uri);
  if (hash === undefined) throw new ResourceNotFoundError(uri);
  const { sessionId } = context;
  const { id, signal, _meta: meta } = context.mcpReq;
  const { session, peer } = callerOf(context);
  const chunks: Uint8Array[] = [];
  const download = downloads.register(session.id, {
    begin: ({ lengthBytes }) => (lengthBytes > largestResourceBytes ? Promise.reject(tooLarge()) : Promise.resolve()),
    write: (chunk) => Promise.resolve(void chunks.push(Uint8Array.from(chunk))),
  });
  try {
    const { problem } = await submit({
      door: peer.door,
      source: peer.source,
      ...credentialOf(peer),
      toolName: 'content.get',
      input: JSON.stringify({ hash, download_id: download.id }),
      confirmBinding: '',
      ...readMeta(meta, nameRequest(sessionId, id)),
      signal: AbortSignal.any([signal, peer.signal]),
    });
    if (problem?.code === 'NOT_FOUND') throw new ResourceNotFoundError(uri);
    if (problem !== undefined) {
      const { code, message, remedy = '', ruleId } = problem;
      throw new ProtocolError(ProtocolErrorCode.InvalidParams, `${code}: ${message} ${remedy}`.trim(), {
        code,
        ruleId,
      });
    }
    return { contents: [describeBytes(uri, Buffer.concat(chunks))] };
  } finally {
    download.close();
  }
}

function describeBytes(uri: string, bytes: Buffer): ReadResourceResult['contents'][number] {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    return { uri, mimeType: isJson(text) ? 'application/json' : 'text/plain', text };
  } catch {
    return { uri, mimeType: 'application/octet-stream', blob: bytes.toString('base64') };
  }
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

function tooLarge(): ToolFailure {
  const message = `A resource of more than ${spellBytes(largestResourceBytes)} is not read whole. content.get reads it in pieces.`;
  return new ToolFailure('TOO_LARGE', message);
}
