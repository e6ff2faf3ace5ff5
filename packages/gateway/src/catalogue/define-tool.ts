import type { Json, JsonObject } from '@sallyport/contract';
import { modes, modesOutsideLockdown } from '../call/session.ts';
import type { Session } from '../call/session.ts';
import type { AnyTool, Effect, Resources, ToolContext, ToolDefinition } from '../call/tool.ts';
import type { ValueOf } from '../registry/schemas/schema.ts';

/** What one tool of the catalogue says about itself. What most tools have in common may be left out. */
export interface CatalogueTool<Input extends JsonObject, Output extends Json>
  extends
    Pick<ToolDefinition, 'name' | 'aliases' | 'description' | 'outputSchema' | 'risk' | 'timeoutMs'>,
    Partial<
      Pick<
        ToolDefinition,
        | 'confirmation'
        | 'scopes'
        | 'allowedModes'
        | 'requiresApproval'
        | 'requiresSandbox'
        | 'pathArguments'
        | 'category'
        | 'audience'
        | 'examples'
        | 'idempotent'
        | 'undo'
      >
    > {
  readonly inputSchema: Input;
  /** Besides `read` or `write`. */
  readonly tags: readonly string[];
  /** Absent: it only looks. */
  readonly mutates?: boolean;
  /** Absent: it touches nothing that rules know by a name. */
  readonly claim?: (args: ValueOf<Input>, session: Session) => Resources;
  readonly timeoutMsFor?: (args: ValueOf<Input>) => number;
  readonly preview: (args: ValueOf<Input>, context: ToolContext) => Effect | Promise<Effect>;
  /** Returns at once where nothing is waited for. */
  readonly run: (args: ValueOf<Input>, context: ToolContext) => Output | Promise<Output>;
  readonly measureResult?: (output: Output) => number;
  readonly summarize: (args: ValueOf<Input>, output: Output) => string;
}

export function defineTool<const Input extends JsonObject, Output extends Json>(
  tool: CatalogueTool<Input, Output>,
): AnyTool {
  const { claim, timeoutMsFor, preview, run, measureResult, summarize, mutates = false, tags, ...about } = tool;
  // The gate passes only arguments that fit the input schema and outputs that came from `run`.
  const read = (args: JsonObject) => args as ValueOf<Input>;
  return {
    definition: {
      category: mutates ? 'system_write' : 'read_only',
      confirmation: mutates ? 'if_destructive' : 'never',
      scopes: [],
      allowedModes: mutates ? modesOutsideLockdown : modes,
      requiresApproval: false,
      requiresSandbox: false,
      audience: 'everyone',
      idempotent: !mutates,
      ...about,
      version: '1.0.0',
      tags: [...tags, mutates ? 'write' : 'read'],
      mutates,
    },
    claim: (args, session) => claim?.(read(args), session) ?? { paths: [] },
    ...(timeoutMsFor === undefined ? {} : { timeoutMsFor: (args: JsonObject) => timeoutMsFor(read(args)) }),
    preview: async (args, context) => preview(read(args), context),
    run: (args, context) => run(read(args), context),
    ...(measureResult === undefined ? {} : { measureResult: (output: Json) => measureResult(output as Output) }),
    summarize: (args, output) => summarize(read(args), output as Output),
  };
}

/** The effect of a tool that changes nothing. */
export function looksAt(summary: string): Effect {
  return { summary, detail: '', undoable: false };
}
