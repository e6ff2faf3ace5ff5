import { useCallback } from 'react';
import { useActivity } from '../activity/use-activity.ts';
import { callTool } from '../daemon/call-tool.ts';
import type { ClientPath, Session } from '../daemon/messages.ts';
import { useNowMs } from '../live/use-live.ts';
import { useSessions } from '../sessions/use-sessions.ts';
import { Copyable } from '../shell/copyable.tsx';
import { Empty, Loading, Problem } from '../shell/parts.tsx';
import { useLoaded } from '../shell/use-loaded.ts';
import { linkTo } from '../shell/use-route.ts';
import { formatAgo, formatCount } from '../text/format.ts';
import { Visible } from '../text/visible.tsx';
import { tellPaths, useCoverage } from './use-coverage.ts';
import type { CoverageReport } from './use-coverage.ts';

const command = 'npx sallyport coverage';

/** Which clients come through the gate by which path, as far as the daemon knows. */
export function Coverage() {
  const { value: report, trouble, reload } = useCoverage();
  return (
    <>
      {trouble && <Problem trouble={trouble} onRetry={reload} />}
      {report === undefined && trouble === undefined && <Loading what="the coverage" />}
      {report === null && (
        <Empty title="Coverage was not checked yet">
          <p>
            The daemon does not read the settings and transcripts of your clients. This command does: it tries each
            path, and compares the transcripts with the log. What it finds is shown here.
          </p>
          <Copyable label="Command that checks the coverage" text={command} />
        </Empty>
      )}
      {report && <LastReport report={report} />}
      {report !== undefined && <Connected known={report?.paths ?? []} />}
    </>
  );
}

function LastReport({ report }: { readonly report: CoverageReport }) {
  const nowMs = useNowMs();
  const { callId, atMs, summary, paths } = report;
  const spelled = JSON.stringify(paths);
  const load = useCallback(async () => {
    const looked = await callTool<{ readonly paths: readonly ClientPath[] }>('clients.coverage', { paths });
    return looked.paths;
  }, [spelled]);
  const { value: seen, trouble } = useLoaded(load);
  return (
    <>
      <p className="list-note">
        <strong>{tellPaths(paths)}</strong>, checked {formatAgo(atMs, nowMs)} by <code>{command}</code>:{' '}
        <a href={linkTo('calls', callId)}>
          <Visible text={summary} />
        </a>
        . Run it again to try each path and to see which uses went around the gate: only it can read the transcripts.
      </p>
      {trouble && <Problem trouble={trouble} />}
      <ul className="rows" aria-label="Paths">
        {(seen ?? paths).map((path) => (
          <PathLine key={`${path.client} ${path.path}`} path={path} hasLooked={seen !== undefined} nowMs={nowMs} />
        ))}
      </ul>
    </>
  );
}

interface PathLineProps {
  readonly path: ClientPath;
  readonly hasLooked: boolean;
  readonly nowMs: number;
}

function PathLine({ path, hasLooked, nowMs }: PathLineProps) {
  const { client, path: name, state, version, fix, lastSeenAtMs } = path;
  return (
    <li className="line">
      <span className={`badge badge-${state === 'live' ? 'ok' : 'denied'}`}>
        <Visible text={state || 'not known'} />
      </span>
      <span className="line-main">
        <strong>
          <Visible text={client} />
        </strong>{' '}
        <Visible text={name} />{' '}
        <span className="muted">
          <Visible text={version} />
        </span>
        {fix !== '' && (
          <span className="block">
            To fix it:{' '}
            <code>
              <Visible text={fix} />
            </code>
          </span>
        )}
      </span>
      <span className="line-end muted">
        {lastSeenAtMs !== undefined
          ? `last call ${formatAgo(Number(lastSeenAtMs), nowMs)}`
          : hasLooked
            ? 'no call found'
            : '…'}
      </span>
    </li>
  );
}

/** Agents that hold a session and are no client of the report. Which program they are is not known. */
function Connected({ known }: { readonly known: readonly ClientPath[] }) {
  const nowMs = useNowMs();
  const { value: sessions } = useSessions();
  const { value: activity } = useActivity(1);
  const lastCalls = new Map(activity?.lastCalls.map(({ sessionId, timeMs }) => [sessionId, Number(timeMs)]));
  const others = (sessions ?? []).filter(
    ({ principal, agent }) => principal === 'agent' && !known.some(({ client }) => client === agent),
  );
  const byAgent = [...Map.groupBy(others, ({ agent }) => agent)];
  if (activity === undefined || byAgent.length === 0) return null;
  const lastOf = (held: readonly Session[]): number =>
    Math.max(0, ...held.map(({ sessionId }) => lastCalls.get(sessionId) ?? 0));
  return (
    <>
      <h2>Other agents with a session</h2>
      <ul className="rows" aria-label="Other agents">
        {byAgent.map(([agent, held]) => (
          <li key={agent} className="line">
            <span className="line-main">
              <a href={linkTo('calls', '', `agent:${agent}`)}>
                <Visible text={agent} />
              </a>{' '}
              <span className="muted">{formatCount(held.length, 'session')}</span>
            </span>
            <span className="line-end muted">
              {lastOf(held) === 0 ? 'no call yet' : `last call ${formatAgo(lastOf(held), nowMs)}`}
            </span>
          </li>
        ))}
      </ul>
    </>
  );
}
