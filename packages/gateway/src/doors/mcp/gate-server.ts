import { Server } from '@modelcontextprotocol/server';
import type { Implementation, ListResourcesResult, ListToolsResult } from '@modelcontextprotocol/server';
import { callTool } from './call-tool.ts';
import type { CallParts } from './call-tool.ts';
import { callerOf, rawParamsOf } from './caller.ts';
import { contentTemplate } from './kept-results.ts';
import type { OfferedTools } from './offered-tools.ts';
import { getPrompt, listPrompts } from './passed/pass-prompts.ts';
import { listPassed, parsePassed, readPassed } from './passed/pass-resources.ts';
import { redactErrors } from './redact-errors.ts';
import type { ErrorParts } from './redact-errors.ts';
import { readResource } from './read-resource.ts';
import type { ResourceParts } from './read-resource.ts';
import type { KnownEnvelopes } from './known-envelopes.ts';
import { schemaValidator } from './schema-validator.ts';
import { toolCallOf } from './tool-call.ts';

export interface GateServerParts extends CallParts, ResourceParts, ErrorParts {
  readonly tools: OfferedTools;
  readonly envelopes: KnownEnvelopes;
  readonly version: string;
}

/** How the gate presents itself. */
export function describeServer(version: string): Implementation {
  return { name: 'sallyport', title: 'Sallyport', version };
}

const instructions = `Every call passes a gate that checks it against rules, may ask a person, and records it.
A result with isError says why a call was denied or failed and what to do about it; do not repeat a denied call as it is.
A call that waits for a person has not run: make the same call again to go on waiting.
Large results are resources: read the sallyport:// address that the result names.`;

/** Makes servers that offer what the gate offers, each for one connection or one request. */
export function gateServers(parts: GateServerParts): () => Server {
  return () => {
    const server = new Server(describeServer(parts.version), {
      capabilities: { tools: { listChanged: true }, resources: {}, prompts: {} },
      instructions,
      jsonSchemaValidator: schemaValidator,
    });
    parts.folders.watch(server);
    const connect = server.connect.bind(server);
    server.connect = (transport) => {
      redactErrors(transport, parts);
      return connect(transport);
    };
    server.setRequestHandler('tools/list', (_, context) => {
      const tools = parts.tools.list(callerOf(context).session, Date.now());
      return { tools: tools as unknown as ListToolsResult['tools'] };
    });
    server.setRequestHandler('tools/call', ({ params: { name } }, context) => {
      const call = toolCallOf(server, name, context);
      if (call.client.isModern) parts.envelopes.remember(rawParamsOf(context));
      return callTool(parts, call);
    });
    server.setRequestHandler('resources/list', async (_, context) => {
      const what = { tool: 'resources.list', key: 'resources', address: 'uri' };
      const resources = await listPassed(parts, { server, context }, what);
      return { resources: resources as unknown as ListResourcesResult['resources'] };
    });
    server.setRequestHandler('resources/templates/list', async (_, context) => {
      const what = { tool: 'resources.templates', key: 'resourceTemplates', address: 'uriTemplate' };
      const passed = await listPassed(parts, { server, context }, what);
      return { resourceTemplates: [keptTemplate, ...(passed as unknown as (typeof keptTemplate)[])] };
    });
    server.setRequestHandler('resources/read', (request, context) => {
      const { uri } = request.params;
      const isPassed = parsePassed(uri) !== undefined;
      return isPassed ? readPassed(parts, { server, context }, uri) : readResource(parts, request, context);
    });
    server.setRequestHandler('prompts/list', (_, context) => ({
      prompts: [...listPrompts(parts, { server, context })],
    }));
    server.setRequestHandler('prompts/get', ({ params }, context) => getPrompt(parts, { server, context }, params));
    return server;
  };
}

const keptTemplate = {
  uriTemplate: contentTemplate,
  name: 'kept-result',
  title: 'Kept result',
  description: 'A result that was too large for an answer, by the hash that the answer named.',
};
