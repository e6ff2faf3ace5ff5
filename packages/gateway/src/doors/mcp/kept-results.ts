import type { ContentBlock } from '@modelcontextprotocol/server';
import type { Json, JsonObject } from '@sallyport/contract';
import { isJsonObject, spellBytes } from '@sallyport/contract';
import type { KeptResult } from '../../call/call.ts';
import type { McpTool } from '../../registry/export-tools.ts';

const scheme = 'sallyport://content/';

export const contentTemplate = `${scheme}{hash}`;

const contentUri = /^sallyport:\/\/content\/([0-9a-f]{64})$/;

/** The BLAKE3 hash that the address of a kept result names. Undefined: it is no such address. */
export function hashOfUri(uri: string): string | undefined {
  return contentUri.exec(uri)?.[1];
}

const keptSchema: JsonObject = {
  type: 'object',
  description: 'The result is too large for an answer. Read it as a resource.',
  properties: {
    kept: {
      type: 'object',
      properties: {
        uri: { type: 'string', description: 'The resource that holds the result, as JSON.' },
        hash: { type: 'string', description: 'BLAKE3 of its bytes.' },
        size_bytes: { type: 'integer' },
      },
      required: ['uri', 'hash', 'size_bytes'],
      additionalProperties: false,
    },
  },
  required: ['kept'],
  additionalProperties: false,
};

/** The result itself, or where it lies: clients check what they get, and a result may be too large for any answer. */
export function withKeptResults(tool: McpTool): McpTool {
  if (tool.outputSchema === undefined) return tool;
  const { $schema: dialect, ...result } = tool.outputSchema;
  return {
    ...tool,
    outputSchema: {
      ...(dialect === undefined ? {} : { $schema: dialect }),
      type: 'object',
      anyOf: [{ $ref: '#/$defs/result' }, { $ref: '#/$defs/kept' }],
      $defs: { result: moveReferences(result) as JsonObject, kept: keptSchema },
    },
  };
}

/** References of the schema start at its own root, which is not the root any more. */
function moveReferences(schema: Json): Json {
  if (Array.isArray(schema)) return schema.map(moveReferences);
  if (!isJsonObject(schema)) return schema;
  return Object.fromEntries(
    Object.entries(schema).map(([key, value]) => {
      const isReference = key === '$ref' && typeof value === 'string' && value.startsWith('#');
      return [key, isReference ? `#/$defs/result${value.slice(1)}` : moveReferences(value)];
    }),
  );
}

/** What a client is given in place of a result that is too large for an answer. */
export function describeKept({ hash, sizeBytes }: KeptResult): {
  readonly content: ContentBlock[];
  readonly structuredContent: JsonObject;
} {
  const uri = `${scheme}${hash}`;
  const text = `The result is too large for an answer (${spellBytes(sizeBytes)}). It is kept as ${uri}: read that resource, or ask the tool for less.`;
  return {
    content: [
      { type: 'text', text },
      {
        type: 'resource_link',
        uri,
        name: `result ${hash.slice(0, 12)}`,
        mimeType: 'application/json',
        size: sizeBytes,
      },
    ],
    structuredContent: { kept: { uri, hash, size_bytes: sizeBytes } },
  };
}
