import { hash, randomUUID } from 'node:crypto';
import type { ApprovalRepository } from '../../storage/stores.ts';

/** A call that its caller was told to ask about again. */
export interface Ticket {
  readonly taskId: string;
  /** The request that asked first. Who goes on waiting is the same request, and wants no second run. */
  readonly requestId: string;
}

export type TicketStore = Pick<ApprovalRepository, 'findApproval' | 'listApprovals'>;

const mostTickets = 4096;
const mostSessions = 4096;
const mostRecalled = 100;
/** A decision that fell while nobody was waiting is told for as long as it is news. */
const recallDecidedMs = 3_600_000;

/**
 * Which calls wait for a person, so that a model that only repeats its call, as it was told to, goes on waiting, and
 * is told of a decision that fell while nobody was waiting. What waited before the daemon was started is recalled from
 * the store, once a session: the request that asked names its call, so that nothing else has to be kept.
 */
export class PendingTickets {
  readonly #store: TicketStore;
  /** By session and call, the oldest first. */
  readonly #tickets = new Map<string, Ticket>();
  /** Sessions whose earlier tickets are known, the oldest first. */
  readonly #recalled = new Set<string>();

  constructor(store: TicketStore) {
    this.#store = store;
  }

  async find(sessionId: string, callName: string): Promise<Ticket | undefined> {
    if (!this.#recalled.has(sessionId)) await this.#recall(sessionId);
    return this.#tickets.get(`${sessionId} ${callName}`);
  }

  /** The ticket that a caller names by its task. Undefined: the session has no such task, which is for the gate to say. */
  async findTask(sessionId: string, taskId: string): Promise<Ticket | undefined> {
    const task = await this.#store.findApproval(taskId);
    return task?.sessionId === sessionId ? { taskId, requestId: task.requestId } : undefined;
  }

  keep(sessionId: string, callName: string, ticket: Ticket): void {
    this.forget(sessionId, callName);
    dropOldest(this.#tickets, mostTickets);
    this.#tickets.set(`${sessionId} ${callName}`, ticket);
  }

  forget(sessionId: string, callName: string): void {
    this.#tickets.delete(`${sessionId} ${callName}`);
  }

  async #recall(sessionId: string): Promise<void> {
    const nowMs = Date.now();
    const newestFirst = await this.#store.listApprovals({ sessionId, limit: mostRecalled });
    // Another call may have looked meanwhile, and what it kept since is newer.
    if (this.#recalled.has(sessionId)) return;
    dropOldest(this.#recalled, mostSessions);
    this.#recalled.add(sessionId);
    for (const { id: taskId, requestId, status, decidedAtMs = nowMs } of newestFirst.toReversed()) {
      const callName = callNameIn(requestId);
      const isNews = status === 'pending' || nowMs - decidedAtMs <= recallDecidedMs;
      if (callName === undefined || !isNews || !recallable.has(status)) continue;
      this.keep(sessionId, callName, { taskId, requestId });
    }
  }
}

/** What expired or was used has nothing to say to the one who asks again. */
const recallable: ReadonlySet<string> = new Set(['pending', 'approved', 'denied']);

function dropOldest(kept: Map<string, unknown> | Set<string>, most: number): void {
  if (kept.size < most) return;
  const [oldest] = kept.keys();
  if (oldest !== undefined) kept.delete(oldest);
}

/**
 * What makes two calls the same for their caller. It is part of request ids, which are on record: made with the token,
 * which is not, so that nobody learns from it what the arguments may have been.
 */
export function nameCall(credential: string, tool: string, input: string): string {
  return hash('sha256', JSON.stringify([credential, tool, input])).slice(0, 16);
}

/**
 * The id under which a request is recorded: where it came from, which call it is, and what the client calls it. Ids of
 * JSON-RPC begin anew with every connection, and with every request of a client that has no `connection`.
 */
export function nameRequest(connection: string | undefined, id: string | number, callName?: string): string {
  const [from] = (connection ?? randomUUID()).split('-');
  return callName === undefined ? `${from}:${id}` : `${from}:${callName}:${id}`;
}

function callNameIn(requestId: string): string | undefined {
  return /^[^:]*:([0-9a-f]{16}):/.exec(requestId)?.[1];
}
