import type { ArgumentsChecked, Judged, Resolved } from '../model/call.ts';
import type { Mode } from '../model/session.ts';
import { ToolFailure } from '../model/tool.ts';
import type { ToolDefinition } from '../model/tool.ts';

/** What has begun and can be told to stop. */
export interface RunningCall {
  readonly callId: string;
  readonly tool: Pick<ToolDefinition, 'mutates' | 'audience'>;
  /** In which it was let through. */
  readonly mode: Mode;
  /** Whether it has effects elsewhere, which nobody here can stop or take back. */
  readonly reachesOut: boolean;
}

/**
 * The calls whose effects are under way. LOCKDOWN stops those that change something: their signal aborts, which ends
 * the processes of programs and lets file tools roll back; what happens elsewhere is then unknown. Administration goes
 * on, or nobody could end LOCKDOWN.
 */
export class RunningCalls {
  readonly #currentMode: () => Mode;
  readonly #stops = new Map<string, () => void>();

  constructor(currentMode: () => Mode) {
    this.#currentMode = currentMode;
  }

  /**
   * Until `leave`, the signal aborts when LOCKDOWN begins. It is aborted already if that happened on the way here.
   * Undefined: LOCKDOWN does not stop the call.
   */
  enter({ callId, tool, mode, reachesOut }: RunningCall): { signal: AbortSignal; leave: () => void } | undefined {
    if (!tool.mutates || tool.audience === 'operator') return undefined;
    const stopping = new AbortController();
    const stop = (): void => stopping.abort(stoppedByLockdown(reachesOut));
    this.#stops.set(callId, stop);
    if (mode !== 'LOCKDOWN' && this.#currentMode() === 'LOCKDOWN') stop();
    return { signal: stopping.signal, leave: () => void this.#stops.delete(callId) };
  }

  /** Returns whom it told. They end by themselves, each with an outcome of its own in the log. */
  stopChanging(): readonly string[] {
    for (const stop of this.#stops.values()) stop();
    return [...this.#stops.keys()];
  }
}

function stoppedByLockdown(reachesOut: boolean): ToolFailure {
  return reachesOut
    ? new ToolFailure('EFFECT_UNKNOWN', 'LOCKDOWN began and stopped the call. What it did elsewhere is not known.')
    : new ToolFailure('CANCELLED', 'LOCKDOWN began and stopped the call. What it had done by then may remain.');
}

/** Whether a call may have effects beyond this machine, as far as can be told before it runs. */
export function mayReachOut({ tool, resources, verdict }: Resolved & ArgumentsChecked & Judged): boolean {
  const { origin, scopes } = tool.definition;
  if (origin === 'upstream') return true;
  const hosts = [...(resources.hosts ?? []), ...(verdict.grants?.hosts ?? [])];
  return scopes.includes('network') && hosts.length > 0;
}
