import type { ToolDescriptorJson } from '@sallyport/contract';

/** A tool as scripts read it. */
export function toolToJson(tool: ToolDescriptorJson): object {
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
    timeout_ms: tool.timeoutMs ?? 0,
    origin: tool.origin ?? '',
    status: tool.status ?? '',
    ...(tool.statusReason ? { status_reason: tool.statusReason } : {}),
    input_schema: parseSchema(tool.inputSchemaJson),
    output_schema: parseSchema(tool.outputSchemaJson),
  };
}

/** A tool that declares nothing takes any object. */
export function parseSchema(text: string | undefined): Readonly<Record<string, unknown>> {
  const schema: unknown = text ? JSON.parse(text) : {};
  return typeof schema === 'object' && schema !== null ? (schema as Readonly<Record<string, unknown>>) : {};
}
