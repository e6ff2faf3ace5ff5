import { openDeadline, runBuiltin } from '../executors/run-builtin.ts';
import type { ContextFacts, ToolContextFactory } from '../executors/tool-context.ts';
import { isRefusal } from '../model/refusal.ts';
import type { Refusal } from '../model/refusal.ts';
import { ToolFailure, ToolRefused } from '../model/tool.ts';
import type { Effect } from '../model/tool.ts';
import type { Stage } from '../pipeline/stage.ts';

export type Previewable = ContextFacts;

export interface Previewed {
  readonly effect: Effect;
}

/** Works out the effect of a call that is only planned. */
export function previewCall(createContext: ToolContextFactory): Stage<Previewable, Previewed> {
  return {
    name: 'preview-call',
    run: async (call) => {
      const effect = await previewEffect(call, createContext);
      return isRefusal(effect) ? effect : { effect: shownEffect(effect) };
    },
  };
}

/**
 * What the person who decides is shown. That an effect could not be worked out, such as because a file does not exist,
 * is for them and not for the caller, so it is no refusal.
 */
export function shownEffect(effect: Effect | ToolFailure): Effect {
  if (!(effect instanceof ToolFailure)) return effect;
  const { code, message } = effect;
  return { summary: `The effect could not be worked out (${code}).`, detail: message, undoable: false };
}

/**
 * The effect, within the time that the call itself would have; or why it could not be worked out; or the refusal of a gate
 * inside the tool, which would refuse the call whatever a person says.
 */
export async function previewEffect(
  call: Previewable,
  createContext: ToolContextFactory,
): Promise<Effect | ToolFailure | Refusal> {
  const { tool } = call;
  const deadline = openDeadline(call.signal, call.effectiveTimeoutMs);
  try {
    const observed = createContext(call, deadline.signal);
    const preview = async () => ({ ...(await tool.preview(call.arguments.value, observed.context)) });
    const { result } = await runBuiltin(preview, deadline.signal, observed);
    return result.ok ? (result.output as unknown as Effect) : result.failure;
  } catch (error) {
    if (error instanceof ToolRefused) return error.refusal;
    throw error;
  } finally {
    deadline.close();
  }
}
