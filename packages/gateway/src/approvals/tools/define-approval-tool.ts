import type { Json, JsonObject } from '@sallyport/contract';
import { modes } from '../../call/session.ts';
import type { Effect, Tool, ToolContext, ToolDefinition } from '../../call/tool.ts';

interface ApprovalToolOptions<Arguments> extends Pick<ToolDefinition, 'name' | 'description' | 'mutates'> {
  /** Absent: medium for what changes something, low for the rest. */
  readonly risk?: ToolDefinition['risk'];
  /** Absent: never. */
  readonly confirmation?: ToolDefinition['confirmation'];
  /** Absent: operators. */
  readonly audience?: ToolDefinition['audience'];
  /** Absent: all. */
  readonly allowedModes?: ToolDefinition['allowedModes'];
  readonly properties: JsonObject;
  readonly required?: readonly string[];
  readonly output: { readonly required: readonly string[]; readonly properties: JsonObject };
  readonly preview?: (args: Arguments, context: ToolContext) => Promise<Effect>;
  readonly run: (args: Arguments, context: ToolContext) => Promise<Json>;
  readonly summarize: (args: Arguments, output: JsonObject) => string;
}

/** A tool about decisions: of the gate itself, so it touches nothing outside. */
export function defineApprovalTool<Arguments>(options: ApprovalToolOptions<Arguments>): Tool<Arguments> {
  const { name, description, mutates, audience = 'operator', properties, required = [], output } = options;
  const { risk = mutates ? 'medium' : 'low', confirmation = 'never', allowedModes = modes } = options;
  return {
    definition: {
      name,
      aliases: [],
      version: '1.0.0',
      description,
      tags: ['approvals'],
      category: 'administration',
      inputSchema: { type: 'object', additionalProperties: false, required, properties },
      outputSchema: { type: 'object', ...output },
      risk,
      confirmation,
      mutates,
      scopes: [],
      allowedModes,
      requiresApproval: false,
      requiresSandbox: false,
      timeoutMs: 30_000,
      idempotent: !mutates,
      audience,
    },
    claim: () => ({ paths: [] }),
    preview: options.preview ?? (() => Promise.resolve({ summary: description, detail: '', undoable: !mutates })),
    run: options.run,
    // A person reads an effect whole, at once; its size is bounded by what previews show.
    measureResult: () => 0,
    summarize: (args, result) => options.summarize(args, result as JsonObject),
  };
}

export const idOf = (description: string): JsonObject => ({ type: 'string', minLength: 1, maxLength: 64, description });

export const noteProperty: JsonObject = {
  type: 'string',
  minLength: 1,
  maxLength: 4000,
  description: 'What to tell the agent, such as what it should change. Absent: nothing.',
};

export const limitProperty: JsonObject = {
  type: 'integer',
  minimum: 1,
  maximum: 200,
  default: 50,
  description: 'How many, newest first.',
};
