import type { ToolUse, Usage } from '../daemon/messages.ts';
import { formatClock } from '../text/format.ts';
import { describeTotals, stackBars, totalsOf } from './tally.ts';

export interface UseBarsProps {
  readonly use: ToolUse;
  readonly usage: Pick<Usage, 'fromMs' | 'slotMs' | 'slots'>;
  /** For people who cannot see it. */
  readonly label: string;
}

/** Calls over time, drawn small. The numbers stand beside it; this only shows when. */
export function UseBars({ use, usage: { fromMs, slotMs, slots }, label }: UseBarsProps) {
  const widthOf = 10;
  return (
    <svg
      className="bars"
      viewBox={`0 0 ${slots * widthOf} 100`}
      preserveAspectRatio="none"
      role="img"
      aria-label={`${label}: ${describeTotals(totalsOf(use))}, from ${formatClock(Number(fromMs))} to ${formatClock(Number(fromMs) + slots * Number(slotMs))}`}
    >
      {stackBars(use, slots).map(({ ending, slot, top, height }) => (
        <rect
          key={`${slot} ${ending}`}
          className={`bar-${ending}`}
          x={slot * widthOf + 1}
          y={top}
          width={widthOf - 2}
          height={height}
        />
      ))}
    </svg>
  );
}
