import { useState } from 'react';
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
  return status === undefined ? null : <Warnings warnings={status.warnings} />;
}

/** One line, with the rest on demand. What was dismissed comes back only when it changes. */
function Warnings({ warnings }: { readonly warnings: readonly string[] }) {
  const text = warnings.join('\n');
  const [dismissed, setDismissed] = useState(readDismissed);
  if (text === '' || text === dismissed) return null;
  const dismiss = (): void => {
    setDismissed(text);
    // Without storage it comes back with the next page.
    try {
      sessionStorage.setItem(dismissedKey, text);
    } catch {}
  };
  const [first = ''] = /^.*?\.(?= |$)/.exec(warnings[0] ?? '') ?? warnings;
  const more = warnings.length > 1 ? ` And ${warnings.length - 1} more.` : '';
  return (
    <div className="banner banner-look" role="status">
      <details>
        <summary>
          <Visible text={`${first}${more}`} />
        </summary>
        <Visible text={text} />
      </details>
      <button type="button" onClick={dismiss}>
        Dismiss
      </button>
    </div>
  );
}

const dismissedKey = 'dismissed-warnings';

function readDismissed(): string {
  try {
    return sessionStorage.getItem(dismissedKey) ?? '';
  } catch {
    return '';
  }
}
