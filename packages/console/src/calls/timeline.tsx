import { factsOfCall } from '../live/call.ts';
import type { Call } from '../live/call.ts';
import { formatDuration } from '../text/format.ts';
import type { Story } from './story.ts';

interface Bar {
  readonly name: string;
  readonly kind: 'gates' | 'person' | 'agent' | 'tool';
  readonly fromMs: number;
  readonly toMs: number;
}

/** Narrower, nobody would see it, in hundredths of the width. */
const leastWidth = 1.2;

/** Where the time went: in the gates, with a person, with the agent, in the tool. Each bar begins where the one before ended. */
export function Timeline({ story }: { readonly story: Story }) {
  const bars = barsOf(story);
  const [first] = bars;
  if (first === undefined) return null;
  const fromMs = first.fromMs;
  const allMs = Math.max(1, ...bars.map(({ toMs }) => toMs - fromMs));
  return (
    <>
      <h3>Where the time went</h3>
      <ol className="timeline">
        {bars.map(({ name, kind, fromMs: begin, toMs }, at) => {
          const width = Math.max(leastWidth, ((toMs - begin) / allMs) * 100);
          const left = Math.min(100 - width, ((begin - fromMs) / allMs) * 100);
          return (
            <li key={at}>
              <span className="timeline-name">{name}</span>
              <span className="timeline-track" aria-hidden="true">
                <span className={`timeline-bar timeline-${kind}`} style={{ left: `${left}%`, width: `${width}%` }} />
              </span>
              <span className="muted timeline-time">{formatDuration(toMs - begin)}</span>
            </li>
          );
        })}
      </ol>
    </>
  );
}

function barsOf({ calls, steps }: Story): readonly Bar[] {
  const bars: Bar[] = [];
  const asked = steps.find(({ name }) => name === 'asked');
  const decided = steps.find(({ name }) => name === 'approved' || name === 'denied' || name === 'expired');
  if (asked !== undefined && decided !== undefined) {
    bars.push({ name: 'Waited for a person', kind: 'person', fromMs: asked.atMs, toMs: decided.atMs });
  }
  const ran = calls.find(({ durationMs, tool }) => durationMs !== undefined && !tool.startsWith('approvals.'));
  if (ran === undefined) return bars;
  const { startedAtMs, intentAtMs, endedAtMs } = timesOf(ran);
  if (decided !== undefined && startedAtMs > decided.atMs) {
    bars.push({ name: 'Until the agent came back', kind: 'agent', fromMs: decided.atMs, toMs: startedAtMs });
  }
  bars.push({ name: 'Gates, and the log', kind: 'gates', fromMs: startedAtMs, toMs: intentAtMs });
  bars.push({ name: 'The tool, and its record', kind: 'tool', fromMs: intentAtMs, toMs: endedAtMs });
  return bars;
}

/** The call came, was let through and written down, and ended. */
function timesOf(call: Call) {
  const { started_at_ms: started } = factsOfCall(call);
  const startedAtMs = typeof started === 'number' ? started : call.startedAtMs;
  const endedAtMs = startedAtMs + (call.durationMs ?? 0);
  const intent = call.records.find(({ kind }) => kind === 'intent');
  const intentAtMs = Math.min(endedAtMs, Math.max(startedAtMs, Number(intent?.timeMs ?? startedAtMs)));
  return { startedAtMs, intentAtMs, endedAtMs };
}
