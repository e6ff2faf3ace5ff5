import { Counters } from './counters.ts';
import type { CountRow } from './counters.ts';
import type { Database } from '../database.ts';
import { SpendingLedger } from './spending-ledger.ts';
import type { SpendingRow } from './spending-ledger.ts';
import { ToolUses } from './tool-uses.ts';
import type { ToolUseRow } from './tool-uses.ts';

/** More than this is written to the tables at once: the text that every commit repeats must stay short. */
const mostUnwritten = 48;

interface Unwritten {
  readonly counters: readonly CountRow[];
  readonly sessions: SpendingRow[];
  readonly leases: SpendingRow[];
  readonly uses: readonly ToolUseRow[];
}

/**
 * What every call changes besides the log: the counts of its limits, what its session and lease have spent, and when its
 * tool was used. It is kept in the writer's memory. A commit writes all of it that the tables do not have yet as one
 * text, which is kept beside the sums of the state; the tables follow within 100 ms. Both together are what is true, and
 * each value in the text replaces that of its row, so that nothing is lost or counted twice wherever a kill falls.
 */
export class Tallies {
  readonly counters: Counters;
  readonly ledger: SpendingLedger;
  readonly uses: ToolUses;
  #committed = '';
  #written = '';
  #isForgotten = false;

  constructor(database: Database) {
    this.counters = new Counters(database);
    this.ledger = new SpendingLedger(database);
    this.uses = new ToolUses(database);
  }

  /** Whether the tables lack something that is committed. */
  get isBehind(): boolean {
    return this.#committed !== '';
  }

  /** What the tables do not have, for the commit. Empty: nothing. */
  encode(): string {
    if (this.#countUnwritten() > mostUnwritten) this.flush();
    this.#written = this.#countUnwritten() === 0 ? '' : JSON.stringify(this.#listUnwritten());
    return this.#written;
  }

  /** Brings the tables up to date, inside the transaction. */
  flush(): void {
    this.counters.flush();
    this.ledger.flush();
    this.uses.flush();
  }

  committed(): void {
    this.#committed = this.#written;
  }

  /** The next transaction starts from what is committed. */
  rolledBack(): void {
    this.counters.forget();
    this.ledger.forget();
    this.uses.forget();
    this.#isForgotten = true;
  }

  /** Takes over what a former run committed. */
  adopt(committed: string): void {
    this.#committed = committed;
    this.#isForgotten = true;
  }

  /** At the start of a transaction. */
  recall(): void {
    if (!this.#isForgotten) return;
    if (this.#committed !== '') {
      const { counters, sessions, leases, uses } = JSON.parse(this.#committed) as Unwritten;
      this.counters.restore(counters);
      this.ledger.restore({ sessions, leases });
      this.uses.restore(uses);
    }
    this.#isForgotten = false;
  }

  #countUnwritten(): number {
    return this.counters.unwritten + this.ledger.unwritten + this.uses.unwritten;
  }

  #listUnwritten(): Unwritten {
    return {
      counters: this.counters.listUnwritten(),
      ...this.ledger.listUnwritten(),
      uses: this.uses.listUnwritten(),
    };
  }
}
