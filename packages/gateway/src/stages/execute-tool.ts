import { describeCode } from '@sallyport/contract';
import { Deadline, runBuiltin } from '../execution/run-builtin.ts';
import type { Attempt } from '../execution/run-builtin.ts';
import type { ContextFacts, ObservedContext, ToolContextFactory } from '../execution/tool-context.ts';
import { CallEnded } from '../call/call-ended.ts';
import type * as facts from '../call/call.ts';
import { mayReachOut } from '../calls/running-calls.ts';
import type { Refusal } from '../call/refusal.ts';
import { ToolRefused } from '../call/tool.ts';
import type { AnyTool } from '../call/tool.ts';
import type { Passed, Stage, Working } from '../call/stage.ts';
import { refuseBegun } from './explain-begun.ts';

type Needs = ContextFacts & facts.ReuseChecked & facts.Intended & facts.Confirmed;

type Executing = Working<Needs, facts.Executed>;

interface ExecuteOptions {
  readonly graceMs?: number;
}

/** Runs the tool. Needs a durable intent, and session, mode and rules confirmed a moment ago. */
export function executeTool(
  createContext: ToolContextFactory,
  options: ExecuteOptions = {},
): Stage<Needs, facts.Executed> {
  return {
    name: 'execute-tool',
    run: (call) => {
      if (call.reused === undefined) return execute(call, createContext, options);
      const result = { ok: true, output: call.reused.output } as const;
      call.execution = { result, usage: {}, changes: [], hasBegun: false };
      return undefined;
    },
  };
}

function execute(
  call: Executing,
  createContext: ToolContextFactory,
  options: ExecuteOptions,
): Passed | Promise<Passed> {
  const beganAtMs = performance.now();
  const { tool, mode } = call;
  call.underWay?.begin({ tool: tool.definition, mode, reachesOut: mayReachOut(call) });
  const deadline = new Deadline(call, call.effectiveTimeoutMs);
  let observed: ObservedContext | undefined;
  try {
    observed = createContext(call, deadline);
    const { context } = observed;
    const attempt = { run: () => tool.run(call.arguments.value, context), deadline, observed };
    const first = runBuiltin(attempt, options);
    if (first instanceof Promise || isWorthRetrying(tool, first))
      return awaitEnd(call, first, attempt, options, beganAtMs);
    finish(call, first, beganAtMs);
    deadline.close();
    return undefined;
  } catch (error) {
    deadline.close();
    return refusalOf(error, observed, call);
  }
}

async function awaitEnd(
  call: Executing,
  first: facts.Execution | Promise<facts.Execution>,
  attempt: Attempt,
  options: ExecuteOptions,
  beganAtMs: number,
): Promise<Passed> {
  const { deadline, observed } = attempt;
  try {
    let execution = await first;
    if (isWorthRetrying(call.tool, execution) && !deadline.isOver) execution = await runBuiltin(attempt, options);
    finish(call, execution, beganAtMs);
    return undefined;
  } catch (error) {
    return refusalOf(error, observed, call);
  } finally {
    deadline.close();
    await observed.pending;
  }
}

function finish(call: Executing, given: facts.Execution, beganAtMs: number): void {
  const { mutates, origin } = call.tool.definition;
  const execution = nameEnder(given, call);
  // A tool that changes things and ran to its end has changed them, even if its result is invalid.
  call.execution = execution.result.ok && mutates ? { ...execution, hasBegun: true } : execution;
  // The time of a pipeline is that of its steps, and each of them is charged for its own.
  call.ranUntilMs = performance.now();
  call.activeMs = origin === 'pipeline' ? 0 : Math.ceil(call.ranUntilMs - beganAtMs);
}

function refusalOf(error: unknown, observed: ObservedContext | undefined, call: Needs): Refusal {
  if (!(error instanceof ToolRefused)) throw error;
  return observed?.hasBegun ? refuseBegun(error.refusal, call) : error.refusal;
}

/** Whatever the tool reports, it failed because somebody ended it. */
function nameEnder(execution: facts.Execution, call: Needs): facts.Execution {
  if (execution.result.ok || !call.isEnded) return execution;
  const reason: unknown = call.signal.reason;
  if (!(reason instanceof CallEnded)) return execution;
  const { failure } = execution.result;
  // A pipeline says the same, and where it was.
  const said = failure.message.startsWith(reason.message) ? failure : reason;
  return { ...execution, result: { ok: false, failure: said }, endedBy: reason };
}

/** Retries once, and only if running twice is the same as running once. */
function isWorthRetrying({ definition }: AnyTool, { result }: facts.Execution): boolean {
  return !result.ok && definition.idempotent && describeCode(result.failure.code).retryable;
}
