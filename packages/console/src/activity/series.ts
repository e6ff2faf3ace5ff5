import type { Activity, ActivityReport } from '../daemon/messages.ts';

export const endings = ['succeeded', 'asked', 'denied', 'failed'] as const;
export type Ending = (typeof endings)[number];

export const endingWords: Readonly<Record<Ending, string>> = {
  succeeded: 'ok',
  asked: 'asked a person',
  denied: 'denied',
  failed: 'failed',
};

export const endingColours: Readonly<Record<Ending, string>> = {
  succeeded: '--plot-ok',
  asked: '--plot-asked',
  denied: '--plot-denied',
  failed: '--plot-failed',
};

export type Totals = Readonly<Record<Ending | 'calls', number>>;

/** All of them together, slot by slot. */
export function addUp(lines: readonly Activity[], slots: number): Activity {
  const sum = (ending: Ending): number[] =>
    Array.from({ length: slots }, (_, slot) => lines.reduce((total, line) => total + (line[ending][slot] ?? 0), 0));
  return { name: '', succeeded: sum('succeeded'), denied: sum('denied'), asked: sum('asked'), failed: sum('failed') };
}

export function totalsOf(line: Activity): Totals {
  const sum = (ending: Ending): number => line[ending].reduce((total, count) => total + count, 0);
  const [succeeded, asked, denied, failed] = [sum('succeeded'), sum('asked'), sum('denied'), sum('failed')];
  return { succeeded, asked, denied, failed, calls: succeeded + asked + denied + failed };
}

/** In words: for people who cannot see the plot, and for those who want the numbers. Endings that did not occur are left out. */
export function describeTotals(totals: Totals): string {
  const parts = endings.flatMap((ending) =>
    totals[ending] === 0 ? [] : [`${totals[ending].toLocaleString('en')} ${endingWords[ending]}`],
  );
  return parts.join(', ');
}

/** The beginnings of the slots, in seconds, as plots have them. */
export function timesOf({ fromMs, slotMs, slots }: ActivityReport): number[] {
  return Array.from({ length: slots }, (_, slot) => (Number(fromMs) + slot * Number(slotMs)) / 1000);
}

/** Finds the calls of a slot. */
export function filterOfSlot({ fromMs, slotMs }: ActivityReport, slot: number, more = ''): string {
  const startMs = Number(fromMs) + slot * Number(slotMs);
  const moment = (ms: number): string => new Date(ms).toISOString().replace('.000Z', 'Z');
  return [more, `since:${moment(startMs)} until:${moment(startMs + Number(slotMs))}`].filter(Boolean).join(' ');
}
