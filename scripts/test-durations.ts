import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { root } from './workspace.ts';

const file = join(root, '.cache/test-durations.json');
/** Of the longest files, for a machine on which no test has run yet. Only the order counts. */
const usualFile = join(import.meta.dirname, 'usual-durations.json');

/** How long each test file took the last time on this machine, so that the longest can start first. */
export class TestDurations {
  readonly #known: Map<string, number>;
  readonly #isFirstRun: boolean;

  constructor() {
    const known = read(file);
    this.#isFirstRun = known === undefined;
    this.#known = new Map(Object.entries({ ...read(usualFile), ...known }));
  }

  add(durations: ReadonlyMap<string, number>): void {
    for (const [name, durationMs] of durations) this.#known.set(name, Math.round(durationMs));
  }

  /** The longest first. A file that is new here comes before all others, because it may be long. */
  longestFirst(files: readonly string[]): string[] {
    const unknown = this.#isFirstRun ? 0 : Infinity;
    const durationOf = (path: string): number => this.#known.get(path.slice(root.length + 1)) ?? unknown;
    return files.toSorted((a, b) => (durationOf(a) === durationOf(b) ? 0 : durationOf(b) - durationOf(a)));
  }

  save(): void {
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, JSON.stringify(Object.fromEntries(this.#known), undefined, 1));
  }
}

/** Undefined: there is no file, or it is damaged. */
function read(path: string): Record<string, number> | undefined {
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as Record<string, number>;
  } catch {
    return undefined;
  }
}
