import { openDeadline, runBuiltin } from '../executors/run-builtin.ts';
import type { ToolContextFactory } from '../executors/tool-context.ts';
import type * as facts from '../model/call.ts';
import { isRefusal, refuse } from '../model/refusal.ts';
import type { Refusal } from '../model/refusal.ts';
import { ToolRefused } from '../model/tool.ts';
import type { Effect } from '../model/tool.ts';
import type { Stage } from '../pipeline/stage.ts';

export type Previewable = facts.Begun &
  facts.Opened &
  facts.Resolved &
  facts.ArgumentsChecked &
  facts.Leased &
  facts.Permitted &
  facts.ModeRead &
  facts.Judged;

export interface Previewed {
  readonly effect: Effect;
}

/** Works out the effect of a call that is only planned. */
export function previewCall(createContext: ToolContextFactory): Stage<Previewable, Previewed> {
  return {
    name: 'preview-call',
    run: async (call) => ({ effect: shownEffect(await previewEffect(call, createContext)) }),
  };
}

/**
 * What the person who decides is shown. That an effect could not be worked out, such as because a file does not exist,
 * is for them and not for the caller, so it is no refusal.
 */
export function shownEffect(effect: Effect | Refusal): Effect {
  if (!isRefusal(effect)) return effect;
  const { code, message } = effect;
  return { summary: `The effect could not be worked out (${code}).`, detail: message, undoable: false };
}

/** The effect, within the time that the call itself would have, or why there is none. */
export async function previewEffect(call: Previewable, createContext: ToolContextFactory): Promise<Effect | Refusal> {
  const { tool } = call;
  const deadline = openDeadline(call.signal, call.effectiveTimeoutMs);
  try {
    const observed = createContext(call, deadline.signal);
    const preview = async () => ({ ...(await tool.preview(call.arguments.value, observed.context)) });
    const { result } = await runBuiltin(preview, deadline.signal, observed);
    if (result.ok) return result.output as unknown as Effect;
    const { code, message } = result.failure;
    return refuse(code, 'preview', message, {
      remedy: `The effect of ${tool.definition.name} could not be worked out.`,
    });
  } catch (error) {
    if (error instanceof ToolRefused) return error.refusal;
    throw error;
  } finally {
    deadline.close();
  }
}
