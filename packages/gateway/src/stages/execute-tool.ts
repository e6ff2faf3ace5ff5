import { describeCode } from '@sallyport/contract';
import { openDeadline, runBuiltin } from '../execution/run-builtin.ts';
import type { ContextFacts, ObservedContext, ToolContextFactory } from '../execution/tool-context.ts';
import { CallEnded } from '../call/call-ended.ts';
import type * as facts from '../call/call.ts';
import { mayReachOut } from '../calls/running-calls.ts';
import type { RunningCalls } from '../calls/running-calls.ts';
import { ToolRefused } from '../call/tool.ts';
import type { AnyTool } from '../call/tool.ts';
import type { Stage } from '../call/stage.ts';
import { refuseBegun } from './explain-begun.ts';

type Needs = ContextFacts & facts.ReuseChecked & facts.Intended & facts.Confirmed;

/** The effect. Needs a durable intent and a standing that was confirmed a moment ago. */
export function executeTool(
  createContext: ToolContextFactory,
  options: { readonly graceMs?: number; readonly running?: Pick<RunningCalls, 'begin'> } = {},
): Stage<Needs, facts.Executed> {
  return {
    name: 'execute-tool',
    run: async (call) => {
      if (call.reused !== undefined) {
        return {
          execution: { result: { ok: true, output: call.reused.output }, usage: {}, beforeImages: [], hasBegun: false },
        };
      }
      const beganAtMs = performance.now();
      const { callId, tool, mode } = call;
      options.running?.begin({ callId, tool: tool.definition, mode, reachesOut: mayReachOut(call) });
      const deadline = openDeadline(call.signal, call.effectiveTimeoutMs);
      let observed: ObservedContext | undefined;
      try {
        observed = createContext(call, deadline.signal);
        const { context } = observed;
        const run = () => call.tool.run(call.arguments.value, context);
        let execution = await runBuiltin(run, deadline.signal, observed, options);
        if (isWorthRetrying(call.tool, execution) && !deadline.signal.aborted) {
          execution = await runBuiltin(run, deadline.signal, observed, options);
        }
        // However the tool puts it: it failed because it was ended.
        const reason: unknown = call.signal.reason;
        if (reason instanceof CallEnded && !execution.result.ok) {
          const { failure } = execution.result;
          // A pipeline says the same, and where it was.
          const said = failure.message.startsWith(reason.message) ? failure : reason;
          execution = { ...execution, result: { ok: false, failure: said }, endedBy: reason };
        }
        // The time of a pipeline is that of its steps, and each of them is charged for its own.
        const isChain = call.tool.definition.origin === 'pipeline';
        // What ran to its end and changes things has changed them, whatever becomes of its result.
        if (execution.result.ok && tool.definition.mutates) execution = { ...execution, hasBegun: true };
        return { execution, activeMs: isChain ? 0 : Math.ceil(performance.now() - beganAtMs) };
      } catch (error) {
        if (!(error instanceof ToolRefused)) throw error;
        return observed?.hasBegun() ? refuseBegun(error.refusal, call) : error.refusal;
      } finally {
        deadline.close();
      }
    },
  };
}

/** Once, and only where running twice is the same as running once. */
function isWorthRetrying({ definition }: AnyTool, { result }: facts.Execution): boolean {
  return !result.ok && definition.idempotent && describeCode(result.failure.code).retryable;
}
