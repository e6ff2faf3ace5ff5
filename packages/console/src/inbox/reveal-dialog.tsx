import { useEffect, useRef, useState } from 'react';
import type { FormEvent } from 'react';
import { callConfirmed } from '../daemon/call-tool.ts';
import type { MaskedSecret } from '../daemon/messages.ts';
import { Problem, troubleOf } from '../shell/parts.tsx';
import type { Trouble } from '../shell/parts.tsx';
import { Visible } from '../text/visible.tsx';

/** The request in which a secret is masked. */
export type RevealTarget =
  | { readonly tool: 'approvals.reveal'; readonly input: { readonly task_id: string } }
  | { readonly tool: 'plans.reveal'; readonly input: { readonly plan_id: string; readonly step: number } };

export interface RevealDialogProps {
  readonly secret: MaskedSecret;
  readonly target: RevealTarget;
  /** With the value. Undefined: it was not shown. */
  readonly onClose: (value: string | undefined) => void;
}

/** Asks why, and says that it will be on record, before a secret is shown. */
export function RevealDialog({ secret: { number, name, characters }, target, onClose }: RevealDialogProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const [reason, setReason] = useState('');
  const [trouble, setTrouble] = useState<Trouble>();
  useEffect(() => dialog.current?.showModal(), []);
  const reveal = async (event: FormEvent): Promise<void> => {
    event.preventDefault();
    setTrouble(undefined);
    try {
      const input = { ...target.input, number, reason: reason.trim() };
      const { revealed } = await callConfirmed<{ revealed: readonly { value: string }[] }>(target.tool, input);
      onClose(revealed[0]?.value);
    } catch (error) {
      setTrouble(troubleOf(error));
    }
  };
  return (
    <dialog ref={dialog} className="dialog" aria-labelledby="reveal-title" onCancel={() => onClose(undefined)}>
      <h2 id="reveal-title">Reveal a secret</h2>
      <p>
        {name === '' ? 'It looks like a credential' : <Visible text={name} />}, {characters} characters. It is shown
        here for half a minute. That you looked, and why, stands in the log; the value does not.
      </p>
      {trouble && <Problem trouble={trouble} />}
      <form onSubmit={(event) => void reveal(event)}>
        <label className="wide">
          Why do you need to see it?
          <input
            type="text"
            required
            autoFocus
            minLength={3}
            maxLength={500}
            autoComplete="off"
            value={reason}
            onChange={(event) => setReason(event.target.value)}
          />
        </label>
        <div className="form-actions">
          <button type="submit" className="primary">
            Reveal it
          </button>
          <button type="button" onClick={() => onClose(undefined)}>
            Cancel
          </button>
        </div>
      </form>
    </dialog>
  );
}
