import { useEffect, useRef, useState } from 'react';
import type { InJson, PolicyDraft } from '@sallyport/contract';
import { callTool } from '../daemon/call-tool.ts';
import type { Approval } from '../daemon/messages.ts';
import { Problem, troubleOf } from '../shell/parts.tsx';
import type { Trouble } from '../shell/parts.tsx';
import { formatCount } from '../text/format.ts';
import { Visible } from '../text/visible.tsx';

export type DraftedRule = InJson<PolicyDraft>;

export interface AlwaysDialogProps {
  readonly approval: Approval;
  /** With the rule that the person wants. Undefined: none. */
  readonly onClose: (draft: DraftedRule | undefined) => void;
}

/** Shows a rule for exactly this call, which the person may widen one step at a time, before anything is decided. */
export function AlwaysDialog({ approval, onClose }: AlwaysDialogProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const [widen, setWiden] = useState(0);
  const [draft, setDraft] = useState<DraftedRule>();
  const [trouble, setTrouble] = useState<Trouble>();
  useEffect(() => dialog.current?.showModal(), []);
  useEffect(() => {
    let isLatest = true;
    setDraft(undefined);
    setTrouble(undefined);
    callTool<DraftedRule>('policy.draft', { call: approval.callId, widen }).then(
      (drafted) => isLatest && setDraft(drafted),
      (error: unknown) => isLatest && setTrouble(troubleOf(error)),
    );
    return () => void (isLatest = false);
  }, [approval.callId, widen]);
  return (
    <dialog ref={dialog} className="dialog" aria-labelledby="always-title" onCancel={() => onClose(undefined)}>
      <h2 id="always-title">Never ask about this again</h2>
      {trouble && (
        <>
          <Problem trouble={trouble} />
          <p>“For the session” and “For minutes…” let such calls through for a while, without a rule.</p>
        </>
      )}
      {draft === undefined && !trouble && <p role="status">Drafting the rule and trying it on the log…</p>}
      {draft !== undefined && <Draft draft={draft} />}
      <div className="form-actions">
        <button type="button" className="primary" disabled={draft === undefined} onClick={() => onClose(draft)}>
          Add the rule and approve
        </button>
        {draft !== undefined && draft.wider !== '' && (
          <button type="button" onClick={() => setWiden(widen + 1)}>
            Widen it
          </button>
        )}
        <button type="button" onClick={() => onClose(undefined)}>
          Cancel
        </button>
      </div>
    </dialog>
  );
}

function Draft({ draft: { scope, wider, rule, replay, reopened } }: { readonly draft: DraftedRule }) {
  const spared = replay?.ways.find(({ was, would }) => was === 'require_approval' && would === 'allow')?.count ?? 0;
  return (
    <>
      <p>
        From now on without a question: <strong>{<Visible text={scope} />}</strong>
      </p>
      <pre className="json" tabIndex={0} aria-label="The rule">
        <Visible text={rule} />
      </pre>
      <p>
        Tried on {formatCount(replay?.decided ?? 0, 'recorded call')}: {formatCount(spared, 'question')} fewer,{' '}
        {reopened === 0
          ? 'and nothing that was ever denied becomes allowed.'
          : `and ${formatCount(reopened, 'call')} that were denied before become allowed.`}
      </p>
      {wider !== '' && (
        <p className="muted">
          One step wider: <Visible text={wider} />
        </p>
      )}
    </>
  );
}
