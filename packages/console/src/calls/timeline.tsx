import type { Call } from '../live/call.ts';
import { formatExact } from '../text/format.ts';
import { phaseBars, slowStages, storyBars } from './phases.ts';
import type { Bar } from './phases.ts';
import type { Story } from './story.ts';

/** Narrower, nobody would see it, in hundredths of the width. */
const leastWidth = 0.8;

/** Where the time went: with people first, as that is seconds or hours; then within the call, by its own measure. */
export function Timeline({ story, call }: { readonly story: Story; readonly call: Call }) {
  const waited = storyBars(story);
  const phases = phaseBars(call);
  const slow = slowStages(call);
  if (waited.length === 0 && phases.length === 0) return null;
  return (
    <section aria-label="Where the time went">
      <h3>Where the time went</h3>
      {waited.length > 0 && <Waterfall bars={waited} label="From the question on" />}
      {phases.length > 0 && <Waterfall bars={phases} label={waited.length > 0 ? 'Within the call' : ''} />}
      {slow.length > 0 && (
        <p className="muted timeline-note">
          Slow stages: {slow.map(([name, ms]) => `${name} ${formatExact(ms)}`).join(', ')}
        </p>
      )}
    </section>
  );
}

/** Each bar begins where the one before ended. */
function Waterfall({ bars, label }: { readonly bars: readonly Bar[]; readonly label: string }) {
  const allMs = Math.max(0.001, ...bars.map(({ fromMs, ms }) => fromMs + ms));
  return (
    <>
      <p className="timeline-head muted">
        <span>{label}</span>
        <span className="timeline-axis" aria-hidden="true">
          <span>0</span>
          <span>{formatExact(allMs / 2)}</span>
          <span>{formatExact(allMs)}</span>
        </span>
      </p>
      <ol className="timeline">
        {bars.map(({ name, kind, fromMs, ms }) => {
          const width = Math.max(leastWidth, (ms / allMs) * 100);
          const left = Math.min(100 - width, (fromMs / allMs) * 100);
          return (
            <li key={name}>
              <span className="timeline-name">{name}</span>
              <span className="timeline-track" aria-hidden="true">
                <span className={`timeline-bar timeline-${kind}`} style={{ left: `${left}%`, width: `${width}%` }} />
              </span>
              <span className="timeline-time">{formatExact(ms)}</span>
            </li>
          );
        })}
      </ol>
    </>
  );
}
