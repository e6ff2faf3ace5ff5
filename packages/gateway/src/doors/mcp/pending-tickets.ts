import { hash } from 'node:crypto';

/** A call that its caller was told to ask about again. */
export interface Ticket {
  readonly taskId: string;
  /** The request that asked first. Who goes on waiting is the same request, and wants no second run. */
  readonly requestId: string;
}

const mostTickets = 4096;

/**
 * Which calls wait for a person, so that a model that only repeats its call, as it was told to, goes on waiting, and
 * hears of a decision that fell while nobody was waiting. Only a help: without it the gate asks anew.
 */
export class PendingTickets {
  /** By session and call, the oldest first. */
  readonly #byCall = new Map<string, Ticket>();
  readonly #byTask = new Map<string, string>();

  find(call: string): Ticket | undefined {
    return this.#byCall.get(call);
  }

  /** The ticket that a caller names by its task. */
  findTask(taskId: string): Ticket | undefined {
    return this.#byCall.get(this.#byTask.get(taskId) ?? '');
  }

  keep(call: string, ticket: Ticket): void {
    this.forget(call);
    const [oldest] = this.#byCall.keys();
    if (oldest !== undefined && this.#byCall.size >= mostTickets) this.forget(oldest);
    this.#byCall.set(call, ticket);
    this.#byTask.set(ticket.taskId, call);
  }

  forget(call: string): void {
    const ticket = this.#byCall.get(call);
    if (ticket !== undefined) this.#byTask.delete(ticket.taskId);
    this.#byCall.delete(call);
  }
}

/** What makes two calls the same for their caller. */
export function ticketKey(sessionId: string, tool: string, input: string): string {
  return hash('sha256', JSON.stringify([sessionId, tool, input]));
}
