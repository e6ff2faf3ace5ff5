import { hash } from 'node:crypto';
import type { JsonObject } from '@sallyport/contract';
import { canonicalJson } from '@sallyport/contract';
import type { ToolDefinition } from '../call/tool.ts';

/** The part of a definition that an operator accepts: what models and people read, and the schemas of values. */
export type AcceptedDefinition = Pick<ToolDefinition, 'name' | 'description' | 'inputSchema' | 'outputSchema'>;

/**
 * SHA-256 over name, description and schemas, hexadecimal; and over what the tool says to be stricter about, so that it
 * cannot take that back once it is accepted.
 */
export function hashDefinition(definition: AcceptedDefinition, asksFor: JsonObject = {}): string {
  const { name, description, inputSchema, outputSchema } = definition;
  const asked = Object.keys(asksFor).length === 0 ? {} : { asks_for: asksFor };
  const accepted = { name, description, input_schema: inputSchema, output_schema: outputSchema, ...asked };
  return hash('sha256', canonicalJson(accepted));
}
