import type { JsonObject } from '@sallyport/contract';
import { modes } from '../call/session.ts';
import { confirmations, risks } from '../call/tool.ts';
import type { Confirmation, Risk, ToolDefinition } from '../call/tool.ts';
import type { ToolDescription, ToolRequests } from './tool-description.ts';

/** What an operator says about a tool, in place of what it asks for. Absent: the worst is assumed. */
export interface AssignedProperties {
  readonly risk?: Risk;
  readonly confirmation?: Confirmation;
  readonly mutates?: boolean;
  readonly idempotent?: boolean;
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
  const { requests } = description;
  return {
    name: description.name,
    version: description.version,
    description: description.description,
    aliases: [],
    tags: description.tags,
    category: isSchemaKnown ? origin : unknownSchemaCategory,
    inputSchema: description.inputSchema,
    outputSchema: description.outputSchema,
    risk: assigned.risk ?? highest(risks, 'high', requests.risk),
    confirmation: assigned.confirmation ?? highest(confirmations, 'if_destructive', requests.confirmation),
    mutates: assigned.mutates ?? true,
    idempotent: assigned.idempotent ?? false,
    // Paths are hidden from it one by one, so that no rule about some of them needs to close the whole tool.
    scopes: requests.hosts.length === 0 ? [] : ['network'],
    allowedModes: modes.filter((mode) => mode !== 'LOCKDOWN'),
    requiresApproval: false,
    requiresSandbox: true,
    timeoutMs: assigned.timeoutMs ?? Math.min(defaultTimeoutMs, requests.timeoutMs ?? defaultTimeoutMs),
    audience: 'everyone',
    origin,
  };
}

function highest<T>(order: readonly T[], assumed: T, asked: T | undefined): T {
  return asked !== undefined && order.indexOf(asked) > order.indexOf(assumed) ? asked : assumed;
}

/** Everything that a person should see before accepting a tool, in the words of its author. */
export function detailOf({ requests, ...description }: NamedDescription): JsonObject {
  return {
    name: description.name,
    version: description.version,
    description: description.description,
    tags: description.tags,
    input_schema: description.inputSchema,
    output_schema: description.outputSchema,
    asks_for: describeRequests(requests),
  };
}

/** What is not asked for is left out. */
function describeRequests(requests: ToolRequests): JsonObject {
  const { risk, confirmation, mutates, idempotent, timeoutMs, read, write, hosts, environment, secrets } = requests;
  const lists = { read, write, hosts, environment, secrets };
  return {
    ...(risk === undefined ? {} : { risk }),
    ...(confirmation === undefined ? {} : { confirmation }),
    ...(mutates === undefined ? {} : { mutates }),
    ...(idempotent === undefined ? {} : { idempotent }),
    ...(timeoutMs === undefined ? {} : { timeout_ms: timeoutMs }),
    ...Object.fromEntries(Object.entries(lists).filter(([, items]) => items.length > 0)),
    ...(Object.keys(requests.limits).length === 0 ? {} : { limits: { ...requests.limits } }),
    ...(requests.warm ? { warm: true } : {}),
  };
}
