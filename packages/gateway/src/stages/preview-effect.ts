import { canonicalJson } from '@sallyport/contract';
import type { JsonObject } from '@sallyport/contract';
import { Deadline, runBuiltin } from '../execution/run-builtin.ts';
import type { ContextFacts, ToolContextFactory } from '../execution/tool-context.ts';
import { isRefusal, refuse } from '../call/refusal.ts';
import type { Refusal } from '../call/refusal.ts';
import { ToolFailure, ToolRefused } from '../call/tool.ts';
import type { Effect } from '../call/tool.ts';
import type { Stage } from '../call/stage.ts';

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
      if (isRefusal(effect)) return effect;
      const shown = shownEffect(effect, call);
      call.effect = shown;
      return refuseUnshown(shown);
    },
  };
}

/** Nobody can agree to an effect that cannot be shown. Undefined: all of it can be shown. */
export function refuseUnshown({ unshown }: Effect): Refusal | undefined {
  if (unshown === undefined) return undefined;
  const { bytes, remedy = 'Do it in smaller calls.' } = unshown;
  const message = `A person would have to look at ${bytes} bytes or more, which is more than can be shown.`;
  return refuse('ARGUMENTS_TOO_LARGE', 'effect-size', message, { remedy });
}

/**
 * What the person who decides is shown. If an effect could not be worked out, for example because a file does not
 * exist, the person is told so, if the caller may not know it or if an earlier step of a plan may change it.
 */
export function shownEffect(effect: Effect | ToolFailure, { arguments: { value }, tool }: Previewable): Effect {
  const { secretArguments = [] } = tool.definition;
  const open = Object.entries(value).map(([name, each]) => [name, secretArguments.includes(name) ? '[secret]' : each]);
  const given = `arguments: ${canonicalJson(Object.fromEntries(open) as JsonObject)}\n`;
  // If a tool gives only a title, the card also shows the arguments.
  if (!(effect instanceof ToolFailure)) {
    // The card does not promise an undo that the journal cannot do.
    const undoable = effect.undoable && tool.definition.undo !== undefined;
    return { ...effect, undoable, detail: effect.detail === '' ? given : effect.detail };
  }
  const { code, message } = effect;
  const detail = `${message}\n${given}`;
  return { summary: `The effect could not be worked out (${code}).`, detail, undoable: false };
}

/**
 * The effect, within the time that the call itself would have; or why it could not be worked out; or the refusal of a
 * gate inside the tool, which would refuse the call whatever a person says.
 */
export async function previewEffect(
  call: Previewable,
  createContext: ToolContextFactory,
): Promise<Effect | ToolFailure | Refusal> {
  const { tool } = call;
  const deadline = new Deadline(call, call.effectiveTimeoutMs);
  try {
    const observed = createContext(call, deadline);
    const run = async () => ({ ...(await tool.preview(call.arguments.value, observed.context)) });
    const { result } = await runBuiltin({ run, deadline, observed });
    return result.ok ? (result.output as unknown as Effect) : result.failure;
  } catch (error) {
    if (error instanceof ToolRefused) return error.refusal;
    throw error;
  } finally {
    deadline.close();
  }
}
