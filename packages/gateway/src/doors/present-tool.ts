import { create } from '@bufbuild/protobuf';
import { ToolDescriptorSchema } from '@sallyport/contract';
import type { ToolDescriptor } from '@sallyport/contract';
import type { RedactText } from '../call/redacted.ts';
import type { AnyTool } from '../call/tool.ts';
import type { ShownDefinitions } from '../registry/shown-definitions.ts';

/** A tool as callers see it in lists. */
export function presentTool(
  tool: AnyTool,
  { definitions, redact }: { readonly definitions: Pick<ShownDefinitions, 'of'>; readonly redact: RedactText },
): ToolDescriptor {
  const shown = definitions.of(tool.definition);
  return create(ToolDescriptorSchema, {
    name: shown.name,
    aliases: [...shown.aliases],
    version: shown.version,
    description: shown.description,
    tags: [...shown.tags],
    category: shown.category,
    risk: shown.risk,
    confirmation: shown.confirmation,
    mutates: shown.mutates,
    idempotent: shown.idempotent,
    timeoutMs: shown.timeoutMs,
    status: tool.status?.() ?? 'ready',
    statusReason: redact(tool.explainUnusable?.()?.message ?? ''),
    origin: shown.origin ?? 'builtin',
    inputSchemaJson: JSON.stringify(shown.inputSchema),
    outputSchemaJson: JSON.stringify(shown.outputSchema),
    examplesJson: (shown.examples ?? []).map((example) => JSON.stringify(example)),
    undo: shown.undo ?? '',
    audience: shown.audience,
  });
}
