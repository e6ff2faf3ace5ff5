import { hash, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { TestContext } from 'node:test';
import type { JsonObject } from '@sallyport/contract';

/** How the two servers behave. What is absent is as it should be. */
export interface LoginBehaviour {
  /** Members of the metadata of the authorization server; undefined leaves one out. */
  metadata?: Readonly<Record<string, unknown>>;
  /** The authorization servers that the MCP server names. */
  authorizationServers?: readonly string[];
  /** Where the browser comes back with: in place of the code. */
  answer?: Readonly<Record<string, string>>;
  /** The token endpoint answers with this instead. */
  tokenError?: { readonly status: number; readonly body: JsonObject | string };
  /** Which scope a call of the tool `write` needs. */
  writeScope?: string;
  redirectMetadataTo?: string;
  /** No refresh token is given. */
  isShort?: boolean;
  /** The MCP server takes no token at all. */
  refusesAll?: boolean;
}

export interface LoginWorld {
  readonly url: string;
  readonly issuer: string;
  readonly behaviour: LoginBehaviour;
  /** All that were given out. */
  readonly secrets: string[];
  /** Method and path of every request, in order; those of the MCP server without a slash. */
  readonly requests: string[];
  /** Bodies of requests to the token endpoint. */
  readonly tokenRequests: { readonly form: URLSearchParams; readonly authorization: string }[];
  readonly registrations: JsonObject[];
  /** No access token that was given out is worth anything any more. */
  readonly expire: () => void;
  /** What the person does: opens the page, agrees, and the browser goes back to the gate. */
  readonly agree: (page: URL) => Promise<Response>;
}

/** An MCP server that needs a login, and its authorization server, on two ports of this machine. */
export async function openLoginWorld(context: TestContext, behaviour: LoginBehaviour = {}): Promise<LoginWorld> {
  const secrets: string[] = [];
  const requests: string[] = [];
  const tokenRequests: LoginWorld['tokenRequests'] = [];
  const registrations: JsonObject[] = [];
  /** Scopes by access token; one refresh token is good at a time, and once. */
  const valid = new Map<string, string>();
  const codes = new Map<string, { readonly challenge: string; readonly scope: string }>();
  let refresh = '';

  const issuer = await listen(context, async (request, response) => {
    const page = new URL(request.url ?? '', issuer);
    requests.push(`${request.method} ${page.pathname}`);
    const body = await readBody(request);
    if (page.pathname === '/.well-known/oauth-authorization-server') {
      if (behaviour.redirectMetadataTo) response.writeHead(302, { location: behaviour.redirectMetadataTo }).end();
      else sendJson(response, 200, { ...metadataOf(issuer), ...behaviour.metadata });
    } else if (page.pathname === '/register') {
      registrations.push(JSON.parse(body) as JsonObject);
      const secret = newSecret('client');
      sendJson(response, 201, {
        ...(JSON.parse(body) as JsonObject),
        client_id: 'made-for-the-gate',
        client_secret: secret,
      });
    } else if (page.pathname === '/authorize') {
      const code = randomUUID();
      const { searchParams: asked } = page;
      codes.set(code, { challenge: asked.get('code_challenge') ?? '', scope: asked.get('scope') ?? '' });
      const back = new URL(asked.get('redirect_uri') ?? '');
      const answer = behaviour.answer ?? { code, iss: issuer };
      for (const [name, value] of Object.entries({ state: asked.get('state') ?? '', ...answer })) {
        back.searchParams.set(name, value);
      }
      response.writeHead(302, { location: back.href }).end();
    } else if (page.pathname === '/token') giveToken(request, new URLSearchParams(body), response);
    else sendJson(response, 404, {});
  });

  const url = await listen(context, async (request, response) => {
    const { pathname } = new URL(request.url ?? '', 'http://here');
    requests.push(`${request.method} ${pathname.slice(1)}`);
    if (pathname.startsWith('/.well-known/oauth-protected-resource')) {
      sendJson(response, 200, {
        resource: `${url}/mcp`,
        authorization_servers: behaviour.authorizationServers ?? [issuer],
      });
    } else if (pathname !== '/mcp') sendJson(response, 404, {});
    else await serveMcp(request, response);
  });

  function newSecret(kind: string): string {
    const secret = `${kind}-${randomUUID()}`;
    secrets.push(secret);
    return secret;
  }

  function giveToken(request: IncomingMessage, form: URLSearchParams, response: ServerResponse): void {
    tokenRequests.push({ form, authorization: request.headers.authorization ?? '' });
    const code = codes.get(form.get('code') ?? '');
    const grant = form.get('grant_type');
    const isGood = {
      authorization_code: code?.challenge === hash('sha256', form.get('code_verifier') ?? '', 'base64url'),
      refresh_token: refresh !== '' && form.get('refresh_token') === refresh,
      client_credentials: true,
    }[grant ?? ''];
    if (behaviour.tokenError !== undefined) sendJson(response, behaviour.tokenError.status, behaviour.tokenError.body);
    else if (isGood !== true) sendJson(response, 400, { error: 'invalid_grant', error_description: 'no' });
    else {
      const token = newSecret('access');
      const scope = code?.scope ?? [...valid.values()].at(-1) ?? form.get('scope') ?? '';
      valid.set(token, scope);
      if (grant !== 'client_credentials' && behaviour.isShort !== true) refresh = newSecret('refresh');
      sendJson(response, 200, {
        access_token: token,
        token_type: 'Bearer',
        scope,
        ...(refresh && { refresh_token: refresh }),
      });
    }
  }

  async function serveMcp(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const scope =
      live.has(bearerOf(request)) && behaviour.refusesAll !== true ? valid.get(bearerOf(request)) : undefined;
    const metadata = `resource_metadata="${url}/.well-known/oauth-protected-resource/mcp"`;
    if (scope === undefined) {
      response.writeHead(401, { 'www-authenticate': `Bearer scope="read", ${metadata}` }).end();
      return;
    }
    if (request.method !== 'POST') {
      response.writeHead(405).end();
      return;
    }
    const { id, method, params } = JSON.parse(await readBody(request)) as {
      readonly id?: number;
      readonly method: string;
      readonly params?: { readonly name?: string };
    };
    const needed = behaviour.writeScope;
    if (params?.name === 'write' && needed !== undefined && !scope.split(' ').includes(needed)) {
      const challenge = `Bearer error="insufficient_scope", scope="${needed}", ${metadata}`;
      response.writeHead(403, { 'www-authenticate': challenge }).end();
      return;
    }
    if (id === undefined) response.writeHead(202).end();
    else if (results[method] === undefined) response.writeHead(400).end();
    else sendJson(response, 200, { jsonrpc: '2.0', id, result: results[method] });
  }

  const live = {
    has: (token: string): boolean => valid.has(token) && !expired.has(token),
  };
  const expired = new Set<string>();
  return {
    ...{ url: `${url}/mcp`, issuer, behaviour, secrets, requests, tokenRequests, registrations },
    expire: () => valid.forEach((_scope, token) => expired.add(token)),
    agree: async (page) => {
      const answer = await fetch(page, { redirect: 'manual' });
      return fetch(answer.headers.get('location') ?? '');
    },
  };
}

const schema = { type: 'object' };
const results: Record<string, JsonObject> = {
  initialize: {
    protocolVersion: '2025-11-25',
    capabilities: { tools: {} },
    serverInfo: { name: 'guarded', version: '1' },
  },
  'tools/list': {
    tools: [
      { name: 'echo', inputSchema: schema },
      { name: 'write', inputSchema: schema },
    ],
  },
  'tools/call': { content: [{ type: 'text', text: 'done' }] },
};

function metadataOf(issuer: string): JsonObject {
  return {
    issuer,
    authorization_endpoint: `${issuer}/authorize`,
    token_endpoint: `${issuer}/token`,
    registration_endpoint: `${issuer}/register`,
    response_types_supported: ['code'],
    code_challenge_methods_supported: ['S256'],
    authorization_response_iss_parameter_supported: true,
  };
}

function bearerOf({ headers }: IncomingMessage): string {
  return headers.authorization?.replace(/^Bearer /, '') ?? '';
}

async function listen(
  context: TestContext,
  serve: (request: IncomingMessage, response: ServerResponse) => Promise<void>,
): Promise<string> {
  const server = createServer((request, response) => void serve(request, response)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  context.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

async function readBody(request: IncomingMessage): Promise<string> {
  let body = '';
  for await (const chunk of request) body += String(chunk);
  return body;
}

function sendJson(response: ServerResponse, status: number, body: object | string): void {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(typeof body === 'string' ? body : JSON.stringify(body));
}
