import type { ModeRead, Resolved } from '../model/call.ts';
import { refuse } from '../model/refusal.ts';
import type { Mode } from '../model/session.ts';
import type { ToolDefinition } from '../model/tool.ts';
import type { Stage } from '../pipeline/stage.ts';
import type { Store } from '../storage/stores.ts';

export interface ModeGate {
  /** Whether the mode lets nothing run but what a rule opens in it by name. */
  readonly isClosed: (mode: Mode) => boolean;
  readonly isOpenedByName: (tool: ToolDefinition, mode: Mode) => boolean;
}

const neverClosed: ModeGate = { isClosed: () => false, isOpenedByName: () => true };

/** Reads the mode afresh for every call and holds the tool against it. */
export function checkMode(store: Pick<Store, 'readMode'>, gate: ModeGate = neverClosed): Stage<Resolved, ModeRead> {
  return {
    name: 'check-mode',
    run: ({ tool }) => {
      const mode = store.readMode();
      const { name, allowedModes, audience } = tool.definition;
      const rule = `mode-${mode.toLowerCase()}`;
      if (!allowedModes.includes(mode)) {
        return refuse('MODE_FORBIDS', rule, `${name} may not be used in mode ${mode}.`, {
          remedy: `It is available in ${allowedModes.join(', ')}. An operator can change the mode.`,
        });
      }
      // Whoever runs the gate must be able to act in every mode.
      if (audience !== 'operator' && gate.isClosed(mode) && !gate.isOpenedByName(tool.definition, mode)) {
        return refuse('MODE_FORBIDS', rule, `Nothing runs in mode ${mode} but what a rule names for it.`, {
          remedy: `An operator can change the mode, or name ${mode} under modes of a rule for ${name}.`,
        });
      }
      return { mode };
    },
  };
}
