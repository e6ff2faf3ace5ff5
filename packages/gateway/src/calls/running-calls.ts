import { CallEnded } from '../call/call-ended.ts';
import type { CallEnder } from '../call/call-ended.ts';
import { Cancellation } from '../call/cancellation.ts';
import type { AbortLike } from '../call/cancellation.ts';
import type { ArgumentsChecked, Begun, Judged, Resolved } from '../call/call.ts';
import type { Mode, Session } from '../call/session.ts';
import type { BegunCall, UnderWay } from '../call/under-way.ts';

/** A call between its arrival and its answer, as an operator sees it. */
export interface ListedCall {
  readonly callId: string;
  readonly tool: string;
  readonly session: Pick<Session, 'id' | 'agent'>;
  readonly state: 'waiting' | 'running';
  readonly startedAtMs: number;
}

type Identity = Pick<Begun, 'callId' | 'toolName' | 'startedAtMs'>;

/** A call as long as it is under way. Until `close`, its cancellation aborts when the caller leaves or the call is ended. */
export class RunningCall implements UnderWay {
  readonly cancellation = new Cancellation();
  readonly call: Identity;
  session: Pick<Session, 'id' | 'agent'> | undefined;
  begun: BegunCall | undefined;
  readonly #caller: AbortLike;
  readonly #calls: RunningCalls;

  constructor(calls: RunningCalls, call: Identity, caller: AbortLike) {
    this.call = call;
    this.#caller = caller;
    this.#calls = calls;
    if (caller.aborted) this.#leave();
    else caller.addEventListener('abort', this.#leave, { once: true });
  }

  identify(session: Pick<Session, 'id' | 'agent'>): void {
    this.session = session;
  }

  /** Ends it at once if LOCKDOWN began on the way here. */
  begin(call: BegunCall): void {
    this.begun = call;
    this.#calls.checkBegun(this);
  }

  end(how: CallEnder, by: string): void {
    const { begun } = this;
    const reachesOut = begun !== undefined && begun.tool.mutates && begun.reachesOut;
    this.cancellation.abort(new CallEnded(how, by, { reachesOut }));
  }

  close(): void {
    this.#caller.removeEventListener('abort', this.#leave);
    this.#calls.forget(this);
  }

  readonly #leave = (): void => this.cancellation.abort(this.#caller.reason);
}

/**
 * The calls between their arrival and their answer, and the one way to end them: their signal aborts with who did it,
 * which ends the processes of programs and lets file tools roll back. LOCKDOWN ends those that change something and have
 * begun; administration goes on, or nobody could end LOCKDOWN.
 */
export class RunningCalls {
  readonly #currentMode: () => Mode;
  /** Not by id: every call would pay for being found, and hardly any is looked for. */
  readonly #calls = new Set<RunningCall>();
  #stoppedBy: string | undefined;
  #onIdle: () => void = () => undefined;

  constructor(currentMode: () => Mode) {
    this.#currentMode = currentMode;
  }

  /** Since `stop` was called. */
  get isStopping(): boolean {
    return this.#stoppedBy !== undefined;
  }

  /** After a stop it is ended already. */
  open(call: Identity, caller: AbortLike): RunningCall {
    const opened = new RunningCall(this, call, caller);
    if (this.#stoppedBy !== undefined) opened.end('stop', this.#stoppedBy);
    this.#calls.add(opened);
    return opened;
  }

  forget(call: RunningCall): void {
    this.#calls.delete(call);
    if (this.#calls.size === 0) this.#onIdle();
  }

  checkBegun(call: RunningCall): void {
    if (isStoppable(call) && call.begun?.mode !== 'LOCKDOWN' && this.#currentMode() === 'LOCKDOWN') {
      call.end('lockdown', 'sallyport');
    }
  }

  /** Oldest first. */
  list(): readonly ListedCall[] {
    return [...this.#calls].flatMap(({ call, session, begun }) => {
      if (session === undefined) return [];
      const { callId, toolName, startedAtMs } = call;
      const state = begun === undefined ? 'waiting' : 'running';
      return [{ callId, tool: begun?.tool.name ?? toolName, session, state, startedAtMs }];
    });
  }

  /** False when no such call is there. It ends by itself, with its own outcome in the log. */
  cancel(callId: string, by: string): boolean {
    const found = [...this.#calls].find(({ call }) => call.callId === callId);
    found?.end('cancel', by);
    return found !== undefined;
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

  #end(isMeant: (call: RunningCall) => boolean, how: CallEnder, by: string): readonly string[] {
    const meant = [...this.#calls].filter(isMeant);
    for (const call of meant) call.end(how, by);
    return meant.map(({ call }) => call.callId);
  }

  async #idle(mostMs: number): Promise<void> {
    if (this.#calls.size === 0) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#onIdle = resolve;
    const timer = setTimeout(resolve, mostMs);
    await promise;
    clearTimeout(timer);
  }
}

function isStoppable({ begun }: RunningCall): boolean {
  return begun !== undefined && begun.tool.mutates && begun.tool.audience === 'everyone';
}

/** Whether a call may have effects beyond this machine, as far as can be told before it runs. */
export function mayReachOut({ tool, resources, verdict }: Resolved & ArgumentsChecked & Judged): boolean {
  const { origin, scopes } = tool.definition;
  if (origin === 'upstream') return true;
  if (!scopes.includes('network')) return false;
  return (resources.hosts?.length ?? 0) > 0 || (verdict.grants?.hosts.length ?? 0) > 0;
}
