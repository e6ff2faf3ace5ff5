import { randomBytes } from 'node:crypto';
import { realpathSync } from 'node:fs';
import { attempt } from '@sallyport/contract';
import type { ClientOutcome, ClientRun, ExecutedInstead } from '../call/client-run.ts';
import { orAborted } from '../call/cancellation.ts';
import { ToolFailure } from '../call/tool.ts';
import type { RedactedProgress } from '../call/tool.ts';

/** Which call of a client this is, as its hooks name it. */
export interface ClientCallName {
  /** Of the credential: one client cannot end the calls of another. */
  readonly owner: string;
  /** As the client calls its own session. */
  readonly clientSession: string;
  /** As the client calls the use of the tool. */
  readonly useId: string;
}

/** Who comes for the run of a command, with the ticket that the client was given. */
export interface Redeemer extends ExecutedInstead {
  readonly owner: string;
  readonly cwd: string;
  readonly onProgress: (progress: RedactedProgress) => void;
}

/** A client starts what it was told to at once. */
const ticketMs = 60_000;

/** A call between the hook before it and the hook after it. */
export class OpenRun implements ClientRun {
  readonly client: string;
  readonly name: ClientCallName;
  /** Where the client works. */
  readonly cwd: string;
  readonly #tickets: Map<string, OpenRun>;
  /** With the ticket, where the client goes on with our command. */
  readonly #released = Promise.withResolvers<{ readonly ticket?: string }>();
  #isReleased = false;
  readonly #outcome = Promise.withResolvers<ClientOutcome>();
  readonly #redeemed = Promise.withResolvers<Redeemer>();
  #redeemer: Redeemer | undefined;

  constructor(client: string, name: ClientCallName, cwd: string, tickets: Map<string, OpenRun>) {
    this.client = client;
    this.name = name;
    this.cwd = cwd;
    this.#tickets = tickets;
    // Nobody may be waiting for them.
    this.#outcome.promise.catch(() => undefined);
    this.#redeemed.promise.catch(() => undefined);
  }

  /** Resolves when the gate lets the client go on. */
  get released(): Promise<{ readonly ticket?: string }> {
    return this.#released.promise;
  }

  get isReleased(): boolean {
    return this.#isReleased;
  }

  release(): void {
    this.#isReleased = true;
    this.#released.resolve({});
  }

  async awaitExec(signal: AbortSignal): Promise<ExecutedInstead> {
    const ticket = `${this.client}.${randomBytes(24).toString('base64url')}`;
    this.#tickets.set(ticket, this);
    this.#isReleased = true;
    this.#released.resolve({ ticket });
    const late = setTimeout(() => this.#redeemed.reject(notRun('did not come for it in time')), ticketMs);
    try {
      return await orAborted(this.#redeemed.promise, signal);
    } finally {
      clearTimeout(late);
      this.#tickets.delete(ticket);
    }
  }

  /** Why not, for the program that came with the ticket. Undefined: it runs. Of two at once, the first. */
  redeem(redeemer: Redeemer): string | undefined {
    if (redeemer.owner !== this.name.owner || !isSameFolder(redeemer.cwd, this.cwd)) return unknownTicket;
    if (this.#redeemer !== undefined) return unknownTicket;
    this.#redeemer = redeemer;
    this.#redeemed.resolve(redeemer);
    return undefined;
  }

  /** What the command writes, for the program that came for it. */
  tell(progress: RedactedProgress): void {
    this.#redeemer?.onProgress(progress);
  }

  end(outcome: ClientOutcome): void {
    this.#outcome.resolve(outcome);
    this.#redeemed.reject(notRun('did not come for it'));
  }

  /** The client has ended without a word about it. */
  lose(): void {
    this.#outcome.reject(
      new ToolFailure('EFFECT_UNKNOWN', `${this.client} did not say what became of it; it may have run.`),
    );
    this.#redeemed.reject(notRun('ended before it came for it'));
  }

  awaitOutcome(signal: AbortSignal): Promise<ClientOutcome> {
    return orAborted(this.#outcome.promise, signal);
  }
}

export const unknownTicket = 'This ticket was used before, has expired, or is for another session or folder.';

function notRun(why: string): ToolFailure {
  return new ToolFailure('CANCELLED', `The client ${why}, so the command did not run.`);
}

function isSameFolder(one: string, other: string): boolean {
  const real = (path: string): string | undefined => {
    return attempt(() => realpathSync(path));
  };
  return one === other || (real(one) !== undefined && real(one) === real(other));
}

/** The calls that clients run now. */
export class ClientRuns {
  readonly #open = new Map<string, OpenRun>();
  readonly #tickets = new Map<string, OpenRun>();

  /** Undefined: the client runs one of this name already. */
  open(client: string, name: ClientCallName, cwd: string): OpenRun | undefined {
    const key = keyOf(name);
    if (this.#open.has(key)) return undefined;
    const run = new OpenRun(client, name, cwd, this.#tickets);
    this.#open.set(key, run);
    return run;
  }

  find(name: ClientCallName): OpenRun | undefined {
    return this.#open.get(keyOf(name));
  }

  findByTicket(ticket: string): OpenRun | undefined {
    return this.#tickets.get(ticket);
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
