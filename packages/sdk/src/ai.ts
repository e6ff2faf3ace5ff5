import { randomUUID } from 'node:crypto';
import { openHooks, UseRefused } from './gate-hooks.ts';
import type { HookOptions, TellGate } from './gate-hooks.ts';

export { UseRefused } from './gate-hooks.ts';
export type { HookOptions } from './gate-hooks.ts';

export interface GovernOptions extends HookOptions {
  /** The folder in which the tools work; it must be in the workspace of the session. Absent: where the process runs. */
  readonly cwd?: string;
}

interface ToolCallOptions {
  readonly toolCallId?: string;
  readonly abortSignal?: AbortSignal;
}

type Execute = (input: never, options: never) => unknown;

/**
 * Puts the gate in front of the tools of an agent of the Vercel AI SDK. The rules judge each call first, as a call of
 * `client.tool` with the name of the tool. The call waits if a person must agree, and its outcome is recorded. A
 * refusal is thrown as UseRefused: the model reads why, and what it may do instead.
 *
 * Throws TypeError for a tool without `execute`: nothing here could stop it.
 */
export function governTools<Tools extends Readonly<Record<string, object>>>(
  tools: Tools,
  { cwd = process.cwd(), ...options }: GovernOptions = {},
): Tools {
  const tell = openHooks('sdk', options);
  const session = randomUUID();
  const governed = Object.entries(tools).map(([name, tool]) => {
    const { execute } = tool as { readonly execute?: Execute };
    if (typeof execute !== 'function') {
      throw new TypeError(`The tool ${name} has no execute, so the gate cannot be put in front of it.`);
    }
    const use = { session_id: session, cwd, tool_name: name };
    return [name, { ...tool, execute: governUse(use, execute, tell) }];
  });
  return Object.fromEntries(governed) as Tools;
}

function governUse(named: object, execute: Execute, tell: TellGate) {
  async function* run(input: unknown, options: ToolCallOptions = {}): AsyncGenerator<unknown, unknown> {
    // The framework may reuse an id, in another step or after a repair.
    const use = { ...named, tool_use_id: `${options.toolCallId ?? 'call'}-${randomUUID()}`, tool_input: input };
    const allowed = await askGate(use, tell, options.abortSignal);
    // If the gate cannot be told the outcome, the record says that it is unknown.
    const tellEnd = (event: string): Promise<unknown> =>
      tell({ ...use, hook_event_name: event, tool_response: {} }).catch(() => undefined);
    try {
      const result: unknown = execute(allowed as never, options as never);
      let last: unknown;
      if (isStream(result)) for await (last of result) yield last;
      else last = await result;
      await tellEnd('PostToolUse');
      return last;
    } catch (error) {
      await tellEnd('PostToolUseFailure');
      throw error;
    }
  }
  // A tool that streams its results still does.
  if (isGenerator(execute)) return run;
  return async (input: unknown, options?: ToolCallOptions): Promise<unknown> => {
    const running = run(input, options);
    for (;;) {
      const { done, value } = await running.next();
      if (done === true) return value;
    }
  };
}

function isGenerator(execute: Execute): boolean {
  return Object.prototype.toString.call(execute) === '[object AsyncGeneratorFunction]';
}

/**
 * The input that the gate lets through. Throws UseRefused for everything else, also when the gate cannot be reached.
 */
async function askGate(use: { readonly tool_input: unknown }, tell: TellGate, signal?: AbortSignal): Promise<unknown> {
  let reply;
  try {
    reply = await tell({ ...use, hook_event_name: 'PreToolUse' }, signal);
  } catch (error) {
    signal?.throwIfAborted();
    throw new UseRefused(`Sallyport could not be asked, so the tool did not run: ${(error as Error).message}`);
  }
  const decision = reply.output?.hookSpecificOutput;
  if (reply.exitCode === 0 && decision?.permissionDecision === 'allow') return decision.updatedInput ?? use.tool_input;
  throw new UseRefused(decision?.permissionDecisionReason ?? reply.message ?? 'Sallyport did not allow it.');
}

function isStream(value: unknown): value is AsyncIterable<unknown> {
  return typeof value === 'object' && value !== null && Symbol.asyncIterator in value;
}
