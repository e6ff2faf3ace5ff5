import type { Json, JsonObject } from '@sallyport/contract';
import { modes, modesOutsideLockdown } from '../../call/session.ts';
import type { Session } from '../../call/session.ts';
import type { AnyTool, Confirmation, Effect, Resources, Risk, ToolContext } from '../../call/tool.ts';
import { checkSignal } from './check-signal.ts';
import { failureFrom } from './failure-from.ts';

/** What one file tool says about itself; the rest is the same for all of them. */
export interface FileTool<Arguments, Output extends Json> {
  readonly name: `files.${string}` | 'git.undo';
  readonly aliases: readonly string[];
  readonly description: string;
  readonly risk: Risk;
  readonly confirmation: Confirmation;
  readonly mutates: boolean;
  readonly requiresApproval?: boolean;
  readonly idempotent: boolean;
  readonly timeoutMs: number;
  readonly examples: readonly JsonObject[];
  /** Absent: it changes nothing. */
  readonly undo?: string;
  readonly inputSchema: JsonObject;
  /** Absent: `path`. */
  readonly pathArguments?: readonly string[];
  readonly outputSchema: JsonObject;
  /** The path that messages are about, as the caller wrote it. */
  readonly subject: (args: Arguments) => string;
  readonly claim: (args: Arguments, session: Session) => Resources;
  readonly preview: (args: Arguments, context: ToolContext) => Effect | Promise<Effect>;
  /** Returns at once where nothing is waited for. */
  readonly run: (args: Arguments, context: ToolContext) => Output | Promise<Output>;
  /** Absent: `timeoutMs`. */
  readonly timeoutMsFor?: (args: Arguments) => number;
  readonly measureResult?: (output: Output) => number;
  readonly summarize: (args: Arguments, output: Output) => string;
}

export function defineFileTool<Arguments, Output extends Json>(tool: FileTool<Arguments, Output>): AnyTool {
  const {
    subject,
    claim,
    timeoutMsFor,
    preview,
    run,
    measureResult,
    summarize,
    requiresApproval = false,
    ...about
  } = tool;
  // The gate passes only arguments that fit the input schema and outputs that came from `run`.
  const read = (args: JsonObject) => args as unknown as Arguments;
  return {
    definition: {
      pathArguments: ['path'],
      ...about,
      version: '1.0.0',
      tags: ['files', about.mutates ? 'write' : 'read'],
      category: about.mutates ? 'system_write' : 'read_only',
      scopes: ['paths'],
      allowedModes: about.mutates ? modesOutsideLockdown : modes,
      requiresApproval,
      requiresSandbox: false,
      audience: 'everyone',
    },
    claim: (args, session) => claim(read(args), session),
    ...(timeoutMsFor === undefined ? {} : { timeoutMsFor: (args: JsonObject) => timeoutMsFor(read(args)) }),
    preview: async (args, context) => reportFailures(subject(read(args)), () => preview(read(args), context)),
    run: (args, context) =>
      reportFailures(subject(read(args)), () => {
        if (about.mutates) checkSignal(context.signal);
        return run(read(args), context);
      }),
    ...(measureResult === undefined ? {} : { measureResult: (output: Json) => measureResult(output as Output) }),
    summarize: (args, output) => summarize(read(args), output as Output),
  };
}

/** For what is moved to or from the content store: a gigabyte on a slow disk. */
export const largeTransferMs = 300_000;

/** A closed object: what is neither optional nor has a default must be there. */
export function objectSchema(
  properties: Readonly<Record<string, JsonObject>>,
  { optional = [], ...more }: { optional?: readonly string[]; not?: JsonObject; anyOf?: readonly JsonObject[] } = {},
): JsonObject {
  const required = Object.entries(properties)
    .filter(([key, schema]) => !('default' in schema) && !optional.includes(key))
    .map(([key]) => key);
  return { type: 'object', properties, required, additionalProperties: false, ...more };
}

export function pathSchema(description: string, more: JsonObject = {}): JsonObject {
  const rules = 'Relative paths start at the working directory; ".." is not allowed.';
  return { type: 'string', minLength: 1, maxLength: 4096, description: `${description} ${rules}`, ...more };
}

function reportFailures<T>(given: string, action: () => T | Promise<T>): T | Promise<T> {
  const report = (error: unknown): never => {
    throw failureFrom(error, given);
  };
  try {
    const done = action();
    return done instanceof Promise ? done.catch(report) : done;
  } catch (error) {
    return report(error);
  }
}
