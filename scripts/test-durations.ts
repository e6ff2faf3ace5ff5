import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { root } from './workspace.ts';

const file = join(root, '.cache/test-durations.json');

/** How long each test file took the last time on this machine, so that the longest can start first. */
export class TestDurations {
  readonly #known: Map<string, number>;

  constructor() {
    this.#known = new Map(Object.entries(read()));
  }

  add(durations: ReadonlyMap<string, number>): void {
    for (const [name, durationMs] of durations) this.#known.set(name, Math.round(durationMs));
  }

  /** The longest first. A file that never ran here comes before all others, because it may be long. */
  longestFirst(files: readonly string[]): string[] {
    const durationOf = (path: string): number => this.#known.get(path.slice(root.length + 1)) ?? Infinity;
    return files.toSorted((a, b) => (durationOf(a) === durationOf(b) ? 0 : durationOf(b) - durationOf(a)));
  }

  save(): void {
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, JSON.stringify(Object.fromEntries(this.#known), undefined, 1));
  }
}

/** Nothing, or damage: then the order is that of the names. */
function read(): Record<string, number> {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as Record<string, number>;
  } catch {
    return {};
  }
}
