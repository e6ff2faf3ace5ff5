import { codes } from '@sallyport/contract/codes';
import type { Code } from '@sallyport/contract/codes';
import { factsOfCall } from '../live/call.ts';
import type { Call, Payload } from '../live/call.ts';
import { Fact, OutcomeBadge } from '../shell/parts.tsx';
import { linkTo } from '../shell/use-route.ts';
import { ValuesForm } from '../shell/values-form.tsx';
import { formatDuration, formatMoment } from '../text/format.ts';
import { Visible } from '../text/visible.tsx';
import { AllowCall } from './allow-call.tsx';
import { ReceiptButton } from './call-actions.tsx';
import { reportStages } from './stages.ts';
import type { StageReport } from './stages.ts';
import type { Story } from './story.ts';
import { Timeline } from './timeline.tsx';
import { UndoCall } from './undo-call.tsx';

/** Facts that are shown in a place of their own. */
const shownElsewhere = [
  ...['arguments', 'decision', 'consent', 'refusal', 'error', 'fault', 'summary', 'tool', 'agent', 'changes'],
  ...['trace_id', 'intent', 'started_at_ms', 'duration_ms', 'phases_us'],
];

interface CallDetailProps {
  readonly story: Story;
  /** The call of the address. It may be the question of a story whose run is told. */
  readonly callId: string;
  readonly query: string;
}

/** One story: what decided it first, then where the time went, what changed, and everything on record. */
export function CallDetail({ story, callId, query }: CallDetailProps) {
  const call = story.calls.find(({ id }) => id === callId) ?? story.head;
  const facts = factsOfCall(call);
  const { verb, object } = story.told;
  const stages = reportStages(call);
  const deciding = decidingOf(stages);
  return (
    <section className="detail" aria-label="Call">
      <CloseLink query={query} />
      <h2>
        <Visible text={call.agent || 'nobody known'} /> {verb}{' '}
        <span className="detail-object">
          <Visible text={object} />
        </span>
      </h2>
      <p className="detail-line">
        <OutcomeBadge outcome={story.outcome} />
        <code>
          <Visible text={call.tool} />
        </code>
        <span className="muted">
          {formatMoment(call.startedAtMs)}
          {call.durationMs !== undefined && ` · ${formatDuration(call.durationMs)}`}
        </span>
      </p>
      {story.steps.length > 1 && <Steps story={story} callId={call.id} query={query} />}
      <Ending call={call} facts={facts} deciding={deciding} />
      <div className="form-actions">
        <ReceiptButton callId={call.id} />
        {typeof facts['trace_id'] === 'string' && (
          <a className="button" href={linkTo('calls', '', `kind:call,event trace:${facts['trace_id']}`)}>
            The whole run
          </a>
        )}
        <a className="button" href={linkTo('calls', '', `agent:${call.agent} tool:${call.tool}`)}>
          More like this
        </a>
      </div>
      <Timeline story={story} call={call} />
      <Changes changes={facts['changes']} workspace={facts['workspace']} />
      {facts['changes'] !== undefined && <UndoCall key={call.id} callId={call.id} />}
      {facts.arguments !== undefined && (
        <>
          <h3>Arguments</h3>
          <ValuesForm value={facts.arguments} label="Arguments" />
        </>
      )}
      <details className="fold">
        <summary>
          Gates <span className="muted">{stages.filter(({ verdict }) => verdict === 'passed').length} passed</span>
        </summary>
        <Stages stages={stages} />
      </details>
      <details className="fold">
        <summary>On record</summary>
        <Facts call={call} facts={facts} />
      </details>
    </section>
  );
}

export function CloseLink({ query }: { readonly query: string }) {
  return (
    <a className="close" href={linkTo('calls', '', query)}>
      ← All calls
    </a>
  );
}

/** The gate that ended the call; for one that went all the way, the rules, or the person who was asked. */
function decidingOf(stages: readonly StageReport[]): StageReport | undefined {
  const ended = stages.find(({ verdict }) => verdict !== 'passed' && verdict !== 'not reached');
  const asked = stages.find(({ name, note }) => name === 'seek-approval' && !note.startsWith('Nobody'));
  return ended ?? asked ?? stages.find(({ name }) => name === 'judge-call');
}

function Steps({ story, callId, query }: CallDetailProps) {
  const sameDay = new Set(story.steps.map(({ atMs }) => new Date(atMs).toDateString())).size === 1;
  return (
    <ol className="steps-line" aria-label="What happened">
      {story.steps.map(({ name, by, atMs, callId: id }, at) => (
        <li key={at}>
          <a href={linkTo('calls', id, query)} aria-current={id === callId ? 'true' : undefined}>
            <strong>{name}</strong> {by !== '' && name !== 'ran' && <Visible text={`by ${by}`} />}
            <span className="muted block">{sameDay ? formatMoment(atMs).slice(11) : formatMoment(atMs)}</span>
          </a>
        </li>
      ))}
    </ol>
  );
}

interface EndingProps {
  readonly call: Call;
  readonly facts: Payload;
  readonly deciding: StageReport | undefined;
}

/** What decided; for a refusal by which rule, what the code means, and what the caller was told to do. */
function Ending({ call, facts: { refusal, error, summary, decision }, deciding }: EndingProps) {
  const rule = refusal?.rule_id ?? decision?.rule_id ?? '';
  return (
    <div className={`ending ending-${call.outcome}`}>
      {deciding !== undefined && (
        <p className="deciding">
          <span className={`stage-verdict stage-${deciding.verdict.replace(' ', '-')}`}>{deciding.verdict}</span>{' '}
          <code>{deciding.name}</code> <span className="muted">{deciding.asks}</span>
        </p>
      )}
      <p>
        <Visible text={refusal?.message ?? error?.message ?? deciding?.note ?? ''} />
      </p>
      {summary !== undefined && <p className="muted">{<Visible text={summary} />}</p>}
      <dl className="facts">
        {(refusal ?? error) !== undefined && (
          <Fact name="code">
            <code>{(refusal ?? error)?.code}</code> <span className="muted">{meaningOf((refusal ?? error)?.code)}</span>
          </Fact>
        )}
        {rule !== '' && (
          <Fact name="rule">
            <a href={linkTo('rules', rule)}>
              <Visible text={rule} />
            </a>
          </Fact>
        )}
        {refusal?.remedy !== undefined && call.outcome !== 'waiting' && (
          <Fact name="what to do">
            <span className="as-written">
              <WithCode text={refusal.remedy} />
            </span>
          </Fact>
        )}
      </dl>
      {refusal?.code === 'NO_RULE_ALLOWS' && call.principal === 'agent' && <AllowCall key={call.id} callId={call.id} />}
      {call.outcome === 'waiting' && (
        <p>
          <a href={linkTo('approvals', call.taskId)}>Open the request</a>
        </p>
      )}
    </div>
  );
}

interface Change {
  readonly path?: string;
  readonly before?: string;
  readonly after?: string;
}

/** What the call did to files, as the record has it. */
function Changes({ changes, workspace }: { readonly changes: unknown; readonly workspace: unknown }) {
  if (!Array.isArray(changes) || changes.length === 0) return null;
  const within = typeof workspace === 'string' ? `${workspace}/` : '/';
  return (
    <>
      <h3>Effect</h3>
      <ul className="changes">
        {(changes as readonly Change[]).map(({ path = '', before = '', after = '' }, at) => (
          <li key={at}>
            <span className={`badge badge-${after === 'absent' ? 'denied' : 'ok'}`}>{nameChange(before, after)}</span>{' '}
            <code>
              <Visible text={path.startsWith(within) ? path.slice(within.length) : path} />
            </code>
          </li>
        ))}
      </ul>
    </>
  );
}

function nameChange(before: string, after: string): string {
  if (before === 'absent') return after === 'folder' ? 'made folder' : 'created';
  return after === 'absent' ? 'deleted' : 'changed';
}

function Stages({ stages }: { readonly stages: readonly StageReport[] }) {
  return (
    <ol className="stages">
      {stages.map(({ name, asks, verdict, note }) => (
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
  );
}

function Facts({ call, facts }: { readonly call: Call; readonly facts: Payload }) {
  const rest = Object.entries(facts).filter(([name]) => !shownElsewhere.includes(name));
  return (
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
  );
}

/** What stands between backticks is something to type. */
function WithCode({ text }: { readonly text: string }) {
  return text.split(/`([^`]+)`/).map((piece, at) =>
    at % 2 === 0 ? (
      <Visible key={at} text={piece} />
    ) : (
      <code key={at}>
        <Visible text={piece} />
      </code>
    ),
  );
}

/** Empty for a code of a newer daemon. */
function meaningOf(code = ''): string {
  return Object.hasOwn(codes, code) ? codes[code as Code].meaning : '';
}
