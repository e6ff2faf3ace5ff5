import { modes } from '../call/session.ts';
import type { ToolDefinition } from '../call/tool.ts';

/** The definition of a tool with which operators run the gate. Agents neither see nor call it. */
export function defineAdministration(
  definition: Pick<ToolDefinition, 'name' | 'description' | 'mutates' | 'idempotent' | 'inputSchema' | 'outputSchema'>,
): ToolDefinition {
  return {
    ...definition,
    aliases: [],
    version: '1.0.0',
    tags: ['administration'],
    category: 'administration',
    risk: definition.mutates ? 'medium' : 'low',
    confirmation: 'never',
    scopes: [],
    allowedModes: modes,
    requiresApproval: false,
    requiresSandbox: false,
    timeoutMs: 10_000,
    audience: 'operator',
  };
}
