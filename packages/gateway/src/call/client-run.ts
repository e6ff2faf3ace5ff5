import type { JsonObject } from '@sallyport/contract';

/**
 * A call whose tool runs in the client that asked, and not in the gate: a command or an edit of a coding agent. The gate
 * judges it, records its intent and lets it go; what became of it, the client says afterwards, or nobody does.
 */
export interface ClientRun {
  /** Such as `claude-code`. */
  readonly client: string;
  /** Lets the client go on. From here on the effect may happen. */
  readonly release: () => void;
  /**
   * Lets the client go on with a command of ours in place of its own. Resolves when that has come for the run, once. Rejects
   * when it does not come in time: then nothing has run.
   */
  readonly awaitExec: (signal: AbortSignal) => Promise<ExecutedInstead>;
  /** What the client says became of it. Rejects when it will not say, and when the signal aborts. */
  readonly awaitOutcome: (signal: AbortSignal) => Promise<ClientOutcome>;
}

/** The command that the client runs in place of its own, and that asks the gate for the run. */
export interface ExecutedInstead {
  /** Aborts when nobody listens any more. */
  readonly signal: AbortSignal;
}

/** In the client's own words. */
export interface ClientOutcome {
  readonly isError: boolean;
  readonly output: JsonObject;
}

/** Of commands that a client runs outside of our sandbox. Only rules that speak of clients open them. */
export const clientCommandCategory = 'client_command';
