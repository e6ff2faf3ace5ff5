import type { DaemonClient } from './daemon-client.ts';
import { usageFailure } from './failure.ts';
import { readCallsSince } from './read-calls.ts';
import { idStart, pickId, wholeId } from '../terminal/short-id.ts';

/** Clocks are set back now and then. */
const clockSlackMs = 60_000;

/** The id of a call that is on record, by its beginning. Undefined: there is none. */
export async function findCall(given: string, client: DaemonClient): Promise<string | undefined> {
  const start = given.toLowerCase();
  if (!idStart.test(start)) throw usageFailure('Name a record by its index, or a call by its id.');
  if (wholeId.test(start)) return start;
  // Ids begin with the time in milliseconds, and nothing is on record about a call before that.
  const sinceMs = Number.parseInt(start.replaceAll('-', '').slice(0, 12).padEnd(12, '0'), 16);
  const { records } = await readCallsSince(sinceMs - clockSlackMs, client);
  return pickId([...new Set(records.map(({ callId }) => callId))], start, 'call');
}
