import type { ModeRead, Opened, Resolved } from '../call/call.ts';
import { modeRefusal } from '../modes/mode-refusal.ts';
import type { ModeGate } from '../modes/mode-refusal.ts';
import type { Stage } from '../call/stage.ts';
import type { Store } from '../storage/stores.ts';

const neverClosed: ModeGate = { isClosed: () => false, isOpenedByName: () => true };

/** Reads the mode for every call, and checks whether it allows the tool. */
export function checkMode(
  store: Pick<Store, 'readMode'>,
  gate: ModeGate = neverClosed,
): Stage<Opened & Resolved, ModeRead> {
  return {
    name: 'check-mode',
    run: (call) => {
      const mode = store.readMode();
      call.mode = mode;
      return modeRefusal(call.tool.definition, mode, gate, call.session.principal);
    },
  };
}
