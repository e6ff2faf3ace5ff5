import type { Budget, SpentBudget } from '../../call/session.ts';
import type { Charge } from '../stores.ts';
import type { Database, Row, Statement } from './database.ts';

const kinds = ['calls', 'active_ms', 'tokens', 'cost_micros'] as const;
const budgetKinds = ['calls', 'activeMs', 'tokens', 'costMicros'] as const satisfies readonly (keyof Budget)[];
const mostAccounts = 10_000;

/** What is known of a session or a lease that may be charged. */
interface Account {
  readonly id: string;
  /** Active, or in force. */
  readonly isOpen: boolean;
  /** Infinity: does not expire. */
  readonly expiresAtMs: number;
  /** In the order of `kinds`. Infinity: no limit. */
  readonly limits: readonly number[];
  readonly spent: number[];
}

/**
 * Who may still spend, kept in the writer's memory and flushed with the commit that needs it: one row a session and
 * commit instead of several a call. Forgotten on rollback, and by whoever changes sessions or leases.
 */
export class SpendingLedger {
  readonly #sessions: Book;
  readonly #leases: Book;

  constructor(database: Database) {
    this.#sessions = new Book(database, 'sessions', `status = 'active'`);
    this.#leases = new Book(database, 'leases', 'ended_at_ms IS NULL');
  }

  /** What keeps the session from making one more call with this lease. Undefined: nothing. */
  obstacle(sessionId: string, leaseId: string, nowMs: number): 'session' | 'lease' | SpentBudget | undefined {
    const session = this.#sessions.find(sessionId, sessionId);
    if (session === undefined || !isUsable(session, nowMs)) return 'session';
    const lease = this.#leases.find(leaseId, sessionId);
    if (lease === undefined || !isUsable(lease, nowMs)) return 'lease';
    // The session first: where it has spent all, another lease does not help.
    return findSpent('session', session) ?? findSpent('lease', lease);
  }

  countCall(sessionId: string, leaseId: string): void {
    this.#spend(sessionId, leaseId, [1, 0, 0, 0]);
  }

  charge({ sessionId, leaseId, activeMs, tokens, costMicros }: Charge): void {
    this.#spend(sessionId, leaseId, [0, activeMs, tokens, costMicros]);
  }

  flush(): void {
    this.#sessions.flush();
    this.#leases.flush();
  }

  /** Call `flush` first unless the transaction is rolled back. */
  forget(): void {
    this.#sessions.forget();
    this.#leases.forget();
  }

  #spend(sessionId: string, leaseId: string, amounts: readonly number[]): void {
    this.#sessions.spend(sessionId, sessionId, amounts);
    this.#leases.spend(leaseId, sessionId, amounts);
  }
}

/** The accounts of one table. */
class Book {
  readonly #read: Statement;
  readonly #write: Statement;
  readonly #accounts = new Map<string, Account>();
  readonly #dirty = new Set<Account>();

  constructor(database: Database, table: 'sessions' | 'leases', isOpen: string) {
    const owner = table === 'sessions' ? 'id' : 'session_id';
    this.#read = database.prepare(`SELECT *, (${isOpen}) AS is_open FROM ${table} WHERE id = ? AND ${owner} = ?`);
    this.#write = database.prepare(`UPDATE ${table} SET ${kinds.map((kind) => `${kind} = ?`).join(', ')} WHERE id = ?`);
  }

  find(id: string, sessionId: string): Account | undefined {
    const key = `${id} ${sessionId}`;
    const known = this.#accounts.get(key);
    if (known !== undefined) return known;
    const row = this.#read.get(id, sessionId);
    if (row === undefined) return undefined;
    if (this.#accounts.size >= mostAccounts && this.#dirty.size === 0) this.#accounts.clear();
    const account = readAccount(id, row);
    this.#accounts.set(key, account);
    return account;
  }

  spend(id: string, sessionId: string, amounts: readonly number[]): void {
    const account = this.find(id, sessionId);
    if (account === undefined) return;
    for (const [at, amount] of amounts.entries()) account.spent[at] = (account.spent[at] ?? 0) + amount;
    this.#dirty.add(account);
  }

  flush(): void {
    for (const { id, spent } of this.#dirty) this.#write.run(...spent, id);
    this.#dirty.clear();
  }

  forget(): void {
    this.#accounts.clear();
    this.#dirty.clear();
  }
}

function isUsable({ isOpen, expiresAtMs }: Account, nowMs: number): boolean {
  return isOpen && expiresAtMs > nowMs;
}

function findSpent(of: SpentBudget['of'], { limits, spent }: Account): SpentBudget | undefined {
  const at = limits.findIndex((limit, index) => (spent[index] ?? 0) >= limit);
  const kind = budgetKinds[at];
  return kind === undefined ? undefined : { of, kind, used: spent[at] ?? 0, limit: limits[at] ?? 0 };
}

function readAccount(id: string, row: Row): Account {
  const limitOf = (value: Row[string] | undefined): number => (typeof value === 'number' ? value : Infinity);
  return {
    id,
    isOpen: row['is_open'] === 1,
    expiresAtMs: limitOf(row['expires_at_ms']),
    limits: kinds.map((kind) => limitOf(row[`max_${kind}`])),
    spent: kinds.map((kind) => Number(row[kind])),
  };
}
