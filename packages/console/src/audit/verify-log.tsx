import { useState } from 'react';
import { daemon } from '../daemon/connect.ts';
import type { Verification } from '../daemon/messages.ts';
import { Problem, troubleOf } from '../shell/parts.tsx';
import type { Trouble } from '../shell/parts.tsx';
import { formatCount } from '../text/format.ts';
import { Visible } from '../text/visible.tsx';

type State =
  | { readonly kind: 'idle' }
  | { readonly kind: 'running' }
  | { readonly kind: 'done'; readonly verification: Verification; readonly tookMs: number }
  | { readonly kind: 'failed'; readonly trouble: Trouble };

/** Has the whole log read and checked, and says what came of it. */
export function VerifyLog() {
  const [state, setState] = useState<State>({ kind: 'idle' });
  const verify = async (): Promise<void> => {
    setState({ kind: 'running' });
    const startedAt = performance.now();
    try {
      const verification = await daemon.call('OperatorService/VerifyAudit', {});
      setState({ kind: 'done', verification, tookMs: performance.now() - startedAt });
    } catch (error) {
      setState({ kind: 'failed', trouble: troubleOf(error) });
    }
  };
  return (
    <div className="verify">
      <button type="button" onClick={() => void verify()} disabled={state.kind === 'running'}>
        {state.kind === 'running' ? 'Verifying…' : 'Verify the log'}
      </button>
      <div role="status">
        {state.kind === 'idle' && (
          <span className="muted">
            Checks every record and signature, and the state beside the log: that nothing was changed, removed or added.
          </span>
        )}
        {state.kind === 'done' && <Result verification={state.verification} tookMs={state.tookMs} />}
      </div>
      {state.kind === 'failed' && <Problem trouble={state.trouble} />}
    </div>
  );
}

function Result({ verification, tookMs }: { readonly verification: Verification; readonly tookMs: number }) {
  const { intact, records, checkpointSize, problems } = verification;
  if (intact) {
    return (
      <span>
        <strong className="good">Intact.</strong> {formatCount(Number(records), 'record')}, the first{' '}
        {Number(checkpointSize).toLocaleString('en')} of them signed, checked in {(tookMs / 1000).toFixed(1)} s.
      </span>
    );
  }
  return (
    <div className="problem">
      <strong>The log or the state beside it is not what was written.</strong>
      <ul>
        {problems.map((problem) => (
          <li key={problem}>
            <Visible text={problem} />
          </li>
        ))}
      </ul>
    </div>
  );
}
