import type { Mode } from '../model/session.ts';
import { ToolFailure } from '../model/tool.ts';
import type { ToolDefinition } from '../model/tool.ts';

/** What has begun and can be told to stop. */
export interface RunningCall {
  readonly callId: string;
  readonly tool: Pick<ToolDefinition, 'mutates' | 'audience'>;
  /** In which it was let through. */
  readonly mode: Mode;
}

/**
 * The calls whose effects are under way. LOCKDOWN stops those that change something: their signal aborts, which ends
 * the processes of programs and lets file tools roll back. Administration goes on, or nobody could end LOCKDOWN.
 */
export class RunningCalls {
  readonly #currentMode: () => Mode;
  readonly #stops = new Map<string, AbortController>();

  constructor(currentMode: () => Mode) {
    this.#currentMode = currentMode;
  }

  /**
   * Until `leave`, the signal aborts when LOCKDOWN begins. It is aborted already if that happened on the way here.
   * Undefined: LOCKDOWN does not stop the call.
   */
  enter({ callId, tool, mode }: RunningCall): { signal: AbortSignal; leave: () => void } | undefined {
    if (!tool.mutates || tool.audience === 'operator') return undefined;
    const stop = new AbortController();
    this.#stops.set(callId, stop);
    if (mode !== 'LOCKDOWN' && this.#currentMode() === 'LOCKDOWN') stop.abort(stoppedByLockdown());
    return { signal: stop.signal, leave: () => void this.#stops.delete(callId) };
  }

  /** Returns whom it told. They end by themselves, each with an outcome of its own in the log. */
  stopChanging(): readonly string[] {
    for (const stop of this.#stops.values()) stop.abort(stoppedByLockdown());
    return [...this.#stops.keys()];
  }
}

function stoppedByLockdown(): ToolFailure {
  return new ToolFailure('CANCELLED', 'LOCKDOWN began and stopped the call. What it had done by then may remain.');
}
