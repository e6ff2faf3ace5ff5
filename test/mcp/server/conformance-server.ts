import { randomBytes } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import { ResourceNotFoundError } from '@modelcontextprotocol/server';
import type { ServerContext } from '@modelcontextprotocol/server';
import { addPrompts } from './conformance-prompts.ts';
import { conformanceQuestions } from './conformance-questions.ts';
import { image } from './conformance-tools.ts';
import type { CreateServer } from './door-kit.ts';

export type Server = ReturnType<CreateServer>;

/** Answers a call of one of the suite's tools. */
export type Answer = (
  context: ServerContext,
  args: Readonly<Record<string, unknown>>,
  server: Server,
) => Promise<object> | object;

/**
 * A server of the gate that also has what the suite asks for and the gate does not offer: prompts, resources of its own,
 * completion, logging, and tools that ask their client something. All of it stands beside the gate's own handlers.
 */
export function addConformance(createServer: CreateServer): CreateServer {
  const tools = conformanceQuestions(randomBytes(32)).set('test_tool_with_logging', logThrice);
  return () => {
    const server = createServer();
    server.registerCapabilities({ prompts: {}, completions: {}, logging: {}, resources: { subscribe: true } });
    addTools(server, tools);
    addResources(server);
    addPrompts(server);
    server.setRequestHandler('completion/complete', () => ({ completion: { values: [], total: 0, hasMore: false } }));
    server.setRequestHandler('logging/setLevel', () => ({}));
    return server;
  };
}

function addTools(server: Server, tools: ReadonlyMap<string, Answer>): void {
  const list = handlerOf(server, 'tools/list');
  server.setRequestHandler('tools/list', async (request, context) => {
    const listed = (await list(request, context)) as { readonly tools: readonly object[] };
    const own = [...tools.keys()].map((name) => ({
      name,
      description: `The tool ${name}.`,
      inputSchema: { type: 'object' },
    }));
    return { tools: [...listed.tools, ...own] } as never;
  });
  const call = handlerOf(server, 'tools/call');
  server.setRequestHandler('tools/call', async (request, context) => {
    const { name, arguments: args = {} } = request.params;
    const answer = tools.get(name);
    if (answer === undefined) return (await call(request, context)) as never;
    return (await answer(context, args, server)) as never;
  });
}

function addResources(server: Server): void {
  const read = handlerOf(server, 'resources/read');
  server.setRequestHandler('resources/list', () => ({
    resources: ['test://static-text', 'test://static-binary', 'test://watched-resource'].map((uri) => ({
      uri,
      name: uri,
      description: `The resource ${uri}.`,
    })),
  }));
  server.setRequestHandler('resources/templates/list', () => ({
    resourceTemplates: [{ uriTemplate: 'test://template/{id}/data', name: 'template' }],
  }));
  server.setRequestHandler('resources/read', async (request, context) => {
    const { uri } = request.params;
    const contents = readFixture(uri);
    if (contents !== undefined) return { contents: [{ uri, ...contents }] } as never;
    if (uri.startsWith('test:')) throw new ResourceNotFoundError(uri);
    return (await read(request, context)) as never;
  });
  server.setRequestHandler('resources/subscribe', () => ({}));
  server.setRequestHandler('resources/unsubscribe', () => ({}));
}

function readFixture(uri: string): object | undefined {
  const [, id] = /^test:\/\/template\/(\w+)\/data$/.exec(uri) ?? [];
  if (id !== undefined) {
    const text = JSON.stringify({ id, templateTest: true, data: `Data for ID: ${id}` });
    return { mimeType: 'application/json', text };
  }
  switch (uri) {
    case 'test://static-text':
      return { mimeType: 'text/plain', text: 'This is the content of the static text resource.' };
    case 'test://static-binary':
      return { mimeType: 'image/png', blob: image };
    case 'test://watched-resource':
      return { mimeType: 'text/plain', text: 'Nothing changes here.' };
    default:
      return undefined;
  }
}

async function logThrice({ mcpReq }: ServerContext): Promise<object> {
  for (const data of ['Tool execution started', 'Tool processing data', 'Tool execution completed']) {
    await mcpReq.notify({ method: 'notifications/message', params: { level: 'info', data } });
    await setTimeout(50);
  }
  return { content: [{ type: 'text', text: 'Three messages were logged.' }] };
}

type Handler = (request: unknown, context: unknown) => Promise<object>;

/** The handler that stands there already, so that another can fall back on it: the SDK shows it to nobody. */
function handlerOf(server: Server, method: string): Handler {
  const { _requestHandlers: handlers } = server as unknown as { readonly _requestHandlers: Map<string, Handler> };
  const handler = handlers.get(method);
  if (handler === undefined) throw new Error(`the gate does not handle ${method}`);
  return handler;
}
