import { hash } from 'node:crypto';
import type { Tool } from '@modelcontextprotocol/client';
import type { Json, JsonObject } from '@sallyport/contract';
import { canonicalJson, makeVisible, wholeText } from '@sallyport/contract';
import type { ToolDefinition } from '../call/tool.ts';
import { defineForeignTool, detailOf } from '../registry/define-foreign-tool.ts';
import type { NamedDescription } from '../registry/define-foreign-tool.ts';
import type { SkippedFile } from '../programs/find-tool-files.ts';
import { hashDefinition } from '../registry/hash-definition.ts';
import { ForeignSchemaError } from '../registry/schemas/parse-foreign-schema.ts';
import { DescriptionError } from '../registry/description-fields.ts';
import { parseToolDescription } from '../registry/tool-description.ts';
import { unknownVersion } from '../registry/tool-name.ts';
import type { ToolOffer } from '../programs/tool-offer.ts';
import { nameTool } from './name-tool.ts';
import { upstreamTool } from './upstream-tool.ts';
import type { Upstream } from './upstream.ts';

export interface UpstreamOffers {
  readonly offers: readonly ToolOffer[];
  /** What the server calls a tool and the gate does not. */
  readonly skipped: readonly SkippedFile[];
}

const mostTools = 500;

const none: UpstreamOffers = { offers: [], skipped: [] };
/** By the list they were made of: reading schemas is work, and a list is asked for again and again. */
const made = new WeakMap<readonly Tool[], UpstreamOffers>();

/** The tools of a server as it listed them last. What is wrong with one of them leaves it out, and no other. */
export function offerTools(upstream: Upstream): UpstreamOffers {
  const { tools } = upstream;
  if (tools === undefined) return none;
  const offers = made.get(tools) ?? readTools(upstream, tools);
  made.set(tools, offers);
  return offers;
}

function readTools(upstream: Upstream, tools: readonly Tool[]): UpstreamOffers {
  const offers = new Map<string, ToolOffer>();
  const skipped: SkippedFile[] = [];
  const { config } = upstream;
  const skip = (tool: string, reason: string): void => {
    skipped.push({ file: `${config.name}: ${makeVisible(wholeText(tool))}`, reason });
  };
  for (const tool of tools.slice(0, mostTools)) {
    const name = nameTool(config.name, tool.name);
    if (name === undefined) skip(tool.name, 'its name is too long, or has characters that no name may have');
    else if (offers.has(name)) skip(tool.name, `another tool of the server is ${name} already`);
    else {
      try {
        offers.set(name, offerTool(upstream, tool, name));
      } catch (error) {
        if (!(error instanceof DescriptionError || error instanceof ForeignSchemaError)) throw error;
        skip(tool.name, error.message);
      }
    }
  }
  if (tools.length > mostTools) skip('', `it lists ${tools.length} tools, and the first ${mostTools} are taken`);
  return { offers: [...offers.values()], skipped };
}

function offerTool(upstream: Upstream, tool: Tool, name: string): ToolOffer {
  const { config } = upstream;
  const { title, description = '', annotations = {} } = tool;
  const said = parseToolDescription({
    description: [title, description].filter((text) => text !== undefined && text !== '').join('\n'),
    input_schema: tool.inputSchema as Json,
    ...(tool.outputSchema === undefined ? {} : { output_schema: tool.outputSchema as Json }),
  });
  const described: NamedDescription = { ...said, name, version: unknownVersion };
  const definition = defineTool(upstream, described, annotations.destructiveHint === true);
  const { asks_for: _, ...shown } = detailOf(described);
  const detail: JsonObject = { ...shown, server: describeEndpoint(upstream), says: { ...annotations } as JsonObject };
  // It has no bytes of its own; all that it says and where it runs take their place.
  const fileSha256 = hash('sha256', canonicalJson(detail));
  return {
    origin: 'upstream',
    file: config.file,
    tool: upstreamTool({
      upstream,
      definition,
      theirName: tool.name,
      isStructured: tool.outputSchema !== undefined,
      isCurrent: () => offerTools(upstream).offers.some((offer) => offer.fileSha256 === fileSha256),
    }),
    fileSha256,
    definitionSha256: hashDefinition(definition),
    detail,
  };
}

/** What a server says can make its tools more dangerous than we assume, never less. */
function defineTool(upstream: Upstream, described: NamedDescription, isDestructive: boolean): ToolDefinition {
  const { name, endpoint, assigned } = upstream.config;
  const definition = defineForeignTool(
    isDestructive ? { ...described, requests: { ...described.requests, risk: 'critical' } } : described,
    'upstream',
    { assigned: assigned.get(described.name.slice(name.length + 1)) ?? {} },
  );
  const reachesNetwork = endpoint.kind === 'http' || endpoint.hosts.length > 0;
  return { ...definition, requiresSandbox: endpoint.kind === 'stdio', scopes: reachesNetwork ? ['network'] : [] };
}

function describeEndpoint({ config: { endpoint } }: Upstream): JsonObject {
  if (endpoint.kind === 'http') return { url: endpoint.url };
  const { command, package: pinned, read, write, hosts, secrets } = endpoint;
  return { command, ...(pinned && { package: { ...pinned } }), read, write, hosts, secrets };
}
