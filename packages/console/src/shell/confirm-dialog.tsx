import { useEffect, useRef } from 'react';
import { Visible } from '../text/visible.tsx';

export interface ConfirmDialogProps {
  readonly title: string;
  readonly effect: string;
  readonly onClose: (isConfirmed: boolean) => void;
}

/** Shows the effect of a person's own call and asks whether to go on. */
export function ConfirmDialog({ title, effect, onClose }: ConfirmDialogProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => dialog.current?.showModal(), []);
  return (
    <dialog ref={dialog} className="dialog" aria-label="Confirm" onCancel={() => onClose(false)}>
      <p>
        <Visible text={title} />
      </p>
      <pre className="json" tabIndex={0}>
        <Visible text={effect} />
      </pre>
      <div className="form-actions">
        <button type="button" className="primary" onClick={() => onClose(true)}>
          Confirm
        </button>
        <button type="button" onClick={() => onClose(false)}>
          Cancel
        </button>
      </div>
    </dialog>
  );
}
