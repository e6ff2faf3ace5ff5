import { countsOf, durationOf, endings, stretchMs } from '../../../audit/search/activity.ts';
import type {
  ActivityKind,
  ActivityLine,
  ActivityReport,
  ActivityRequest,
  ActivityTotal,
  Ending,
} from '../../../audit/search/activity.ts';
import type { Field } from '../../../audit/search/entry-terms.ts';
import type { EntryFacts } from '../../../audit/search/entry.ts';
import type { Database, Statement } from '../database.ts';

const columns = endings.join(', ');
const sums = endings.map((ending) => `${ending} = ${ending} + excluded.${ending}`).join(', ');

export const activitySchema = `
  CREATE TABLE activity (kind TEXT, stretch INTEGER, name TEXT, ${endings.map((each) => `${each} INTEGER NOT NULL`).join(', ')},
    PRIMARY KEY (kind, stretch, name)) WITHOUT ROWID;
  CREATE TABLE totals (kind TEXT, name TEXT, ${endings.map((each) => `${each} INTEGER NOT NULL`).join(', ')}, last_ms INTEGER NOT NULL,
    PRIMARY KEY (kind, name)) WITHOUT ROWID;
  CREATE INDEX latest ON totals (kind, last_ms);
`;

type Counts = Record<Ending, number>;
interface Added {
  readonly kind: ActivityKind;
  readonly stretch: number;
  readonly name: string;
  readonly counts: Counts;
  lastMs: number;
}

/** Sessions have ids of ours, and durations have none. */
const chosenNames = [
  { kind: 'agent', field: 'agent' },
  { kind: 'tool', field: 'tool' },
  { kind: 'rule', field: 'rule' },
  { kind: 'own-rule', field: 'rule' },
  { kind: 'own-tool', field: 'tool' },
] as const satisfies readonly { kind: ActivityKind; field: Field }[];
const mostTotals = 1000;
/** How many lines of each kind a report has: those with most calls. */
const mostLines = 200;
const none = (): Counts => ({ succeeded: 0, denied: 0, asked: 0, failed: 0 });

/** How many calls there were, by who, what and which rule, in stretches of five minutes. */
export class ActivityBook {
  readonly #statements: Record<'add' | 'addTotal' | 'read' | 'totals' | 'names' | 'forget' | 'forgetTotal', Statement>;
  readonly #database: Database;
  /** Since the last flush. */
  #added = new Map<string, Added>();

  constructor(database: Database) {
    this.#database = database;
    this.#statements = {
      names: database.prepare('SELECT name FROM totals WHERE kind = ? ORDER BY name'),
      forget: database.prepare('DELETE FROM activity WHERE kind = ? AND name = ?'),
      forgetTotal: database.prepare('DELETE FROM totals WHERE kind = ? AND name = ?'),
      add: database.prepare(
        `INSERT INTO activity (kind, stretch, name, ${columns}) VALUES (?, ?, ?, ?, ?, ?, ?)
         ON CONFLICT (kind, stretch, name) DO UPDATE SET ${sums}`,
      ),
      addTotal: database.prepare(
        `INSERT INTO totals (kind, name, ${columns}, last_ms) VALUES (?, ?, ?, ?, ?, ?, ?)
         ON CONFLICT (kind, name) DO UPDATE SET ${sums}, last_ms = max(last_ms, excluded.last_ms)`,
      ),
      read: database.prepare(
        `SELECT name, CAST((stretch - ?) / ? AS INTEGER) AS slot, ${endings.map((each) => `sum(${each}) AS ${each}`).join(', ')}
         FROM activity WHERE kind = ? AND stretch >= ? AND stretch < ? GROUP BY name, slot`,
      ),
      totals: database.prepare(`SELECT * FROM totals WHERE kind = ? ORDER BY last_ms DESC LIMIT ${mostTotals}`),
    };
  }

  add(facts: EntryFacts): void {
    const { timeMs } = facts;
    const stretch = Math.floor(timeMs / stretchMs) * stretchMs;
    for (const { kind, name, ending } of countsOf(facts)) {
      const key = `${kind} ${stretch} ${name}`;
      const added = this.#added.get(key) ?? { kind, stretch, name, counts: none(), lastMs: 0 };
      this.#added.set(key, added);
      added.counts[ending] += 1;
      added.lastMs = Math.max(added.lastMs, timeMs);
    }
  }

  /** Before the transaction ends. */
  flush(): void {
    for (const { kind, stretch, name, counts, lastMs } of this.#added.values()) {
      const values = endings.map((ending) => counts[ending]);
      this.#statements.add.run(kind, stretch, name, ...values);
      // Nobody asks for the total count of a duration.
      if (kind !== 'duration') this.#statements.addTotal.run(kind, name, ...values, lastMs);
    }
    this.#added = new Map();
  }

  /** Drops what was added since the last flush. */
  drop(): void {
    this.#added = new Map();
  }

  /** Names that callers or people chose, with the field that finds their entries. */
  namesOfCallers(): readonly { readonly kind: ActivityKind; readonly name: string; readonly field: Field }[] {
    return chosenNames.flatMap(({ kind, field }) =>
      this.#statements.names.all(kind).map(({ name }) => ({ kind, name: String(name), field })),
    );
  }

  /** Inside a transaction. */
  forgetName(kind: ActivityKind, name: string): void {
    this.#statements.forget.run(kind, name);
    this.#statements.forgetTotal.run(kind, name);
  }

  /** Moved rows leave copies behind, which go with their table. Inside a transaction. */
  rewrite(): void {
    for (const table of ['activity', 'totals']) this.#database.execute(`ALTER TABLE ${table} RENAME TO old_${table}`);
    this.#database.execute(`DROP INDEX latest; ${activitySchema}`);
    for (const table of ['activity', 'totals'])
      this.#database.execute(`INSERT INTO ${table} SELECT * FROM old_${table}; DROP TABLE old_${table}`);
  }

  read(request: ActivityRequest): Omit<ActivityReport, 'indexedSize'> {
    return {
      agents: this.#lines('agent', request),
      tools: this.#lines('tool', request),
      ownTools: this.#lines('own-tool', request),
      rules: this.#lines('rule', request),
      ...this.#durations(request),
    };
  }

  totals(kind: ActivityKind): ActivityTotal[] {
    return this.#statements.totals.all(kind).map((row) => {
      return { kind, name: String(row['name']), ...countsIn(row), lastMs: Number(row['last_ms']) };
    });
  }

  #rows(kind: ActivityKind, { fromMs, slotMs, slots }: ActivityRequest) {
    return this.#statements.read.all(fromMs, slotMs, kind, fromMs, fromMs + slots * slotMs).map((row) => {
      return { name: String(row['name']), slot: Number(row['slot']), ...countsIn(row) };
    });
  }

  #lines(kind: ActivityKind, request: ActivityRequest): ActivityLine[] {
    const { slots } = request;
    const lines = new Map<string, Record<Ending, number[]> & { total: number }>();
    const empty = (): number[] => Array.from({ length: slots }, () => 0);
    for (const { name, slot, ...counts } of this.#rows(kind, request)) {
      const line = lines.get(name) ?? {
        ...{ succeeded: empty(), denied: empty(), asked: empty(), failed: empty() },
        total: 0,
      };
      lines.set(name, line);
      for (const ending of endings) {
        line[ending][slot] = counts[ending];
        line.total += counts[ending];
      }
    }
    return [...lines]
      .toSorted(([, a], [, b]) => b.total - a.total)
      .slice(0, mostLines)
      .map(([name, { total: _total, ...line }]) => ({ name, ...line }));
  }

  #durations(request: ActivityRequest): Pick<ActivityReport, 'medianMs' | 'p95Ms'> {
    const buckets = Array.from({ length: request.slots }, (): { bucket: number; count: number }[] => []);
    for (const { name, slot, ...counts } of this.#rows('duration', request)) {
      const count = endings.reduce((sum, ending) => sum + counts[ending], 0);
      buckets[slot]?.push({ bucket: Number(name), count });
    }
    const inOrder = buckets.map((each) => each.toSorted((a, b) => a.bucket - b.bucket));
    return {
      medianMs: inOrder.map((each) => quantile(each, 0.5)),
      p95Ms: inOrder.map((each) => quantile(each, 0.95)),
    };
  }
}

function countsIn(row: Readonly<Record<string, unknown>>): Counts {
  const counts = none();
  for (const ending of endings) counts[ending] = Number(row[ending]);
  return counts;
}

function quantile(buckets: readonly { readonly bucket: number; readonly count: number }[], part: number): number {
  const all = buckets.reduce((sum, { count }) => sum + count, 0);
  let passed = 0;
  for (const { bucket, count } of buckets) {
    passed += count;
    if (passed >= all * part) return Math.round(durationOf(bucket));
  }
  return 0;
}
