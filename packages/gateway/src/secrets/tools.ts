import type { JsonObject } from '@sallyport/contract';
import { ToolFailure } from '../call/tool.ts';
import type { AnyTool, Tool } from '../call/tool.ts';
import type { SecretStore } from './secret-store.ts';
import { defineAdministration } from '../registry/administration.ts';

interface NameArgument {
  readonly name: string;
}

const nameProperty: JsonObject = {
  type: 'string',
  pattern: '^[A-Za-z][A-Za-z0-9_.-]{0,127}$',
  description: 'Name of the secret, such as GITHUB_TOKEN.',
};

/** Keeping secrets for tools. No tool shows a value. */
export function secretTools(secrets: SecretStore): readonly AnyTool[] {
  return [setTool(secrets), listTool(secrets), removeTool(secrets)] as unknown as AnyTool[];
}

function setTool(secrets: SecretStore): Tool<NameArgument & { readonly value: string }> {
  return {
    definition: {
      ...defineAdministration({
        name: 'secrets.set',
        description: 'Stores a secret, encrypted. The rules say which tools may use it; nothing shows it again.',
        mutates: true,
        idempotent: true,
        inputSchema: {
          type: 'object',
          additionalProperties: false,
          required: ['name', 'value'],
          properties: {
            name: nameProperty,
            value: {
              type: 'string',
              // A shorter one could not be kept out of texts without blanking ordinary words.
              minLength: 8,
              maxLength: 65_536,
              description: 'The secret. A value of the same name is replaced.',
            },
          },
        },
        outputSchema: { type: 'object', required: ['name'], properties: { name: { type: 'string' } } },
      }),
      secretArguments: ['value'],
    },
    claim: () => ({ paths: [] }),
    preview: ({ name }) => Promise.resolve({ summary: `Set the secret ${name}.`, detail: '', undoable: false }),
    run: async ({ name, value }) => {
      await secrets.set(name, value);
      return { name };
    },
    summarize: ({ name }) => `set secret ${name}`,
  };
}

function listTool(secrets: SecretStore): Tool<object> {
  return {
    definition: defineAdministration({
      name: 'secrets.list',
      description: 'Lists the stored secrets by name, without their values.',
      mutates: false,
      idempotent: true,
      inputSchema: { type: 'object', additionalProperties: false, properties: {} },
      outputSchema: {
        type: 'object',
        required: ['secrets'],
        properties: {
          secrets: {
            type: 'array',
            items: {
              type: 'object',
              required: ['name', 'updated_at', 'readable'],
              properties: {
                name: { type: 'string' },
                updated_at: { type: 'string' },
                readable: { type: 'boolean', description: 'False: it has to be set again.' },
              },
            },
          },
        },
      },
    }),
    claim: () => ({ paths: [] }),
    preview: () => Promise.resolve({ summary: 'List the secrets.', detail: '', undoable: true }),
    run: () => {
      const listed = secrets.list().map(({ name, updatedAtMs, isReadable }) => {
        return { name, updated_at: new Date(updatedAtMs).toISOString(), readable: isReadable };
      });
      return Promise.resolve({ secrets: listed });
    },
    summarize: (_args, output) => `${(output as { secrets: readonly unknown[] }).secrets.length} secrets`,
  };
}

function removeTool(secrets: SecretStore): Tool<NameArgument> {
  return {
    definition: defineAdministration({
      name: 'secrets.remove',
      description: 'Removes a stored secret for good.',
      mutates: true,
      idempotent: true,
      inputSchema: {
        type: 'object',
        additionalProperties: false,
        required: ['name'],
        properties: { name: nameProperty },
      },
      outputSchema: { type: 'object', required: ['name'], properties: { name: { type: 'string' } } },
    }),
    claim: () => ({ paths: [] }),
    preview: ({ name }) =>
      Promise.resolve({
        summary: `Remove the secret ${name}.`,
        detail: 'Its value cannot be brought back. Tools that use it fail until it is set again.',
        undoable: false,
      }),
    run: async ({ name }) => {
      if (await secrets.remove(name)) return { name };
      throw new ToolFailure('NOT_FOUND', `There is no secret ${name}.`, {
        forOperators: '`sallyport secret list` shows them.',
      });
    },
    summarize: ({ name }) => `removed secret ${name}`,
  };
}
