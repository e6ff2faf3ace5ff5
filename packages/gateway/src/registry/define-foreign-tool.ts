import type { JsonObject } from '@sallyport/contract';
import { modesOutsideLockdown } from '../call/session.ts';
import type { Mode } from '../call/session.ts';
import { confirmations, risks } from '../call/tool.ts';
import type { Confirmation, Risk, ToolDefinition } from '../call/tool.ts';
import type { ToolDescription } from './tool-description.ts';
import { describeRequests, strictest } from './tool-requests.ts';

/** What an operator says about a tool, in place of what it asks for. Absent: the worst is assumed. */
export interface AssignedProperties {
  readonly risk?: Risk;
  readonly confirmation?: Confirmation;
  readonly mutates?: boolean;
  readonly idempotent?: boolean;
  readonly requiresApproval?: boolean;
  readonly allowedModes?: readonly Mode[];
  readonly rateLimitPerHour?: number;
  readonly timeoutMs?: number;
}

export type NamedDescription = ToolDescription & { readonly name: string; readonly version: string };

/** Tools of this category take any arguments, because nobody knows which; they ask, unless a rule names them. */
export const unknownSchemaCategory = 'schema_unknown';

const defaultTimeoutMs = 5 * 60_000;

/**
 * The definition of a tool from outside. What it says about itself can make it more dangerous than we assume, never
 * less: only an operator can say that.
 */
export function defineForeignTool(
  description: NamedDescription,
  origin: 'executable' | 'configured' | 'pipeline' | 'upstream',
  options: { readonly assigned?: AssignedProperties; readonly isSchemaKnown?: boolean } = {},
): ToolDefinition {
  const { assigned = {}, isSchemaKnown = true } = options;
  const { requests, category = origin } = description;
  const rateLimitPerHour = assigned.rateLimitPerHour ?? requests.rateLimitPerHour;
  const hosts = requests.hosts.length === 0 ? [] : (['network'] as const);
  return {
    name: description.name,
    version: description.version,
    description: description.description,
    aliases: [],
    tags: description.tags,
    // A name that the gate gives a meaning to is not for tools to take.
    category: !isSchemaKnown ? unknownSchemaCategory : category === unknownSchemaCategory ? origin : category,
    inputSchema: description.inputSchema,
    outputSchema: description.outputSchema,
    risk: assigned.risk ?? strictest(risks, 'high', requests.risk) ?? 'high',
    confirmation:
      assigned.confirmation ?? strictest(confirmations, 'if_destructive', requests.confirmation) ?? 'always',
    mutates: assigned.mutates ?? true,
    idempotent: assigned.idempotent ?? false,
    // Paths are hidden from it one by one, so that no rule about some of them needs to close the whole tool.
    scopes: [...new Set([...(requests.scopes ?? []), ...hosts])],
    allowedModes:
      assigned.allowedModes ?? modesOutsideLockdown.filter((mode) => requests.allowedModes?.includes(mode) ?? true),
    requiresApproval: assigned.requiresApproval ?? requests.requiresApproval ?? false,
    requiresSandbox: true,
    timeoutMs: assigned.timeoutMs ?? Math.min(defaultTimeoutMs, requests.timeoutMs ?? defaultTimeoutMs),
    ...(rateLimitPerHour === undefined ? {} : { rateLimitPerHour }),
    audience: 'everyone',
    origin,
  };
}

/** Everything that a person should see before accepting a tool, in the words of its author. */
export function detailOf({ requests, ...description }: NamedDescription): JsonObject {
  const { category, unknownKeys } = description;
  return {
    name: description.name,
    version: description.version,
    description: description.description,
    tags: description.tags,
    ...(category === undefined ? {} : { category }),
    input_schema: description.inputSchema,
    output_schema: description.outputSchema,
    asks_for: describeRequests(requests),
    ...(unknownKeys === undefined ? {} : { unknown_keys: unknownKeys }),
  };
}
