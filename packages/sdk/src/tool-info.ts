import type { ToolDescriptorJson } from '@sallyport/contract';
import type { JsonObject } from './json.ts';

/** A tool as the gate describes it. */
export interface ToolInfo {
  readonly name: string;
  readonly aliases: readonly string[];
  readonly version: string;
  readonly description: string;
  readonly tags: readonly string[];
  readonly category: string;
  readonly risk: string;
  readonly confirmation: string;
  readonly mutates: boolean;
  readonly idempotent: boolean;
  readonly timeoutMs: number;
  /** Such as `ready`. Whether a call passes, the rules say. */
  readonly status: string;
  /** Why it cannot be called as it is. Empty when it can. */
  readonly statusReason: string;
  /** `builtin`, `executable`, `configured`, `pipeline` or `upstream`. */
  readonly origin: string;
  readonly inputSchema: JsonObject;
  readonly outputSchema: JsonObject;
}

export function readTool(tool: ToolDescriptorJson): ToolInfo {
  return {
    name: tool.name ?? '',
    aliases: tool.aliases ?? [],
    version: tool.version ?? '',
    description: tool.description ?? '',
    tags: tool.tags ?? [],
    category: tool.category ?? '',
    risk: tool.risk ?? '',
    confirmation: tool.confirmation ?? '',
    mutates: tool.mutates ?? false,
    idempotent: tool.idempotent ?? false,
    timeoutMs: tool.timeoutMs ?? 0,
    status: tool.status ?? '',
    statusReason: tool.statusReason ?? '',
    origin: tool.origin ?? '',
    inputSchema: JSON.parse(tool.inputSchemaJson || '{}') as JsonObject,
    outputSchema: JSON.parse(tool.outputSchemaJson || '{}') as JsonObject,
  };
}
