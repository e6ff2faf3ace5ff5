import type { JsonObject } from '@sallyport/contract';
import { modes } from '../../call/session.ts';
import type { ToolDefinition } from '../../call/tool.ts';
import * as schema from '../../registry/schemas/schema.ts';

export const requestKinds = ['elicitation', 'sampling', 'roots'] as const;
/** What a server may want while it works: to ask a person, to use the caller's model, or to know its folders. */
export type RequestKind = (typeof requestKinds)[number];

/** Something that a server asks of the gate. Nothing in it is trusted. */
export interface ServerRequest {
  readonly kind: RequestKind;
  readonly params: JsonObject;
}

export const requestMethods = {
  elicitation: 'elicitation/create',
  sampling: 'sampling/createMessage',
  roots: 'roots/list',
} as const satisfies Record<RequestKind, string>;

/** Undefined: the gate answers no such requests. */
export function kindOf(method: string): RequestKind | undefined {
  return requestKinds.find((kind) => requestMethods[kind] === method);
}

/** A request was refused. The message is for the server and for the caller. */
export class RequestRefused extends Error {
  readonly kind: RequestKind;

  constructor(kind: RequestKind, message: string) {
    super(message);
    this.name = 'RequestRefused';
    this.kind = kind;
  }
}

const upstreamArgument = { upstream: schema.string('Name of the server that asks.') } as const;

/**
 * What rules are asked about: `upstream.elicitation` and so on, with the name of the server as an argument. Nobody
 * calls these tools; they give the requests of servers a name.
 */
export const requestTools: Readonly<Record<RequestKind, ToolDefinition>> = {
  elicitation: define('elicitation', 'A server asks the person in front of the caller something.', {
    mode: { enum: ['form', 'url'] },
    message: { type: 'string' },
    url: schema.string('The page that the person is to open.'),
  }),
  sampling: define('sampling', 'A server uses the model of the caller.', {
    max_tokens: { type: 'integer' },
  }),
  roots: define('roots', 'A server asks which folders its file shows it.', {}),
};

function define(kind: RequestKind, description: string, properties: JsonObject): ToolDefinition {
  return {
    name: `upstream.${kind}`,
    aliases: [],
    version: '1.0.0',
    description,
    tags: ['upstream'],
    category: 'upstream',
    inputSchema: { type: 'object', required: ['upstream'], properties: { ...upstreamArgument, ...properties } },
    outputSchema: { type: 'object' },
    risk: 'low',
    confirmation: 'never',
    mutates: false,
    scopes: [],
    allowedModes: modes,
    requiresApproval: false,
    requiresSandbox: false,
    timeoutMs: 10_000,
    idempotent: false,
    audience: 'operator',
  };
}
