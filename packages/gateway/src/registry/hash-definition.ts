import { hash } from 'node:crypto';
import { canonicalJson } from '@sallyport/contract';
import type { ToolDefinition } from '../call/tool.ts';

/** What of a definition an operator accepts: what models and people read, and what values are held to. */
export type AcceptedDefinition = Pick<ToolDefinition, 'name' | 'description' | 'inputSchema' | 'outputSchema'>;

/** SHA-256 over name, description and schemas, hexadecimal. */
export function hashDefinition({ name, description, inputSchema, outputSchema }: AcceptedDefinition): string {
  return hash('sha256', canonicalJson({ name, description, input_schema: inputSchema, output_schema: outputSchema }));
}
