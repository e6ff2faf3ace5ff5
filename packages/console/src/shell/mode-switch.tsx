import { useEffect, useRef, useState } from 'react';
import type { FormEvent } from 'react';
import { callTool } from '../daemon/call-tool.ts';
import type { ModeReport } from '../daemon/messages.ts';
import { useGate, useValue } from '../live/use-live.ts';
import { Loading, Problem } from './parts.tsx';
import { useGovernedCall } from './use-governed-call.tsx';
import { useLoaded } from './use-loaded.ts';

const meanings: Readonly<Record<string, string>> = {
  NORMAL: 'Work as usual.',
  ALERT: 'Fewer calls at a time.',
  DEGRADED: 'Only safe calls, while the machine is short of something.',
  LOCKDOWN: 'Only explicitly allowed calls run; running calls that change something are stopped at once.',
  RECOVERY: 'Careful steps back to normal.',
};

/** The mode, for everyone to see, and the way to another one. */
export function ModeSwitch() {
  const { mode = '…' } = useValue(useGate().status) ?? {};
  const [isOpen, setIsOpen] = useState(false);
  return (
    <>
      <button type="button" className={`mode mode-${mode.toLowerCase()}`} onClick={() => setIsOpen(true)}>
        <span className="mode-label">Mode</span> {mode || 'unknown'}
      </button>
      {isOpen && <ModeDialog onClose={() => setIsOpen(false)} />}
    </>
  );
}

const loadMode = (): Promise<ModeReport> => callTool<ModeReport>('mode.show', {});

function ModeDialog({ onClose }: { readonly onClose: () => void }) {
  const { readStatus } = useGate();
  const dialog = useRef<HTMLDialogElement>(null);
  const { value, trouble } = useLoaded(loadMode);
  const { run, dialog: confirmation, trouble: failed } = useGovernedCall();
  const [mode, setMode] = useState('');
  const [cause, setCause] = useState('');
  useEffect(() => dialog.current?.showModal(), []);
  const change = async (event: FormEvent): Promise<void> => {
    event.preventDefault();
    if (!(await run('mode.set', { mode, cause: cause.trim() }))) return;
    await readStatus();
    onClose();
  };
  return (
    <dialog ref={dialog} className="dialog" aria-labelledby="mode-title" onCancel={onClose}>
      <h2 id="mode-title">Change the mode</h2>
      {confirmation}
      {failed && <Problem trouble={failed} />}
      {trouble && <Problem trouble={{ message: 'The mode cannot be changed from here.', remedy: trouble.message }} />}
      {value === undefined && trouble === undefined && <Loading what="the modes" />}
      <form onSubmit={(event) => void change(event)}>
        {value !== undefined && (
          <>
            <p>
              It is <strong>{value.mode}</strong>. {meanings[value.mode]}
            </p>
            <fieldset>
              <legend>Change it to</legend>
              {value.leadsTo.map((each) => (
                <label key={each} className="choice">
                  <input type="radio" name="mode" value={each} required onChange={() => setMode(each)} />
                  <span>
                    <strong>{each}</strong> <span className="muted">{meanings[each]}</span>
                  </span>
                </label>
              ))}
            </fieldset>
            <label className="wide">
              Why? Your answer is recorded.
              <input
                type="text"
                required
                maxLength={500}
                value={cause}
                onChange={(event) => setCause(event.target.value)}
              />
            </label>
          </>
        )}
        <div className="form-actions">
          {value !== undefined && (
            <button type="submit" className="primary">
              Change the mode
            </button>
          )}
          <button type="button" onClick={onClose}>
            Close
          </button>
        </div>
      </form>
    </dialog>
  );
}
