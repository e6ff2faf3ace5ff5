import type { Entry } from './entry.ts';
import type { Filter } from './parse-filter.ts';

export interface SearchPage {
  readonly entries: readonly Entry[];
  /** Where the next page begins; it may hold more even if this one is short. Absent: there are no more. */
  readonly next?: number;
  /** Records from the first that the index knows. */
  readonly indexedSize: number;
}

export interface SearchRequest {
  readonly filter: Filter;
  readonly limit: number;
  /** Only entries before this place, newest first. Absent: from the newest on. */
  readonly before?: number | undefined;
  /** Only entries after this place, oldest first, instead. */
  readonly after?: number | undefined;
}

/** Answers searches without delaying calls. `search` rejects when the index cannot be read. */
export interface SearchIndex {
  readonly search: (request: SearchRequest) => Promise<SearchPage>;
  /** Resolves when nothing is in the index any more that the log has erased. Rejects when that could not be done. */
  readonly forgetErased: () => Promise<void>;
  readonly close: () => Promise<void>;
}
