import type { DaemonClient } from './daemon-client.ts';
import type { AuditRecord, InJson } from '@sallyport/contract';

/** What the log holds about a stretch of time. */
export interface LogStretch {
  /** In the order of the log. */
  readonly records: readonly InJson<AuditRecord>[];
  readonly fromMs: number;
  /** False: there are older records in this time that were not read. */
  readonly isWhole: boolean;
}

const perRead = 1000;
export const mostRecords = 100_000;

/** Reads the log from its end backwards to a time. */
export async function readCallsSince(
  sinceMs: number,
  client: Pick<DaemonClient, 'call'>,
  most = mostRecords,
): Promise<LogStretch> {
  const portions: (readonly InJson<AuditRecord>[])[] = [];
  const { logSize } = await client.call('OperatorService/ReadAudit', { from: '0', limit: 1 });
  const end = Number(logSize);
  const lowest = Math.max(0, end - most);
  let next = end;
  let isReached = false;
  while (next > lowest && !isReached) {
    const from = Math.max(lowest, next - perRead);
    const { records } = await client.call('OperatorService/ReadAudit', { from: String(from), limit: next - from });
    portions.unshift(records);
    // Clocks can be set back, so that single records may be older than those before them.
    isReached = records.length > 0 && records.every(({ timeMs }) => Number(timeMs) < sinceMs);
    next = from;
  }
  const records = portions.flat().filter(({ timeMs }) => Number(timeMs) >= sinceMs);
  return { records, fromMs: sinceMs, isWhole: isReached || lowest === 0 };
}
