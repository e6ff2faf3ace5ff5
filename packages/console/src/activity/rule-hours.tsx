import type { ActivityReport } from '../daemon/messages.ts';
import { go, linkTo } from '../shell/use-route.ts';
import { formatCount } from '../text/format.ts';
import { Visible } from '../text/visible.tsx';
import { endings } from './series.ts';

const mostRules = 12;

/** Which rule decides at which hour of the day. The more it did, the darker. */
export function RuleHours({ report }: { readonly report: ActivityReport }) {
  const { rules, fromMs, slotMs } = report;
  const rows = rules.slice(0, mostRules).map((line) => {
    const hours = Array.from({ length: 24 }, () => 0);
    for (const ending of endings) {
      line[ending].forEach((count, slot) => {
        const hour = new Date(Number(fromMs) + slot * Number(slotMs)).getHours();
        hours[hour] = (hours[hour] ?? 0) + count;
      });
    }
    return { name: line.name, hours };
  });
  const most = Math.max(1, ...rows.flatMap(({ hours }) => hours));
  if (rows.length === 0) return null;
  return (
    <div className="heat-scroll" tabIndex={0} role="region" aria-label="Rules by hour">
      <table className="heat">
        <caption className="sr-only">How often each rule decided, by hour of the day</caption>
        <thead>
          <tr>
            <th scope="col">Rule</th>
            {rows[0]?.hours.map((_, hour) => (
              <th key={hour} scope="col">
                {hour % 3 === 0 ? String(hour).padStart(2, '0') : <span className="sr-only">{hour}</span>}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map(({ name, hours }) => (
            <tr key={name}>
              <th scope="row">
                <a href={linkTo('calls', '', `rule:${name}`)}>
                  <Visible text={name} />
                </a>
              </th>
              {hours.map((count, hour) => (
                <td
                  key={hour}
                  title={count === 0 ? undefined : `${formatCount(count, 'call')}, ${hour}:00 to ${hour + 1}:00`}
                >
                  <span
                    className="heat-cell"
                    style={{ opacity: count === 0 ? 0.06 : 0.18 + 0.82 * Math.sqrt(count / most) }}
                    onClick={() => go(linkTo('calls', '', `rule:${name}`))}
                  />
                  <span className="sr-only">{count}</span>
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
