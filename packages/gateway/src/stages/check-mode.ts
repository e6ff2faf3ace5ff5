import type { ModeRead, Resolved } from '../model/call.ts';
import { refuse } from '../model/refusal.ts';
import type { Stage } from '../pipeline/stage.ts';
import type { Store } from '../storage/stores.ts';

/** Reads the mode afresh for every call and holds the tool against it. */
export function checkMode(store: Pick<Store, 'readMode'>): Stage<Resolved, ModeRead> {
  return {
    name: 'check-mode',
    run: ({ tool }) => {
      const mode = store.readMode();
      const { name, allowedModes } = tool.definition;
      if (allowedModes.includes(mode)) return { mode };
      return refuse('MODE_FORBIDS', `mode-${mode.toLowerCase()}`, `${name} may not be used in mode ${mode}.`, {
        remedy: `It is available in ${allowedModes.join(', ')}. An operator can change the mode.`,
      });
    },
  };
}
