import { codes } from '@sallyport/contract/codes';
import type { Code } from '@sallyport/contract/codes';
import { readPayload } from '../live/call.ts';
import type { Call, Payload } from '../live/call.ts';
import { Fact, OutcomeBadge } from '../shell/parts.tsx';
import { linkTo } from '../shell/use-route.ts';
import { formatDuration, formatMoment } from '../text/format.ts';
import { Visible } from '../text/visible.tsx';
import { AllowCall } from './allow-call.tsx';
import { reportStages } from './stages.ts';
import { UndoCall } from './undo-call.tsx';

/** Facts that are shown in a place of their own. */
const shownElsewhere = ['arguments', 'decision', 'consent', 'refusal', 'error', 'fault', 'summary', 'tool', 'agent'];

/** One call with everything that is on record about it. */
export function CallDetail({ call }: { readonly call: Call }) {
  const facts = Object.assign({}, ...call.records.map(readPayload)) as Payload;
  const rest = Object.entries(facts).filter(([name]) => !shownElsewhere.includes(name));
  return (
    <section className="detail" aria-label="Call">
      <CloseLink />
      <h2>
        <code>
          <Visible text={call.tool} />
        </code>{' '}
        <OutcomeBadge outcome={call.outcome} />
      </h2>
      <p>
        <Visible text={call.agent || 'nobody known'} /> · {formatMoment(call.startedAtMs)}
        {call.durationMs !== undefined && ` · ${formatDuration(call.durationMs)}`}
      </p>
      <Ending call={call} facts={facts} />
      {facts['changes'] !== undefined && <UndoCall key={call.id} callId={call.id} />}
      {facts['arguments'] !== undefined && (
        <>
          <h3>Arguments</h3>
          <pre className="json" tabIndex={0}>
            <Visible text={JSON.stringify(facts['arguments'], null, 2)} />
          </pre>
        </>
      )}
      <h3>Gates</h3>
      <ol className="stages">
        {reportStages(call).map(({ name, asks, verdict, note }) => (
          <li key={name} className={`stage stage-${verdict.replace(' ', '-')}`}>
            <span className="stage-verdict">{verdict}</span>
            <span>
              <code>{name}</code> <span className="muted">{asks}</span>
              {note !== '' && (
                <span className="block">
                  <Visible text={note} />
                </span>
              )}
            </span>
          </li>
        ))}
      </ol>
      <h3>On record</h3>
      <dl className="facts">
        {rest.map(([name, value]) => (
          <Fact key={name} name={name.replaceAll('_', ' ')}>
            <Visible text={typeof value === 'string' ? value : JSON.stringify(value)} />
          </Fact>
        ))}
        <Fact name="call">{call.id}</Fact>
        <Fact name="records">
          {call.records.map(({ index, kind }) => (
            <a key={index} className="block" href={linkTo('audit', index)}>
              {index} {kind}
            </a>
          ))}
        </Fact>
      </dl>
    </section>
  );
}

export function CloseLink() {
  return (
    <a className="close" href={linkTo('calls')}>
      ← All calls
    </a>
  );
}

/** What came of it; for a refusal by which rule, what the code means, and what the caller was told to do. */
function Ending({ call, facts: { refusal, error, summary } }: { readonly call: Call; readonly facts: Payload }) {
  if (refusal !== undefined) {
    return (
      <div className="ending">
        <p>
          <Visible text={refusal.message ?? ''} />
        </p>
        <dl className="facts">
          <Fact name="code">
            <code>{refusal.code}</code> <span className="muted">{meaningOf(refusal.code)}</span>
          </Fact>
          <Fact name="rule">
            <Visible text={refusal.rule_id ?? ''} />
          </Fact>
          {refusal.remedy !== undefined && (
            <Fact name="what to do">
              <Visible text={refusal.remedy} />
            </Fact>
          )}
        </dl>
        {refusal.code === 'NO_RULE_ALLOWS' && <AllowCall key={call.id} callId={call.id} />}
        {call.outcome === 'waiting' && (
          <p>
            <a href={linkTo('approvals')}>Go to approvals</a>
          </p>
        )}
      </div>
    );
  }
  if (error !== undefined) {
    return (
      <div className="ending">
        <p>
          <Visible text={error.message ?? ''} />
        </p>
        <p>
          <code>{error.code}</code> <span className="muted">{meaningOf(error.code)}</span>
        </p>
      </div>
    );
  }
  return summary ? (
    <p className="ending">
      <Visible text={summary} />
    </p>
  ) : null;
}

/** Empty for a code of a newer daemon. */
function meaningOf(code = ''): string {
  return Object.hasOwn(codes, code) ? codes[code as Code].meaning : '';
}
