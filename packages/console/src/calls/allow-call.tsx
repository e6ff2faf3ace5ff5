import { useState } from 'react';
import { Problem } from '../shell/parts.tsx';
import { useGovernedCall } from '../shell/use-governed-call.tsx';

/** Drafts a rule for a call that no rule allowed. The gate shows the rule, and what it would open, before it counts. */
export function AllowCall({ callId }: { readonly callId: string }) {
  const { run, trouble, dialog } = useGovernedCall();
  const [isDone, setIsDone] = useState(false);
  if (isDone) return <p role="status">A rule allows such calls from now on.</p>;
  return (
    <div className="form-actions">
      <button type="button" onClick={() => void run('policy.allow', { call: callId }).then(setIsDone)}>
        Allow such calls…
      </button>
      {trouble && <Problem trouble={trouble} />}
      {dialog}
    </div>
  );
}
