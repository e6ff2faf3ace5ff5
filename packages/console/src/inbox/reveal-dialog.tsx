import { useEffect, useRef, useState } from 'react';
import type { FormEvent } from 'react';
import { callConfirmed } from '../daemon/call-tool.ts';
import { Problem, troubleOf } from '../shell/parts.tsx';
import type { Trouble } from '../shell/parts.tsx';
import { formatCount } from '../text/format.ts';
import { Visible } from '../text/visible.tsx';
import type { MaskedPlace } from './use-revealed.ts';

/** The request in which a secret is masked. */
export type RevealTarget =
  | { readonly tool: 'approvals.reveal'; readonly input: { readonly task_id: string } }
  | { readonly tool: 'plans.reveal'; readonly input: { readonly plan_id: string; readonly step: number } };

export interface RevealDialogProps {
  readonly place: MaskedPlace;
  /** With the value. Undefined: it was not shown. */
  readonly onClose: (value: string | undefined) => void;
}

/** Asks why, and says that it will be on record, before a secret is shown. */
export function RevealDialog({ place: { secret, target }, onClose }: RevealDialogProps) {
  const { number, name, characters, rest, held } = secret;
  const dialog = useRef<HTMLDialogElement>(null);
  const [reason, setReason] = useState(held ? '' : 'To see what would happen.');
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
      <h2 id="reveal-title">{rest ? 'Show the rest' : 'Reveal what is masked'}</h2>
      <p>
        {rest ? (
          <>The effect goes on for {formatCount(characters, 'character')}. You have to see them to approve it.</>
        ) : held ? (
          <>
            <Visible text={name || 'A secret of the gate'} />, {formatCount(characters, 'character')}. It is shown here
            for half a minute.
          </>
        ) : (
          <>
            {formatCount(characters, 'character')} that look like a credential, but could be anything, such as a
            command. You have to see them to approve the call. They are shown here for half a minute.
          </>
        )}{' '}
        The log records that you looked, and why. It does not contain the value.
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
            {rest ? 'Show it' : 'Reveal it'}
          </button>
          <button type="button" onClick={() => onClose(undefined)}>
            Cancel
          </button>
        </div>
      </form>
    </dialog>
  );
}
