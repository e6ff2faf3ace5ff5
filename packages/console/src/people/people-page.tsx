import type { InJson, OrganisationReport, People } from '@sallyport/contract';
import { callTool } from '../daemon/call-tool.ts';
import { useGate, useValue } from '../live/use-live.ts';
import { Copyable } from '../shell/copyable.tsx';
import { Empty, Loading, PageHead, Problem } from '../shell/parts.tsx';
import { useGovernedCall } from '../shell/use-governed-call.tsx';
import { useLoaded } from '../shell/use-loaded.ts';
import { linkTo } from '../shell/use-route.ts';
import { formatMoment } from '../text/format.ts';
import { Visible } from '../text/visible.tsx';

interface PeopleView {
  readonly people: InJson<People>['people'];
  readonly organisation: InJson<OrganisationReport>;
}

async function loadPeople(): Promise<PeopleView> {
  const [{ people }, organisation] = await Promise.all([
    callTool<InJson<People>>('people.list', {}),
    callTool<InJson<OrganisationReport>>('organisation.show', {}),
  ]);
  return { people, organisation };
}

/** Who may run the gate, which agents belong to whom, and what was granted or revoked. */
export function PeoplePage() {
  const { sessions } = useValue(useGate().changes);
  const { value, trouble, reload } = useLoaded(loadPeople, sessions);
  const { run, dialog, trouble: failed } = useGovernedCall();
  const { teams = [], members = [], permissions = [], settings } = value?.organisation ?? {};
  return (
    <>
      <PageHead title="People" />
      {dialog}
      {failed && <Problem trouble={failed} />}
      {trouble && <Problem trouble={trouble} onRetry={reload} />}
      {value === undefined && trouble === undefined && <Loading what="the people" />}
      {value !== undefined && (
        <>
          <p className="muted list-note">
            {settings?.organisationName || 'This gate'} has the profile <strong>{settings?.profile}</strong>:{' '}
            {settings?.profile === 'team' ? 'agents ask before they write.' : 'agents write in the workspace unasked.'}
          </p>
          <h2>People</h2>
          <ul className="rows" aria-label="People">
            {value.people.map(({ personId, name, status, addedAtMs }) => (
              <li key={personId} className="line">
                <span className={`badge badge-${status === 'active' ? 'ok' : 'calm'}`}>{status}</span>
                <span className="line-main">
                  <strong>
                    <Visible text={name} />
                  </strong>{' '}
                  <span className="muted">since {formatMoment(Number(addedAtMs))}</span>
                </span>
                <span className="line-end line-buttons">
                  <a className="button" href={linkTo('calls', '', `about:people agent:${name}`)}>
                    Calls
                  </a>
                  {status === 'active' && name !== 'operator' && (
                    <button
                      type="button"
                      className="danger"
                      onClick={() => void run('people.revoke', { person_id: personId }).then(reload)}
                    >
                      Revoke
                    </button>
                  )}
                </span>
              </li>
            ))}
          </ul>
          <p className="muted list-note">
            To let another person in, run <code>npx sallyport person add NAME</code>. It prints their credential once.
          </p>
          <h2>Teams and agents</h2>
          {teams.length === 0 && members.length === 0 && (
            <Empty title="There are no teams yet">
              <p>
                A team has a senior, who decides about calls of its agents. Without one, you decide about everything.
              </p>
              <Copyable label="Command" text="npx sallyport team put NAME --senior PERSON" />
            </Empty>
          )}
          <ul className="rows" aria-label="Teams">
            {teams.map(({ name, senior, seniorAgent }) => {
              const inTeam = members.filter(({ team }) => team === name);
              return (
                <li key={name} className="line">
                  <span className="badge badge-calm">team</span>
                  <span className="line-main">
                    <strong>
                      <Visible text={name} />
                    </strong>
                    <span className="muted block">
                      {inTeam.length === 0 ? (
                        'no members yet'
                      ) : (
                        <Visible text={inTeam.map((each) => each.name).join(', ')} />
                      )}
                    </span>
                  </span>
                  <span className="line-end muted">
                    senior: <Visible text={senior ?? seniorAgent ?? 'the directors'} />
                  </span>
                </li>
              );
            })}
            {members.map(({ kind, name, team, role, senior }) => (
              <li key={`${kind} ${name}`} className="line">
                <span className="badge badge-calm">{kind}</span>
                <span className="line-main">
                  <strong>
                    <Visible text={name} />
                  </strong>{' '}
                  <span className="muted">
                    <Visible
                      text={[role, team && `in ${team}`, senior && `senior ${senior}`].filter(Boolean).join(', ')}
                    />
                  </span>
                </span>
              </li>
            ))}
          </ul>
          {permissions.length > 0 && (
            <>
              <h2>Granted and revoked</h2>
              <ul className="rows" aria-label="Permissions">
                {permissions.map(({ level, subject, tools, effect, by, changedAtMs }) => (
                  <li key={`${level} ${subject} ${tools}`} className="line">
                    <span className={`badge badge-${effect === 'granted' ? 'ok' : 'denied'}`}>{effect}</span>
                    <span className="line-main">
                      <code>
                        <Visible text={tools} />
                      </code>{' '}
                      for {level} <Visible text={subject} />
                    </span>
                    <span className="line-end muted">
                      by <Visible text={by} />, {formatMoment(Number(changedAtMs))}
                    </span>
                  </li>
                ))}
              </ul>
            </>
          )}
        </>
      )}
    </>
  );
}
