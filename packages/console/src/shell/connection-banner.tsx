import { useGate, useNowMs, useValue } from '../live/use-live.ts';
import { Visible } from '../text/visible.tsx';

/** Says when what is on the screen may be old, and when the gate has closed itself. */
export function ConnectionBanner() {
  const gate = useGate();
  const connection = useValue(gate.connection);
  const status = useValue(gate.status);
  useNowMs();
  if (connection.kind === 'lost') {
    const seconds = Math.max(0, Math.ceil((connection.retryAtMs - Date.now()) / 1000));
    return (
      <div className="banner banner-lost" role="alert">
        <span>
          <strong>Connection lost.</strong> What you see may be old.{' '}
          {seconds > 0 ? 'Trying again soon.' : 'Trying again…'}
        </span>
        <button type="button" onClick={gate.retry}>
          Try now
        </button>
      </div>
    );
  }
  if (status?.health === 'sealed') {
    return (
      <div className="banner banner-lost" role="alert">
        <span>
          <strong>The gate is sealed: nothing runs.</strong> {status.healthReason}
        </span>
      </div>
    );
  }
  if (status !== undefined && status.warnings.length > 0) {
    return (
      <div className="banner banner-look" role="status">
        <span>
          <strong>Something needs your attention.</strong> <Visible text={status.warnings.join('\n')} />
        </span>
        <button type="button" onClick={() => void gate.readStatus()}>
          Look again
        </button>
      </div>
    );
  }
  return null;
}
