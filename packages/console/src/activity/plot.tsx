import { useEffect, useRef, useState } from 'react';
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import { useValue } from '../live/use-live.ts';
import { theme } from '../shell/theme.ts';

export interface PlotSeries {
  readonly name: string;
  /** The name of a colour in the style sheet. */
  readonly colour: string;
  /** Null: there was nothing to measure. */
  readonly values: readonly (number | null)[];
}

export interface PlotProps {
  /** For people who cannot see it. */
  readonly label: string;
  /** In seconds. */
  readonly times: readonly number[];
  readonly series: readonly PlotSeries[];
  /** Bars on each other, or lines. */
  readonly kind: 'bars' | 'lines';
  /** At least, in pixels. Where there is more room, it is taken. */
  readonly height: number;
  readonly formatValue: (value: number) => string;
  /** A slot was pressed. */
  readonly onPick: (slot: number) => void;
}

/** Values over time, with axes. Beside the pointer it says what is there; a press leads to the calls. */
export function Plot(props: PlotProps) {
  const { label, times, series, formatValue, height } = props;
  const box = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot>(undefined);
  const latest = useRef(props);
  latest.current = props;
  const [slot, setSlot] = useState<number>();
  const scheme = useScheme();
  const shape = `${scheme} ${props.kind} ${height} ${series.map(({ name, colour }) => `${name} ${colour}`).join()}`;

  // Drawn anew only when it becomes another plot; new numbers go into the one that is there.
  useEffect(() => {
    const parent = box.current;
    if (parent === null) return undefined;
    const made = new uPlot(optionsOf(latest, parent, setSlot), dataOf(latest.current), parent);
    plot.current = made;
    const observer = new ResizeObserver(() => made.setSize({ width: parent.clientWidth, height: parent.clientHeight }));
    observer.observe(parent);
    return () => {
      observer.disconnect();
      made.destroy();
      plot.current = undefined;
    };
  }, [shape]);
  useEffect(() => plot.current?.setData(dataOf(latest.current)), [times, series]);

  const shownAt = slot === undefined ? undefined : times[slot];
  return (
    <figure className="plot">
      <figcaption>
        {shownAt === undefined ? (
          <span className="muted">{label}</span>
        ) : (
          <span className="muted">
            {new Date(shownAt * 1000).toLocaleString('en-GB', { dateStyle: 'medium', timeStyle: 'short' })}
          </span>
        )}
        <span className="plot-legend">
          {series.map(({ name, colour, values }) => (
            <span key={name}>
              <span className="swatch" style={{ background: `var(${colour})` }} /> {name}
              {slot !== undefined && <strong> {spell(values[slot], formatValue)}</strong>}
            </span>
          ))}
        </span>
      </figcaption>
      <div ref={box} className="plot-box" role="img" aria-label={label} style={{ minHeight: height }} />
    </figure>
  );
}

function spell(value: number | null | undefined, formatValue: (value: number) => string): string {
  return value === null || value === undefined ? '–' : formatValue(value);
}

function dataOf({ times, series, kind }: PlotProps): uPlot.AlignedData {
  if (kind === 'lines') return [[...times], ...series.map(({ values }) => [...values])];
  // The highest stack first: the lower ones are drawn over it.
  const stacks = series.map((_, at) =>
    times.map((_time, slot) => series.slice(0, at + 1).reduce((sum, { values }) => sum + (values[slot] ?? 0), 0)),
  );
  return [[...times], ...stacks.toReversed()];
}

function optionsOf(
  latest: { readonly current: PlotProps },
  parent: HTMLElement,
  onSlot: (slot: number | undefined) => void,
): uPlot.Options {
  const { series, kind, height } = latest.current;
  const line = colourOf('--line');
  const text = colourOf('--muted');
  const drawn = kind === 'bars' ? series.toReversed() : series;
  const axis = { stroke: text, grid: { stroke: line, width: 1 }, ticks: { show: false }, font: '12px system-ui' };
  return {
    width: parent.clientWidth,
    height,
    legend: { show: false },
    cursor: { y: false, points: { show: kind === 'lines' }, drag: { setScale: false, x: false, y: false } },
    scales: { y: { range: (_plot, _low, high) => [0, Math.max(1, high * 1.08)] } },
    axes: [
      {
        ...axis,
        // The day stands below the time. Two days beside each other need this much room.
        space: 80,
        size: (_plot, values) => (values?.some((value) => value?.includes('\n')) ? 42 : 26),
        values: [
          // The step, each tick, and what is added where another year, month or day begins.
          [86_400, '{WWW} {D}', null, null, null, null, null, null, 0],
          [3600, '{HH}:{mm}', day, null, day, null, null, null, 1],
          [60, '{HH}:{mm}', day, null, day, null, null, null, 1],
        ],
      },
      {
        ...axis,
        size: 54,
        // Bars count calls, and there is no half of one.
        ...(kind === 'bars' && { incrs: wholeSteps }),
        values: (_plot, values) => values.map((value) => latest.current.formatValue(value)),
      },
    ],
    series: [
      {},
      ...drawn.map(({ name, colour }) => {
        const stroke = colourOf(colour);
        if (kind === 'lines')
          return { label: name, stroke, width: 2, spanGaps: false, points: { show: true, size: 4, fill: stroke } };
        return { label: name, stroke, fill: stroke, width: 0, points: { show: false }, ...(bars && { paths: bars }) };
      }),
    ],
    hooks: {
      setCursor: [(plot) => onSlot(plot.cursor.idx ?? undefined)],
      ready: [
        (plot) => {
          plot.over.addEventListener('click', () => {
            const { idx } = plot.cursor;
            if (typeof idx === 'number') latest.current.onPick(idx);
          });
        },
      ],
    },
  };
}

const wholeSteps = Array.from({ length: 8 }, (_, power) => [1, 2, 5].map((step) => step * 10 ** power)).flat();
const day = '\n{WWW} {D} {MMM}';
const bars = uPlot.paths.bars?.({ size: [0.82, 40], align: 1 });

/** A canvas knows no variables and no two values of one colour. */
function colourOf(name: string): string {
  const probe = document.createElement('span');
  probe.style.color = `var(${name})`;
  document.body.append(probe);
  const { color } = getComputedStyle(probe);
  probe.remove();
  return color;
}

/** Changes with the colours of the page. */
function useScheme(): string {
  const chosen = useValue(theme);
  const [isDark, setIsDark] = useState(() => matchMedia('(prefers-color-scheme: dark)').matches);
  useEffect(() => {
    const media = matchMedia('(prefers-color-scheme: dark)');
    const look = (): void => setIsDark(media.matches);
    media.addEventListener('change', look);
    return () => media.removeEventListener('change', look);
  }, []);
  return `${chosen} ${isDark}`;
}
