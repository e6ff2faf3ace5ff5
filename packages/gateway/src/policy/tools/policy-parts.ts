import type { Json, JsonObject } from '@sallyport/contract';
import type { AppliedRules } from '../language/applied-rules.ts';
import type { LoadedRules, ProjectWorkspace } from '../language/load-rules.ts';
import { ConfigError } from '../../call/fault.ts';
import type { RuleReference } from '../../call/refusal.ts';
import type { Session } from '../../call/session.ts';
import { ToolFailure } from '../../call/tool.ts';
import type { Tool, ToolContext } from '../../call/tool.ts';
import type { Registry } from '../../registry/registry.ts';
import type { Store } from '../../storage/stores.ts';
import { defineAdministration } from '../../registry/administration.ts';

export interface PolicyToolParts {
  readonly rules: AppliedRules;
  readonly registry: Registry;
  readonly store: Pick<
    Store,
    'logSize' | 'readRecords' | 'readMode' | 'readOrganisation' | 'readSession' | 'listSessions' | 'usedOf'
  >;
  /** The daemon's own. */
  readonly workspace: string;
  /** Where a session works. Undefined: no operator accepts that, or not any more. */
  readonly workspaceOf: (session: Pick<Session, 'workspace'>) => ProjectWorkspace | undefined;
  /** Hears that other rules are in force. */
  readonly onApplied: () => void;
}

export type Properties = Readonly<Record<string, JsonObject>>;

export const anyObject: JsonObject = { type: 'object' };

export const rulesProperty: JsonObject = {
  type: 'string',
  enum: ['applied', 'files'],
  default: 'applied',
  description: 'The rules in force, or the files as they are now.',
};

/** Going through the log takes as long as there are records. */
const longTimeoutMs = 10 * 60_000;

export interface ReadingTool {
  readonly name: string;
  readonly description: string;
  readonly properties: Properties;
  /** Absent: none. */
  readonly required?: readonly string[];
  readonly run: (args: JsonObject, context: ToolContext) => Json | Promise<Json>;
}

/** A tool that answers a question about the rules and changes nothing. */
export function defineReading({ name, description, properties, required = [], run }: ReadingTool): Tool<JsonObject> {
  return {
    definition: {
      ...defineAdministration({
        ...{ name, description, mutates: false, idempotent: true },
        inputSchema: { type: 'object', additionalProperties: false, required: [...required], properties },
        outputSchema: anyObject,
      }),
      timeoutMs: longTimeoutMs,
    },
    claim: () => ({ paths: [] }),
    preview: () => Promise.resolve({ summary: description, detail: '', undoable: true }),
    run: async (args, context) => withConfigErrors(() => run(args, context)),
    summarize: () => name,
  };
}

export function chooseRules(rules: AppliedRules, which: Json | undefined): LoadedRules {
  return which === 'files' ? rules.preview() : rules.current;
}

/** The rules as they are applied to a session. Throws ToolFailure where nothing of it would come to the rules. */
export function rulesWhere(
  rules: LoadedRules,
  session: Pick<Session, 'workspace'>,
  parts: PolicyToolParts,
): LoadedRules {
  const workspace = parts.workspaceOf(session);
  if (workspace !== undefined) return rules.within(workspace);
  const message = `The workspace ${session.workspace ?? ''} is not in a folder that an operator accepted.`;
  throw new ToolFailure('EXECUTION_ERROR', message, { forOperators: '`sallyport workspace list` shows them.' });
}

/** What is wrong with the files is for the operator to read. */
export async function withConfigErrors<Value>(work: () => Value | Promise<Value>): Promise<Value> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    const { message, remedy } = error;
    const options = { cause: error, ...(remedy === undefined ? {} : { forOperators: remedy }) };
    throw new ToolFailure('EXECUTION_ERROR', message, options);
  }
}

export function describeRule({ id, file, line }: RuleReference): JsonObject {
  return { rule_id: id, ...(file === undefined ? {} : { file }), ...(line === undefined ? {} : { line }) };
}
