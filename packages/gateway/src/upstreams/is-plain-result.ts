import type { CallToolResult } from '@modelcontextprotocol/client';

const fields: ReadonlySet<string> = new Set(['content', 'structuredContent', 'isError', '_meta', 'resultType']);

/**
 * Whether a server answered with texts and nothing else, which can be seen without a schema. A server of the newer
 * protocol says that the result is complete.
 */
export function isPlainResult(result: unknown, { isModern }: { readonly isModern: boolean }): result is CallToolResult {
  if (!isRecord(result)) return false;
  for (const key in result) if (!fields.has(key)) return false;
  const { content, structuredContent, isError, _meta: meta, resultType } = result;
  return (
    Array.isArray(content) &&
    content.every(isPlainText) &&
    (structuredContent === undefined || isRecord(structuredContent)) &&
    (isError === undefined || typeof isError === 'boolean') &&
    (meta === undefined || isRecord(meta)) &&
    resultType === (isModern ? 'complete' : undefined)
  );
}

export function isPlainText(part: unknown): boolean {
  if (!isRecord(part) || part['type'] !== 'text' || typeof part['text'] !== 'string') return false;
  for (const key in part) if (key !== 'type' && key !== 'text') return false;
  return true;
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
