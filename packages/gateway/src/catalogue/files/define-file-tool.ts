import type { Json, JsonObject } from '@sallyport/contract';
import { modes, modesOutsideLockdown } from '../../call/session.ts';
import type { Session } from '../../call/session.ts';
import type { AnyTool, Confirmation, Effect, Resources, Risk, ToolContext } from '../../call/tool.ts';
import type { ValueOf } from '../../registry/schemas/schema.ts';
import { checkSignal } from './check-signal.ts';
import { failureFrom } from './failure-from.ts';

/** What one file tool says about itself; the rest is the same for all of them. */
export interface FileTool<Input extends JsonObject, Output extends Json> {
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
  readonly inputSchema: Input;
  /** Absent: `path`. */
  readonly pathArguments?: readonly string[];
  readonly outputSchema: JsonObject;
  /** The path that messages are about, as the caller wrote it. */
  readonly subject: (args: ValueOf<Input>) => string;
  readonly claim: (args: ValueOf<Input>, session: Session) => Resources;
  readonly preview: (args: ValueOf<Input>, context: ToolContext) => Effect | Promise<Effect>;
  /** Returns at once where nothing is waited for. */
  readonly run: (args: ValueOf<Input>, context: ToolContext) => Output | Promise<Output>;
  /** Absent: `timeoutMs`. */
  readonly timeoutMsFor?: (args: ValueOf<Input>) => number;
  readonly measureResult?: (output: Output) => number;
  readonly summarize: (args: ValueOf<Input>, output: Output) => string;
}

export function defineFileTool<const Input extends JsonObject, Output extends Json>(
  tool: FileTool<Input, Output>,
): AnyTool {
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
  const read = (args: JsonObject) => args as ValueOf<Input>;
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
