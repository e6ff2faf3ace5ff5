import { useState } from 'react';
import type { InJson, PolicyDraft } from '@sallyport/contract';
import { callConfirmed, callTool } from '../daemon/call-tool.ts';
import { Problem, troubleOf } from '../shell/parts.tsx';
import type { Trouble } from '../shell/parts.tsx';
import { linkTo } from '../shell/use-route.ts';
import { formatCount } from '../text/format.ts';
import { Visible } from '../text/visible.tsx';

/** Drafts the narrowest rule for a call that no rule allowed, with what it would have opened. It counts only once it was seen. */
export function AllowCall({ callId }: { readonly callId: string }) {
  const [draft, setDraft] = useState<InJson<PolicyDraft>>();
  const [isDone, setIsDone] = useState(false);
  const [isBusy, setIsBusy] = useState(false);
  const [trouble, setTrouble] = useState<Trouble>();
  const run = async (work: () => Promise<void>): Promise<void> => {
    setIsBusy(true);
    setTrouble(undefined);
    await work().catch((error: unknown) => setTrouble(troubleOf(error)));
    setIsBusy(false);
  };
  const read = () => run(async () => setDraft(await callTool<InJson<PolicyDraft>>('policy.draft', { call: callId })));
  const apply = (shown: string) =>
    run(async () => {
      await callConfirmed('policy.allow', { call: callId, shown });
      setIsDone(true);
    });
  if (isDone) return <p role="status">A rule allows such calls from now on.</p>;
  return (
    <div className="allow">
      {draft === undefined ? (
        <button type="button" disabled={isBusy} onClick={() => void read()}>
          {isBusy ? 'Drafting the rule…' : 'Allow this…'}
        </button>
      ) : (
        <>
          <p>
            The narrowest rule for it, as it would stand in <code>{draft.file}</code>:
          </p>
          <pre className="json" tabIndex={0} aria-label="The drafted rule">
            <Visible text={draft.rule} />
          </pre>
          <ReplayResult draft={draft} />
          <div className="form-actions">
            <button type="button" className="primary" disabled={isBusy} onClick={() => void apply(draft.shown)}>
              Put it in force
            </button>
            <button type="button" onClick={() => setDraft(undefined)}>
              Not now
            </button>
          </div>
        </>
      )}
      {trouble && <Problem trouble={trouble} />}
    </div>
  );
}

function ReplayResult({ draft: { replay, undecidableDenials } }: { readonly draft: InJson<PolicyDraft> }) {
  if (replay === undefined) return null;
  const { decided, ways, calls } = replay;
  return (
    <>
      <p>
        Replayed over {formatCount(decided, 'recorded call')}:{' '}
        {ways.length === 0
          ? 'no other call would have been decided otherwise.'
          : ways.map(({ was, would, count }) => `${formatCount(count, 'call')} from ${was} to ${would}`).join(', ')}
        {undecidableDenials > 0 && ` ${formatCount(undecidableDenials, 'denial')} cannot be replayed.`}
      </p>
      {calls.length > 0 && (
        <ul className="rows">
          {calls.slice(0, 8).map(({ callId, agent, tool, was, would }) => (
            <li key={callId}>
              <a className="line" href={linkTo('calls', callId)}>
                <Visible text={agent} /> <code>{tool}</code>
                <span className="muted">
                  {was?.effect} → {would?.effect}
                </span>
              </a>
            </li>
          ))}
        </ul>
      )}
    </>
  );
}
