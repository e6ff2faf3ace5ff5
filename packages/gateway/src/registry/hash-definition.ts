import { hash } from 'node:crypto';
import { canonicalJson } from '@sallyport/contract';
import type { ToolDefinition } from '../call/tool.ts';

/** The part of a definition that an operator accepts: what models and people read, and the schemas of values. */
export type AcceptedDefinition = Pick<ToolDefinition, 'name' | 'description' | 'inputSchema' | 'outputSchema'>;

/** SHA-256 over name, description and schemas, hexadecimal. */
export function hashDefinition({ name, description, inputSchema, outputSchema }: AcceptedDefinition): string {
  return hash('sha256', canonicalJson({ name, description, input_schema: inputSchema, output_schema: outputSchema }));
}
