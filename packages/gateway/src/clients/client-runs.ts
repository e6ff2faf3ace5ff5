import type { ClientOutcome, ClientRun } from '../call/client-run.ts';
import { ToolFailure } from '../call/tool.ts';

/** Which call of a client this is, as its hooks name it. */
export interface ClientCallName {
  /** Of the credential: one client cannot end the calls of another. */
  readonly owner: string;
  /** As the client calls its own session. */
  readonly clientSession: string;
  /** As the client calls the use of the tool. */
  readonly useId: string;
}

/** A call between the hook before it and the hook after it. */
export class OpenRun implements ClientRun {
  readonly client: string;
  readonly name: ClientCallName;
  readonly #released = Promise.withResolvers<void>();
  readonly #outcome = Promise.withResolvers<ClientOutcome>();

  constructor(client: string, name: ClientCallName) {
    this.client = client;
    this.name = name;
    // Nobody may be waiting for it.
    this.#outcome.promise.catch(() => undefined);
  }

  /** Resolves when the gate lets the client go on. */
  get released(): Promise<void> {
    return this.#released.promise;
  }

  release(): void {
    this.#released.resolve();
  }

  end(outcome: ClientOutcome): void {
    this.#outcome.resolve(outcome);
  }

  /** The client has ended without a word about it. */
  lose(): void {
    this.#outcome.reject(
      new ToolFailure('EFFECT_UNKNOWN', `${this.client} did not say what became of it; it may have run.`),
    );
  }

  awaitOutcome(signal: AbortSignal): Promise<ClientOutcome> {
    const { promise: aborted, reject } = Promise.withResolvers<never>();
    const abort = (): void => reject(signal.reason as Error);
    if (signal.aborted) abort();
    else signal.addEventListener('abort', abort, { once: true });
    return Promise.race([this.#outcome.promise, aborted]).finally(() => signal.removeEventListener('abort', abort));
  }
}

/** The calls that clients run now. */
export class ClientRuns {
  readonly #open = new Map<string, OpenRun>();

  /** Undefined: the client runs one of this name already. */
  open(client: string, name: ClientCallName): OpenRun | undefined {
    const key = keyOf(name);
    if (this.#open.has(key)) return undefined;
    const run = new OpenRun(client, name);
    this.#open.set(key, run);
    return run;
  }

  find(name: ClientCallName): OpenRun | undefined {
    return this.#open.get(keyOf(name));
  }

  /** Those of one session of a client. */
  ofSession({ owner, clientSession }: Omit<ClientCallName, 'useId'>): readonly OpenRun[] {
    return [...this.#open.values()].filter(({ name }) => name.owner === owner && name.clientSession === clientSession);
  }

  close(run: OpenRun): void {
    this.#open.delete(keyOf(run.name));
  }
}

function keyOf({ owner, clientSession, useId }: ClientCallName): string {
  return JSON.stringify([owner, clientSession, useId]);
}
