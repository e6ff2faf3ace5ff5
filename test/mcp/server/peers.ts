import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { pathToFileURL } from 'node:url';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport as StdioV1 } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport as HttpV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import {
  ElicitRequestSchema,
  ListRootsRequestSchema,
  ToolListChangedNotificationSchema,
} from '@modelcontextprotocol/sdk/types.js';
import { environmentOf } from '../../harness/daemon.ts';
import type { Place } from '../../harness/daemon.ts';

const program = join(import.meta.dirname, '../../../packages/cli/bin/sallyport.mjs');

export interface CallResult {
  readonly content: readonly { readonly type: string; readonly text?: string; readonly uri?: string }[];
  readonly structuredContent?: Readonly<Record<string, unknown>>;
  readonly isError?: boolean;
  readonly _meta?: { readonly 'sallyport/call'?: Readonly<Record<string, unknown>> };
}

export interface ListedTool {
  readonly name: string;
  readonly title?: string | undefined;
  readonly annotations?: object | undefined;
  readonly outputSchema?: object | undefined;
}

export interface Asked {
  readonly mode?: string | undefined;
  readonly url?: string | undefined;
  readonly message: string;
}

export interface PeerOptions {
  /** How the person at the client answers when shown a link. Absent: the client shows none. */
  readonly answerLink?: (asked: Asked) => Promise<'accept' | 'decline' | 'cancel'>;
  readonly onToolsChanged?: () => void;
  /** The folders that a client of the older protocol names when it is asked. Absent: it cannot be asked. */
  readonly roots?: readonly string[];
}

export interface CallOptions {
  readonly signal?: AbortSignal;
  readonly onprogress?: (progress: { progress: number; total?: number; message?: string }) => void;
  readonly meta?: Record<string, unknown>;
}

/** A client as a test needs it, whichever SDK it is made with. */
export interface Peer {
  readonly revision: string | undefined;
  readonly listTools: () => Promise<readonly ListedTool[]>;
  readonly call: (name: string, args: Record<string, unknown>, options?: CallOptions) => Promise<CallResult>;
  readonly readResource: (uri: string) => Promise<{ readonly contents: readonly { readonly text?: string }[] }>;
  readonly close: () => Promise<void>;
}

/** Where to connect: over HTTP, or by starting `sallyport mcp`. */
export type Way =
  | { readonly url: URL; readonly token: string }
  | { readonly place: Place; readonly token: string; readonly onStderr?: (text: string) => void };

export type PeerKind = 'v2' | 'v2 in the older protocol' | 'v1';
export const peerKinds: readonly PeerKind[] = ['v2', 'v2 in the older protocol', 'v1'];

const info = { name: 'test', version: '1.0.0' };

export async function connectPeer(t: TestContext, kind: PeerKind, way: Way, options: PeerOptions = {}): Promise<Peer> {
  const peer = await (kind === 'v1' ? connectV1(way, options) : connectV2(kind, way, options));
  t.after(() => peer.close());
  return peer;
}

async function connectV2(kind: PeerKind, way: Way, { answerLink, onToolsChanged }: PeerOptions): Promise<Peer> {
  const client = new Client(info, {
    capabilities: answerLink === undefined ? {} : { elicitation: { url: {} } },
    versionNegotiation: { mode: kind === 'v2' ? 'auto' : 'legacy' },
  });
  if (answerLink !== undefined) {
    client.setRequestHandler('elicitation/create', async ({ params }) => ({ action: await answerLink(params) }));
  }
  if (onToolsChanged !== undefined) {
    client.setNotificationHandler('notifications/tools/list_changed', () => onToolsChanged());
  }
  await client.connect('url' in way ? new StreamableHTTPClientTransport(way.url, headersOf(way)) : openStdio(way));
  if (kind === 'v2' && onToolsChanged !== undefined) await client.listen({ toolsListChanged: true });
  return {
    revision: client.getNegotiatedProtocolVersion(),
    listTools: async () => (await client.listTools()).tools,
    call: async (name, args, { meta, ...more } = {}) => {
      const asked = { name, arguments: args, ...(meta === undefined ? {} : { _meta: meta }) };
      return (await client.callTool(asked, more as object)) as CallResult;
    },
    readResource: async (uri) => (await client.readResource({ uri })) as { contents: readonly { text?: string }[] },
    close: () => client.close(),
  };
}

async function connectV1(way: Way, { answerLink, onToolsChanged, roots }: PeerOptions): Promise<Peer> {
  const client = new ClientV1(info, {
    capabilities: {
      ...(answerLink === undefined ? {} : { elicitation: { url: {} } }),
      ...(roots === undefined ? {} : { roots: {} }),
    },
  });
  if (roots !== undefined) {
    client.setRequestHandler(ListRootsRequestSchema, () => ({
      roots: roots.map((folder) => ({ uri: pathToFileURL(folder).href })),
    }));
  }
  if (answerLink !== undefined) {
    client.setRequestHandler(ElicitRequestSchema, async ({ params }) => ({ action: await answerLink(params) }));
  }
  if (onToolsChanged !== undefined) {
    client.setNotificationHandler(ToolListChangedNotificationSchema, () => onToolsChanged());
  }
  const transport = 'url' in way ? new HttpV1(way.url, headersOf(way)) : new StdioV1(stdioOf(way));
  await client.connect(transport);
  return {
    revision: undefined,
    listTools: async () => (await client.listTools()).tools,
    call: async (name, args, { meta, ...more } = {}) => {
      const asked = { name, arguments: args, ...(meta === undefined ? {} : { _meta: meta }) };
      return (await client.callTool(asked, undefined, more as object)) as CallResult;
    },
    readResource: async (uri) => (await client.readResource({ uri })) as { contents: readonly { text?: string }[] },
    close: () => client.close(),
  };
}

function headersOf({ token }: Way): { requestInit: RequestInit } {
  return { requestInit: { headers: { authorization: `Bearer ${token}` } } };
}

function openStdio(way: Extract<Way, { readonly place: Place }>): StdioClientTransport {
  const transport = new StdioClientTransport(stdioOf(way));
  transport.stderr?.on('data', (data: Buffer) => way.onStderr?.(data.toString()));
  return transport;
}

function stdioOf({ place, token }: Extract<Way, { readonly place: Place }>) {
  const env = environmentOf(place, { SALLYPORT_TOKEN: token });
  return { command: process.execPath, args: [program, 'mcp'], env, cwd: place.folder, stderr: 'pipe' as const };
}

export function textOf({ content }: CallResult): string {
  return content.map(({ text = '' }) => text).join('\n');
}

/** What the gate says about a call, in the words for programs. */
export function factsOf(result: CallResult): Readonly<Record<string, unknown>> {
  const { _meta: meta } = result;
  return meta?.['sallyport/call'] ?? {};
}
