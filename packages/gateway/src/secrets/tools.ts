import { SecretListSchema, spellCount } from '@sallyport/contract';
import { ToolFailure } from '../call/tool.ts';
import type { AnyTool } from '../call/tool.ts';
import type { SecretStore } from './secret-store.ts';
import { defineOperatorTool } from '../registry/define-operator-tool.ts';
import * as schema from '../registry/schemas/schema.ts';

const nameProperty = schema.string('Name of the secret, such as GITHUB_TOKEN.', {
  pattern: '^[A-Za-z][A-Za-z0-9_.-]{0,127}$',
});

const nameOnly = { type: 'object', required: ['name'], properties: { name: { type: 'string' } } };

/** Keeping secrets for tools. No tool shows a value. */
export function secretTools(secrets: SecretStore): readonly AnyTool[] {
  return [setTool(secrets), listTool(secrets), removeTool(secrets)];
}

function setTool(secrets: SecretStore) {
  return defineOperatorTool({
    name: 'secrets.set',
    description: 'Stores a secret, encrypted. The rules say which tools may use it; nothing shows it again.',
    mutates: true,
    idempotent: true,
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
    required: ['name', 'value'],
    secretArguments: ['value'],
    answers: nameOnly,
    preview: ({ name }) => ({ summary: `Set the secret ${name}.` }),
    run: async ({ name, value }) => {
      await secrets.set(name, value);
      return { name };
    },
    summarize: ({ name }) => `set secret ${name}`,
  });
}

function listTool(secrets: SecretStore) {
  return defineOperatorTool({
    name: 'secrets.list',
    description: 'Lists the stored secrets by name, without their values.',
    mutates: false,
    answers: SecretListSchema,
    run: () => {
      const listed = secrets.list().map(({ name, updatedAtMs, isReadable }) => {
        return { name, updatedAtMs: String(updatedAtMs), readable: isReadable };
      });
      return { secrets: listed };
    },
    summarize: (_args, output) => spellCount(output.secrets.length, 'secret'),
  });
}

function removeTool(secrets: SecretStore) {
  return defineOperatorTool({
    name: 'secrets.remove',
    description: 'Removes a stored secret for good.',
    mutates: true,
    idempotent: true,
    properties: { name: nameProperty },
    required: ['name'],
    answers: nameOnly,
    preview: ({ name }) => ({
      summary: `Remove the secret ${name}.`,
      detail: 'Its value cannot be brought back. Tools that use it fail until it is set again.',
    }),
    run: async ({ name }) => {
      if (await secrets.remove(name)) return { name };
      throw new ToolFailure('NOT_FOUND', `There is no secret ${name}.`, {
        forOperators: '`sallyport secret list` shows them.',
      });
    },
    summarize: ({ name }) => `removed secret ${name}`,
  });
}
