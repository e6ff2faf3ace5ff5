import type { Prompt } from '@modelcontextprotocol/client';
import type { JsonObject } from '@sallyport/contract';
import type { OfferedThing } from './offer-tools.ts';
import { checkDepth } from './read-result.ts';

/**
 * Marks what a client of MCP finds under resources and prompts rather than among the tools. No server can set these.
 */
export const passedTags = { resources: 'mcp-resources', prompt: 'mcp-prompt' } as const;

const noArguments: JsonObject = { type: 'object', properties: {}, additionalProperties: false };

/**
 * The protocol says that these change nothing. The server learns what was requested, and may not keep to the protocol.
 */
const lists = { risk: 'low', mutates: false, idempotent: true } as const;
const reads = { risk: 'medium', mutates: false, idempotent: true } as const;

interface NamedThing extends OfferedThing {
  /** Without the name of the upstream. */
  readonly name: string;
}

/** The resources of a server, as tools: listed, accepted, judged and recorded like all its tools. */
export const resourceRequests: readonly NamedThing[] = [
  {
    name: 'resources.list',
    description: 'Lists the resources of the server.',
    inputSchema: noArguments,
    says: {},
    assumed: lists,
    tags: [passedTags.resources],
    request: (name) => ({
      send: async (connection, _args, how) => ({ resources: await connection.listResources(how) }),
      read: (result) => checkDepth(name, result),
    }),
  },
  {
    name: 'resources.templates',
    description: 'Lists the templates for the addresses of resources of the server.',
    inputSchema: noArguments,
    says: {},
    assumed: lists,
    tags: [passedTags.resources],
    request: (name) => ({
      send: async (connection, _args, how) => ({ resourceTemplates: await connection.listTemplates(how) }),
      read: (result) => checkDepth(name, result),
    }),
  },
  {
    name: 'resources.read',
    description: 'Reads a resource of the server by its address.',
    inputSchema: {
      type: 'object',
      properties: { uri: { type: 'string', minLength: 1, maxLength: 4096, description: 'As the server names it.' } },
      required: ['uri'],
      additionalProperties: false,
    },
    says: {},
    assumed: reads,
    tags: [passedTags.resources],
    request: (name) => ({
      send: (connection, { uri }, how) => connection.readResource(uri as string, how),
      read: (result) => checkDepth(name, result),
    }),
  },
];

/**
 * A prompt, as a tool that takes its arguments and returns its messages. Its description is pinned as that of a tool.
 */
export function describePrompt({
  name: theirName,
  title,
  description = '',
  arguments: args = [],
}: Prompt): OfferedThing {
  const properties = args.map(({ name, description: about }) => [
    name,
    { type: 'string', ...(about === undefined ? {} : { description: about }) },
  ]);
  return {
    description: [title, description].filter((text) => text !== undefined && text !== '').join('\n'),
    inputSchema: {
      type: 'object',
      properties: Object.fromEntries(properties) as JsonObject,
      required: args.filter(({ required }) => required === true).map(({ name }) => name),
      additionalProperties: false,
    },
    says: {},
    assumed: reads,
    tags: [passedTags.prompt],
    request: (name) => ({
      send: (connection, given, how) => connection.getPrompt(theirName, given as Record<string, string>, how),
      read: (result) => checkDepth(name, result),
    }),
  };
}
