import { refuse } from '../call/refusal.ts';
import type { Refusal } from '../call/refusal.ts';
import type { Mode, Principal } from '../call/session.ts';
import type { ToolDefinition } from '../call/tool.ts';

export interface ModeGate {
  /** Whether the mode lets nothing run but what a rule opens in it by name. */
  readonly isClosed: (mode: Mode) => boolean;
  readonly isOpenedByName: (tool: ToolDefinition, mode: Mode) => boolean;
}

/** Why nobody may use the tool in this mode. */
export function modeRefusal(
  tool: ToolDefinition,
  mode: Mode,
  gate: ModeGate,
  principal: Principal,
): Refusal | undefined {
  const { name, allowedModes, audience } = tool;
  const rule = `mode-${mode.toLowerCase()}`;
  if (!allowedModes.includes(mode)) {
    return refuse('MODE_FORBIDS', rule, `${name} may not be used in mode ${mode}.`, {
      remedy: `It is available in ${allowedModes.join(', ')}.`,
      forOperators: `It is available in ${allowedModes.join(', ')}; change the mode with \`sallyport mode set\`.`,
    });
  }
  // Operators must be able to act in every mode.
  const runsGate = audience !== 'everyone' && principal === 'operator';
  if (runsGate || !gate.isClosed(mode) || gate.isOpenedByName(tool, mode)) return undefined;
  return refuse('MODE_FORBIDS', rule, `In mode ${mode}, only calls that a rule names for it run.`, {
    remedy: 'Wait until the mode changes.',
    forOperators: `Change the mode, or name ${mode} under modes of a rule for ${name}.`,
  });
}
