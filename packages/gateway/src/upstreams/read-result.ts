import type { CallToolResult } from '@modelcontextprotocol/client';
import type { Json } from '@sallyport/contract';
import { cutText } from '../call/redacted.ts';
import type { RedactText } from '../call/redacted.ts';
import { ToolFailure } from '../call/tool.ts';
import { makeVisible } from '@sallyport/contract';

const longestFailure = 4000;
const deepest = 100;

/**
 * What a server answered, as the output of the tool. With an output schema that is the structured content, which is
 * checked against it; otherwise all parts, in the words of the protocol. Throws ToolFailure for what is an error.
 */
export function readResult(
  name: string,
  { content, structuredContent, isError }: CallToolResult,
  { isStructured, redact }: { readonly isStructured: boolean; readonly redact: RedactText },
): Json {
  if (isError === true) {
    const text = content.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n');
    throw new ToolFailure('EXECUTION_ERROR', `${name} failed: ${makeVisible(cutText(redact(text), longestFailure))}`);
  }
  if (isStructured && structuredContent === undefined) {
    throw new ToolFailure('INVALID_RESULT', `${name} declares structured content and sent none.`);
  }
  const output = isStructured
    ? structuredContent
    : { content, ...(structuredContent === undefined ? {} : { structuredContent }) };
  return checkDepth(name, output);
}

/** Throws ToolFailure if the output is nested too deeply to process. */
export function checkDepth(name: string, output: unknown): Json {
  if (isTooDeep(output, deepest)) throw new ToolFailure('INVALID_RESULT', `What ${name} sent is nested too deeply.`);
  return output as Json;
}

function isTooDeep(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return levels === 0 || Object.values(value).some((member) => isTooDeep(member, levels - 1));
}
