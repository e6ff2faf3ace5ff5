import type { ToolUse, Usage } from '../daemon/messages.ts';

export const endings = ['succeeded', 'asked', 'denied', 'failed'] as const;
export type Ending = (typeof endings)[number];

export const endingWords: Readonly<Record<Ending, string>> = {
  succeeded: 'ok',
  asked: 'asked a person',
  denied: 'denied',
  failed: 'failed',
};

export type Totals = Readonly<Record<Ending | 'calls', number>>;

/** The calls of all tools together, slot by slot. */
export function addUp({ tools, slots }: Pick<Usage, 'tools' | 'slots'>): ToolUse {
  const sum = (ending: Ending): number[] =>
    Array.from({ length: slots }, (_, slot) => tools.reduce((total, use) => total + (use[ending][slot] ?? 0), 0));
  return { tool: '', succeeded: sum('succeeded'), denied: sum('denied'), asked: sum('asked'), failed: sum('failed') };
}

export function totalsOf(use: ToolUse): Totals {
  const sum = (ending: Ending): number => use[ending].reduce((total, count) => total + count, 0);
  const [succeeded, asked, denied, failed] = [sum('succeeded'), sum('asked'), sum('denied'), sum('failed')];
  return { succeeded, asked, denied, failed, calls: succeeded + asked + denied + failed };
}

/** In words: for people who cannot see the bars, and for those who want the numbers. Endings that did not occur are left out. */
export function describeTotals(totals: Totals): string {
  const parts = endings.flatMap((ending) => (totals[ending] === 0 ? [] : [`${totals[ending]} ${endingWords[ending]}`]));
  return parts.join(', ');
}

export interface Bar {
  readonly ending: Ending;
  readonly slot: number;
  /** From the top, in hundredths of the height. */
  readonly top: number;
  readonly height: number;
}

/** In hundredths of the height: what occurred is never too small to see. */
const leastHeight = 4;

/** Stacked bars: all slots to one scale, on which the fullest slot reaches the top. */
export function stackBars(use: ToolUse, slots: number): readonly Bar[] {
  const allSlots = Array.from({ length: slots }, (_, slot) => slot);
  const countAt = (slot: number): number => endings.reduce((sum, ending) => sum + (use[ending][slot] ?? 0), 0);
  const most = Math.max(1, ...allSlots.map(countAt));
  return allSlots.flatMap((slot) => {
    const occurred = endings.filter((ending) => (use[ending][slot] ?? 0) > 0);
    const heights = fitHeights(occurred.map((ending) => ((use[ending][slot] ?? 0) / most) * 100));
    let top = 100;
    return occurred.map((ending, at) => {
      const height = heights[at] ?? 0;
      top -= height;
      return { ending, slot, top, height };
    });
  });
}

/** The largest gives what the smallest need to be seen. */
function fitHeights(heights: readonly number[]): readonly number[] {
  const raised = heights.map((height) => Math.max(leastHeight, height));
  const excess = raised.reduce((sum, height) => sum + height, 0) - 100;
  const largest = raised.indexOf(Math.max(...raised));
  return excess > 0 ? raised.map((height, at) => (at === largest ? height - excess : height)) : raised;
}
