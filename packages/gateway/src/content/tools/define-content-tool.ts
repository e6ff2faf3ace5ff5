import type { Json, JsonObject } from '@sallyport/contract';
import { contentHashPattern } from '../content-hash.ts';
import type { ContentStore } from '../content-store.ts';
import type { DownloadStream, Transfers, UploadStream } from '../transfers.ts';
import { modes } from '../../call/session.ts';
import { refuse } from '../../call/refusal.ts';
import type { Violation } from '../../call/refusal.ts';
import { ToolRefused } from '../../call/tool.ts';
import type { AnyTool, ToolContext, ToolDefinition } from '../../call/tool.ts';
import type { ContentRepository } from '../../storage/stores.ts';

export interface ContentToolParts {
  readonly store: ContentStore;
  readonly index: Pick<ContentRepository, 'mayUseContent'>;
  /** Where the doors leave their streams. */
  readonly uploads: Transfers<UploadStream>;
  readonly downloads: Transfers<DownloadStream>;
}

/** What one tool for content or artifacts says about itself; the rest is the same for all of them. */
export interface ContentTool<Arguments, Output extends Json> extends Pick<
  ToolDefinition,
  'name' | 'description' | 'mutates' | 'idempotent' | 'timeoutMs' | 'inputSchema' | 'outputSchema' | 'isTransfer'
> {
  readonly aliases?: readonly string[];
  /** Absent: everyone. */
  readonly audience?: ToolDefinition['audience'];
  /** What the schema cannot say about the arguments. Absent: nothing. */
  readonly check?: (args: Arguments) => readonly Violation[];
  /** What the call would do, in one line. */
  readonly describe: (args: Arguments) => string;
  readonly run: (args: Arguments, context: ToolContext) => Promise<Output>;
  readonly summarize: (args: Arguments, output: Output) => string;
}

export function defineContentTool<Arguments, Output extends Json>(tool: ContentTool<Arguments, Output>): AnyTool {
  const { aliases = [], audience = 'everyone', check, describe, run, summarize, ...about } = tool;
  // The gate passes only arguments that fit the input schema and outputs that came from `run`.
  const read = (args: JsonObject): Arguments => args as unknown as Arguments;
  return {
    definition: {
      ...about,
      aliases,
      audience,
      version: '1.0.0',
      tags: [about.name.split('.')[0] ?? '', about.mutates ? 'write' : 'read'],
      category: about.mutates ? 'system_write' : 'read_only',
      risk: about.mutates ? 'medium' : 'low',
      confirmation: 'never',
      scopes: [],
      allowedModes: about.mutates ? modes.filter((mode) => mode !== 'LOCKDOWN') : modes,
      requiresApproval: false,
      requiresSandbox: false,
    },
    claim: (args) => {
      const violations = check?.(read(args)) ?? [];
      if (violations.length === 0) return { paths: [] };
      const message = `The arguments do not fit ${about.name}: ${violations.map((each) => each.message).join('; ')}.`;
      throw new ToolRefused(refuse('INVALID_ARGUMENTS', 'input-schema', message, { violations }));
    },
    preview: (args) => Promise.resolve({ summary: describe(read(args)), detail: '', undoable: false }),
    run: (args, context) => run(read(args), context),
    summarize: (args, output) => summarize(read(args), output as Output),
  };
}

export function hashSchema(description: string): JsonObject {
  return { type: 'string', pattern: contentHashPattern, description: `${description} 64 hexadecimal digits.` };
}

export function bytesSchema(description: string, more: JsonObject = {}): JsonObject {
  return { type: 'integer', minimum: 0, maximum: Number.MAX_SAFE_INTEGER, description, ...more };
}

/** No transfer takes longer; a shorter limit would cut off slow lines. */
export const transferTimeoutMs = 3_600_000;
