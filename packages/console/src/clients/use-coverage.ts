import { searchAudit } from '../daemon/search-audit.ts';
import type { ClientPath } from '../daemon/messages.ts';
import { addRecord, readPayload } from '../live/call.ts';
import type { Call } from '../live/call.ts';
import { useLogTurn } from '../live/use-log-turn.ts';
import { useLoaded } from '../shell/use-loaded.ts';
import type { Loaded } from '../shell/use-loaded.ts';

/** What `sallyport coverage` found the last time it ran. */
export interface CoverageReport {
  readonly callId: string;
  readonly atMs: number;
  /** One line, such as `4 paths, 2 uses around the gate`. */
  readonly summary: string;
  readonly paths: readonly ClientPath[];
}

/** The command alone comes in by this door: a look from a console is no report. */
const reports = 'kind:call,housekeeping tool:clients.coverage door:operator-socket status:ok';

/**
 * From the log: the daemon may not read the settings and transcripts of clients, so it knows what the command told it.
 * Null: the command never ran, or what it said was erased.
 */
export async function readCoverage(): Promise<CoverageReport | null> {
  const { entries } = await searchAudit(reports, { limit: 1 });
  const records = entries[0]?.records ?? [];
  const call = records.reduce<Call | undefined>((known, record) => addRecord(known, record), undefined);
  const given = records.map((record) => readPayload(record).arguments).find((each) => each !== undefined);
  if (call === undefined || given === undefined) return null;
  return { callId: call.id, atMs: call.startedAtMs, summary: call.summary, paths: readPaths(given) };
}

function readPaths(given: unknown): readonly ClientPath[] {
  const { paths } = given as { readonly paths?: unknown };
  if (!Array.isArray(paths)) return [];
  return paths.map((path: Readonly<Record<string, unknown>>) => {
    const textOf = (name: string): string => (typeof path[name] === 'string' ? path[name] : '');
    return {
      client: textOf('client'),
      path: textOf('path'),
      state: textOf('state'),
      version: textOf('version'),
      fix: textOf('fix'),
    };
  });
}

const lookEveryMs = 15_000;

export function useCoverage(): Loaded<CoverageReport | null> {
  return useLoaded(readCoverage, useLogTurn({ everyMs: lookEveryMs }));
}

/** `all 4 paths live`, `3 of 4 paths live`. */
export function tellPaths(paths: readonly ClientPath[]): string {
  const live = paths.filter(({ state }) => state === 'live').length;
  if (paths.length === 0) return 'no client found';
  return live === paths.length ? `all ${live} paths live` : `${live} of ${paths.length} paths live`;
}
