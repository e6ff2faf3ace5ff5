import { InvalidArgumentError } from 'commander';

const unitsMs = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

/** `30m`, `2h`, `7d` ago, or a date or time as ISO 8601 has it. As ISO 8601. */
export function parseSince(text: string): string {
  const [, count, unit] = /^(\d{1,6})([smhd])$/.exec(text) ?? [];
  const agoMs = count === undefined ? undefined : Number(count) * unitsMs[unit as keyof typeof unitsMs];
  const time = agoMs === undefined ? new Date(text) : new Date(Date.now() - agoMs);
  if (!Number.isNaN(time.getTime()) && (agoMs !== undefined || /^\d{4}-/.test(text))) return time.toISOString();
  throw new InvalidArgumentError('It must be like 30m, 2h or 7d ago, or a time like 2026-03-01T14:00.');
}

export function parseRecords(text: string): number {
  if (!/^[1-9]\d{0,6}$/.test(text) || Number(text) > 1_000_000) {
    throw new InvalidArgumentError('It must be a whole number from 1 to 1000000.');
  }
  return Number(text);
}
