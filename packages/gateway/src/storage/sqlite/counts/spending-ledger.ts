import type { Budget, SpentBudget } from '../../../call/session.ts';
import type { Charge } from '../../stores.ts';
import type { Database, Row, Statement } from '../database.ts';

const kinds = ['calls', 'active_ms', 'tokens', 'cost_micros'] as const;
const budgetKinds = ['calls', 'activeMs', 'tokens', 'costMicros'] as const satisfies readonly (keyof Budget)[];
const mostAccounts = 10_000;

/** In the order of `kinds`. */
type Amounts = [calls: number, activeMs: number, tokens: number, costMicros: number];

/** A session or a lease that may be charged. */
interface Account {
  readonly id: string;
  readonly sessionId: string;
  /** Active, or in force. */
  readonly isOpen: boolean;
  /** Infinity: does not expire. */
  readonly expiresAtMs: number;
  /** Infinity: no limit. */
  readonly limits: Readonly<Amounts>;
  readonly spent: Amounts;
}

/** What an account has spent by now. For a session both ids are the same. */
export type SpendingRow = readonly [id: string, sessionId: string, ...spent: Amounts];

/**
 * Who may still spend, kept in the writer's memory: see `Tallies` for when it is written. The code that changes
 * sessions or leases calls `forget`.
 */
export class SpendingLedger {
  readonly #sessions: Book;
  readonly #leases: Book;

  constructor(database: Database) {
    this.#sessions = new Book(database, 'sessions', `status = 'active'`);
    this.#leases = new Book(database, 'leases', 'ended_at_ms IS NULL');
  }

  get unwritten(): number {
    return this.#sessions.unwritten.size + this.#leases.unwritten.size;
  }

  /** What keeps the session from making one more call with this lease. Undefined: nothing. */
  obstacle(sessionId: string, leaseId: string, nowMs: number): 'session' | 'lease' | SpentBudget | undefined {
    const session = this.#sessions.find(sessionId, sessionId);
    if (session === undefined || !isUsable(session, nowMs)) return 'session';
    const lease = this.#leases.find(leaseId, sessionId);
    if (lease === undefined || !isUsable(lease, nowMs)) return 'lease';
    // The session first: if it has spent everything, another lease does not help.
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

  listUnwritten(): { readonly sessions: SpendingRow[]; readonly leases: SpendingRow[] } {
    return { sessions: this.#sessions.listUnwritten(), leases: this.#leases.listUnwritten() };
  }

  restore({ sessions, leases }: ReturnType<SpendingLedger['listUnwritten']>): void {
    this.#sessions.restore(sessions);
    this.#leases.restore(leases);
  }

  #spend(sessionId: string, leaseId: string, amounts: Readonly<Amounts>): void {
    this.#sessions.spend(sessionId, sessionId, amounts);
    this.#leases.spend(leaseId, sessionId, amounts);
  }
}

/** The accounts of one table. */
class Book {
  readonly unwritten = new Set<Account>();
  readonly #read: Statement;
  readonly #write: Statement;
  readonly #accounts = new Map<string, Account>();
  /** Asked for several times a call, and looking up a text costs more than comparing it. */
  #last: Account | undefined;

  constructor(database: Database, table: 'sessions' | 'leases', isOpen: string) {
    const owner = table === 'sessions' ? 'id' : 'session_id';
    this.#read = database.prepare(`SELECT *, (${isOpen}) AS is_open FROM ${table} WHERE id = ? AND ${owner} = ?`);
    this.#write = database.prepare(`UPDATE ${table} SET ${kinds.map((kind) => `${kind} = ?`).join(', ')} WHERE id = ?`);
  }

  find(id: string, sessionId: string): Account | undefined {
    const account = this.#last?.id === id ? this.#last : (this.#accounts.get(id) ?? this.#load(id, sessionId));
    this.#last = account;
    return account?.sessionId === sessionId ? account : undefined;
  }

  spend(id: string, sessionId: string, amounts: Readonly<Amounts>): void {
    const account = this.find(id, sessionId);
    if (account === undefined) return;
    const { spent } = account;
    spent[0] += amounts[0];
    spent[1] += amounts[1];
    spent[2] += amounts[2];
    spent[3] += amounts[3];
    this.unwritten.add(account);
  }

  flush(): void {
    for (const { id, spent } of this.unwritten) this.#write.run(...spent, id);
    this.unwritten.clear();
  }

  forget(): void {
    this.#accounts.clear();
    this.unwritten.clear();
    this.#last = undefined;
  }

  listUnwritten(): SpendingRow[] {
    return Array.from(this.unwritten, ({ id, sessionId, spent }) => [id, sessionId, ...spent]);
  }

  restore(rows: readonly SpendingRow[]): void {
    for (const [id, sessionId, ...spent] of rows) {
      const account = this.find(id, sessionId);
      if (account === undefined) continue;
      account.spent.splice(0, kinds.length, ...spent);
      this.unwritten.add(account);
    }
  }

  #load(id: string, sessionId: string): Account | undefined {
    const row = this.#read.get(id, sessionId);
    if (row === undefined) return undefined;
    if (this.#accounts.size >= mostAccounts && this.unwritten.size === 0) this.#accounts.clear();
    const account = readAccount(id, sessionId, row);
    this.#accounts.set(id, account);
    return account;
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

function readAccount(id: string, sessionId: string, row: Row): Account {
  const limitOf = (value: Row[string] | undefined): number => (typeof value === 'number' ? value : Infinity);
  return {
    id,
    sessionId,
    isOpen: row['is_open'] === 1,
    expiresAtMs: limitOf(row['expires_at_ms']),
    limits: kinds.map((kind) => limitOf(row[`max_${kind}`])) as Amounts,
    spent: kinds.map((kind) => Number(row[kind])) as Amounts,
  };
}
