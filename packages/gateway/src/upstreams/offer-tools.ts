import { hash } from 'node:crypto';
import type { CallToolResult, Tool } from '@modelcontextprotocol/client';
import type { Json, JsonObject } from '@sallyport/contract';
import { canonicalJson, makeVisible, wholeText } from '@sallyport/contract';
import type { ToolDefinition } from '../call/tool.ts';
import { defineForeignTool, detailOf } from '../registry/define-foreign-tool.ts';
import type { AssignedProperties, NamedDescription } from '../registry/define-foreign-tool.ts';
import type { SkippedFile } from '../programs/find-tool-files.ts';
import { hashDefinition } from '../registry/hash-definition.ts';
import { ForeignSchemaError } from '../registry/schemas/parse-foreign-schema.ts';
import { DescriptionError } from '../registry/description-fields.ts';
import { parseToolDescription } from '../registry/tool-description.ts';
import { unknownVersion } from '../registry/tool-name.ts';
import type { ToolOffer } from '../programs/tool-offer.ts';
import { nameTool } from './name-tool.ts';
import { describePrompt, resourceRequests } from './pass-through.ts';
import { readResult } from './read-result.ts';
import type { ServerOffers } from './upstream-connection.ts';
import { upstreamTool } from './upstream-tool.ts';
import type { UpstreamRequest } from './upstream-tool.ts';
import type { Upstream } from './upstream.ts';

export interface UpstreamOffers {
  readonly offers: readonly ToolOffer[];
  /** Tools of the server that the gate leaves out. */
  readonly skipped: readonly SkippedFile[];
}

const mostTools = 500;

const none: UpstreamOffers = { offers: [], skipped: [] };
/** By the list they were made from: reading schemas takes time, and a list is needed again and again. */
const made = new WeakMap<ServerOffers, UpstreamOffers>();

/** The tools of a server as it last listed them. A tool with a mistake is left out; the others stay. */
export function offerTools(upstream: Upstream): UpstreamOffers {
  const { offers: listed } = upstream;
  if (listed === undefined) return none;
  const offers = made.get(listed) ?? readOffers(upstream, listed);
  made.set(listed, offers);
  return offers;
}

function readOffers(upstream: Upstream, { tools, prompts, hasResources }: ServerOffers): UpstreamOffers {
  const offers = new Map<string, ToolOffer>();
  const skipped: SkippedFile[] = [];
  const { config } = upstream;
  const skip = (tool: string, reason: string): void => {
    skipped.push({ file: `${config.name}: ${makeVisible(wholeText(tool))}`, reason });
  };
  const take = (theirName: string, name: string | undefined, describe: () => OfferedThing): void => {
    if (name === undefined) skip(theirName, 'its name is too long, or has characters that no name may have');
    else if (offers.has(name)) skip(theirName, `another tool of the server already has the name ${name}`);
    else {
      try {
        offers.set(name, makeOffer(upstream, name, describe()));
      } catch (error) {
        if (!(error instanceof DescriptionError || error instanceof ForeignSchemaError)) throw error;
        skip(theirName, error.message);
      }
    }
  };
  // First what the gate names itself, so that no tool of the server takes its place.
  for (const thing of hasResources ? resourceRequests : [])
    take(thing.name, `${config.name}.${thing.name}`, () => thing);
  for (const prompt of prompts.slice(0, mostTools)) {
    take(prompt.name, nameTool(config.name, `prompts/${prompt.name}`), () => describePrompt(prompt));
  }
  for (const tool of tools.slice(0, mostTools))
    take(tool.name, nameTool(config.name, tool.name), () => describeTool(tool));
  for (const { length } of [tools, prompts]) {
    if (length > mostTools) skip('', `it lists ${length} of a kind, and only the first ${mostTools} are used`);
  }
  return { offers: [...offers.values()], skipped };
}

/** Something that a server has and that is called as a tool. */
export interface OfferedThing {
  readonly description: string;
  readonly inputSchema: Json;
  /** Absent: any. */
  readonly outputSchema?: Json;
  /** What the server says about how it behaves. */
  readonly says: JsonObject;
  readonly isDestructive?: boolean;
  /** What the protocol says about it, unless the operator says something else. */
  readonly assumed?: AssignedProperties;
  readonly tags?: readonly string[];
  readonly request: (name: string) => UpstreamRequest;
}

function describeTool({ name: theirName, title, description = '', annotations = {}, ...schemas }: Tool): OfferedThing {
  const { inputSchema, outputSchema } = schemas;
  const isStructured = outputSchema !== undefined;
  return {
    description: [title, description].filter((text) => text !== undefined && text !== '').join('\n'),
    inputSchema: inputSchema as Json,
    ...(isStructured ? { outputSchema: outputSchema as Json } : {}),
    says: { ...annotations } as JsonObject,
    isDestructive: annotations.destructiveHint === true,
    request: (name) => ({
      send: (connection, args, how) => connection.callTool(theirName, args, how),
      read: (result, redact) => readResult(name, result as CallToolResult, { isStructured, redact }),
    }),
  };
}

function makeOffer(upstream: Upstream, name: string, thing: OfferedThing): ToolOffer {
  const { config } = upstream;
  const said = parseToolDescription({
    description: thing.description,
    input_schema: thing.inputSchema,
    ...(thing.outputSchema === undefined ? {} : { output_schema: thing.outputSchema }),
  });
  const described: NamedDescription = { ...said, tags: thing.tags ?? said.tags, name, version: unknownVersion };
  const definition = defineTool(upstream, described, thing);
  const { asks_for: _, ...shown } = detailOf(described);
  const detail: JsonObject = { ...shown, server: describeEndpoint(upstream), says: thing.says };
  // The gate does not have its bytes; its description and where it runs take their place.
  const fileSha256 = hash('sha256', canonicalJson(detail));
  return {
    origin: 'upstream',
    file: config.file,
    tool: upstreamTool({
      ...{ upstream, definition, request: thing.request(name) },
      isCurrent: () => offerTools(upstream).offers.some((offer) => offer.fileSha256 === fileSha256),
    }),
    fileSha256,
    definitionSha256: hashDefinition(definition),
    detail,
  };
}

/** What a server says can make its tools more dangerous than we assume, never less. */
function defineTool(
  upstream: Upstream,
  described: NamedDescription,
  { isDestructive = false, assumed = {} }: OfferedThing,
): ToolDefinition {
  const { name, endpoint, assigned } = upstream.config;
  const definition = defineForeignTool(
    isDestructive ? { ...described, requests: { ...described.requests, risk: 'critical' } } : described,
    'upstream',
    { assigned: { ...assumed, ...assigned.get(described.name.slice(name.length + 1)) } },
  );
  const reachesNetwork = endpoint.kind === 'http' || endpoint.hosts.length > 0;
  return { ...definition, requiresSandbox: endpoint.kind === 'stdio', scopes: reachesNetwork ? ['network'] : [] };
}

function describeEndpoint({ config: { endpoint } }: Upstream): JsonObject {
  if (endpoint.kind === 'http') return { url: endpoint.url };
  const { command, package: pinned, read, write, hosts, secrets } = endpoint;
  return { command, ...(pinned && { package: { ...pinned } }), read, write, hosts, secrets };
}
