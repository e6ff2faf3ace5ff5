import type { Executed, Resolved, ReuseChecked } from '../call/call.ts';
import { ToolFailure } from '../call/tool.ts';
import type { Stage } from '../call/stage.ts';
import type { Registry } from '../registry/registry.ts';

/** Checks the result against the output schema: a tool whose result does not match has failed. */
export function checkResult(registry: Registry): Stage<Resolved & ReuseChecked & Executed, Executed> {
  return {
    name: 'check-result',
    run: (call) => {
      const { tool, execution, reused } = call;
      // A reused result was checked before, and a large one is not in memory.
      if (!execution.result.ok || reused !== undefined) return undefined;
      const violations = registry.schemasOf(tool).output.check(execution.result.output);
      if (violations.length === 0) return undefined;
      const details = violations.map((violation) => violation.message).join('; ');
      const failure = new ToolFailure(
        'INVALID_RESULT',
        `${tool.definition.name} returned a result that violates its output schema: ${details}.`,
      );
      call.execution = { ...execution, result: { ok: false, failure } };
      return undefined;
    },
  };
}
