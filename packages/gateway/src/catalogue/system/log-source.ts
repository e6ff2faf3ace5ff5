import { existsSync, readdirSync, realpathSync } from 'node:fs';
import { attempt } from '@sallyport/contract';

export const logSources = ['journal', 'syslog', 'macos'] as const;
export type LogSource = (typeof logSources)[number];

/** Where the logs of the system are, in the order in which they are looked for. */
export interface LogPlaces {
  readonly journal: readonly string[];
  readonly syslog: readonly string[];
  readonly macos: readonly string[];
}

export const usualPlaces: LogPlaces = {
  journal: ['/var/log/journal', '/run/log/journal'],
  syslog: ['/var/log/syslog', '/var/log/messages'],
  macos: ['/private/var/db/diagnostics', '/private/var/db/uuidtext'],
};

export interface FoundLogs {
  readonly source: LogSource;
  readonly paths: readonly string[];
}

/** There is none; `paths` is where it would be. */
export interface MissingLogs extends FoundLogs {
  readonly lookedAt: readonly string[];
}

/** Finds the log of this machine, or the one that was asked for. */
export function findLogs(wanted: LogSource | 'auto', places: LogPlaces): FoundLogs | MissingLogs {
  const candidates = wanted === 'auto' ? logSources : [wanted];
  for (const source of candidates) {
    const paths = places[source].filter((path) => (source === 'syslog' ? existsSync(path) : hasEntries(path)));
    // Of several files with the same lines, one.
    if (paths.length > 0) return { source, paths: source === 'syslog' ? paths.slice(0, 1) : paths.map(realPath) };
  }
  const [source = 'journal'] = candidates;
  return { source, paths: places[source].slice(0, 1), lookedAt: candidates.flatMap((each) => places[each]) };
}

function realPath(path: string): string {
  return realpathSync.native(path);
}

function hasEntries(folder: string): boolean {
  return attempt(() => readdirSync(folder).length > 0) ?? false;
}
