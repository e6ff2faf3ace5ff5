import { CallEnded } from '../call/call-ended.ts';
import type { CallEnder } from '../call/call-ended.ts';
import { Cancellation } from '../call/cancellation.ts';
import type { AbortLike } from '../call/cancellation.ts';
import type { ArgumentsChecked, Begun, Judged, Resolved } from '../call/call.ts';
import type { Mode, Session } from '../call/session.ts';
import type { ToolDefinition } from '../call/tool.ts';

/** A call whose effect is about to begin. */
export interface BegunCall {
  readonly callId: string;
  readonly tool: Pick<ToolDefinition, 'name' | 'mutates' | 'audience'>;
  /** In which it was let through. */
  readonly mode: Mode;
  /** Whether it has effects elsewhere, which nobody here can stop or take back. */
  readonly reachesOut: boolean;
}

/** A call between its arrival and its answer, as an operator sees it. */
export interface ListedCall {
  readonly callId: string;
  readonly tool: string;
  readonly session: Pick<Session, 'id' | 'agent'>;
  readonly state: 'waiting' | 'running';
  readonly startedAtMs: number;
}

/** A call as long as it is under way. */
export interface OpenCall {
  readonly cancellation: Cancellation;
  readonly close: () => void;
}

interface Entry {
  readonly call: Pick<Begun, 'callId' | 'toolName' | 'startedAtMs'>;
  readonly end: (how: CallEnder, by: string) => void;
  session?: Pick<Session, 'id' | 'agent'>;
  begun?: BegunCall;
}

/**
 * The calls between their arrival and their answer, and the one way to end them: their signal aborts with who did it,
 * which ends the processes of programs and lets file tools roll back. LOCKDOWN ends those that change something and have
 * begun; administration goes on, or nobody could end LOCKDOWN.
 */
export class RunningCalls {
  readonly #currentMode: () => Mode;
  readonly #entries = new Map<string, Entry>();
  #stoppedBy: string | undefined;
  #onIdle: () => void = () => undefined;

  constructor(currentMode: () => Mode) {
    this.#currentMode = currentMode;
  }

  /** Since `stop` was called. */
  get isStopping(): boolean {
    return this.#stoppedBy !== undefined;
  }

  /** Until `close`, its cancellation aborts when the caller leaves or the call is ended. After a stop it is aborted already. */
  open(call: Entry['call'], caller: AbortLike): OpenCall {
    const cancellation = new Cancellation();
    const leave = (): void => cancellation.abort(caller.reason);
    const entry: Entry = {
      call,
      end: (how, by) => {
        const { begun } = entry;
        const reachesOut = begun !== undefined && begun.tool.mutates && begun.reachesOut;
        cancellation.abort(new CallEnded(how, by, { reachesOut }));
      },
    };
    if (caller.aborted) leave();
    else caller.addEventListener('abort', leave, { once: true });
    if (this.#stoppedBy !== undefined) entry.end('stop', this.#stoppedBy);
    this.#entries.set(call.callId, entry);
    return {
      cancellation,
      close: () => {
        caller.removeEventListener('abort', leave);
        this.#entries.delete(call.callId);
        if (this.#entries.size === 0) this.#onIdle();
      },
    };
  }

  /** Whose call it is: known from here on. */
  identify(callId: string, session: Pick<Session, 'id' | 'agent'>): void {
    const entry = this.#entries.get(callId);
    if (entry !== undefined) entry.session = session;
  }

  /** Its effect begins. Ends it at once if LOCKDOWN began on the way here. */
  begin(call: BegunCall): void {
    const entry = this.#entries.get(call.callId);
    if (entry === undefined) return;
    entry.begun = call;
    if (isStoppable(entry) && call.mode !== 'LOCKDOWN' && this.#currentMode() === 'LOCKDOWN') {
      entry.end('lockdown', 'sallyport');
    }
  }

  /** Oldest first. */
  list(): readonly ListedCall[] {
    return [...this.#entries.values()].flatMap(({ call, session, begun }) => {
      if (session === undefined) return [];
      const { callId, toolName, startedAtMs } = call;
      const state = begun === undefined ? 'waiting' : 'running';
      return [{ callId, tool: begun?.tool.name ?? toolName, session, state, startedAtMs }];
    });
  }

  /** False when no such call is there. It ends by itself, with its own outcome in the log. */
  cancel(callId: string, by: string): boolean {
    const entry = this.#entries.get(callId);
    entry?.end('cancel', by);
    return entry !== undefined;
  }

  /** Returns whom it told, here and below. They end by themselves, each with an outcome of its own in the log. */
  endSession(sessionId: string, by: string): readonly string[] {
    return this.#end(({ session }) => session?.id === sessionId, 'session-end', by);
  }

  /** What LOCKDOWN ends. */
  endChanging(by: string): readonly string[] {
    return this.#end(isStoppable, 'lockdown', by);
  }

  /**
   * Takes no further call, lets those that are there finish for a moment, and ends the rest. Resolves when all of them
   * have ended, or have had time enough.
   */
  async stop(by: string, { finishMs, endMs }: { readonly finishMs: number; readonly endMs: number }): Promise<void> {
    this.#stoppedBy = by;
    await this.#idle(finishMs);
    this.#end(() => true, 'stop', by);
    await this.#idle(endMs);
  }

  #end(isMeant: (entry: Entry) => boolean, how: CallEnder, by: string): readonly string[] {
    const meant = [...this.#entries.values()].filter(isMeant);
    for (const { end } of meant) end(how, by);
    return meant.map(({ call }) => call.callId);
  }

  async #idle(mostMs: number): Promise<void> {
    if (this.#entries.size === 0) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#onIdle = resolve;
    const timer = setTimeout(resolve, mostMs);
    await promise;
    clearTimeout(timer);
  }
}

function isStoppable({ begun }: Entry): boolean {
  return begun !== undefined && begun.tool.mutates && begun.tool.audience === 'everyone';
}

/** Whether a call may have effects beyond this machine, as far as can be told before it runs. */
export function mayReachOut({ tool, resources, verdict }: Resolved & ArgumentsChecked & Judged): boolean {
  const { origin, scopes } = tool.definition;
  if (origin === 'upstream') return true;
  if (!scopes.includes('network')) return false;
  return (resources.hosts?.length ?? 0) > 0 || (verdict.grants?.hosts.length ?? 0) > 0;
}
