import type { JsonObject } from '@sallyport/contract';
import { upstreamStates } from '../upstream.ts';

export const nameArgument = {
  name: { type: 'string', minLength: 1, maxLength: 32, description: 'Name of the upstream.' },
} as const satisfies JsonObject;

export const onlyName: JsonObject = {
  type: 'object',
  additionalProperties: false,
  required: ['name'],
  properties: nameArgument,
};

export const described: JsonObject = {
  type: 'object',
  required: ['name', 'kind', 'state', 'tools', 'pending'],
  properties: {
    name: { type: 'string' },
    kind: { enum: ['stdio', 'http'] },
    state: { enum: upstreamStates },
    trouble: { type: 'string', description: 'Why it could not be reached the last time. Absent: it could.' },
    tools: { type: 'integer' },
    pending: { type: 'integer', description: 'How many tools wait to be accepted.' },
  },
};
