import { useCallback } from 'react';
import { callTool } from '../daemon/call-tool.ts';
import { useGate, useValue } from '../live/use-live.ts';
import { Fact, Loading, Problem } from '../shell/parts.tsx';
import { useGovernedCall } from '../shell/use-governed-call.tsx';
import { useLoaded } from '../shell/use-loaded.ts';
import { Visible } from '../text/visible.tsx';
import type { Session } from './sessions-page.tsx';

type Lease = Readonly<Record<string, unknown>>;

/** What a session may use and what it has used, with the way to take it away. */
export function LeaseView({ session: { session_id: id, status } }: { readonly session: Session }) {
  const changes = useValue(useGate().changes);
  const load = useCallback(
    async () => (await callTool<{ leases: readonly Lease[] }>('leases.show', { session_id: id })).leases,
    [id],
  );
  const { value, trouble, reload } = useLoaded(load, changes.sessions);
  const { run, dialog, trouble: failed } = useGovernedCall();
  const [lease] = value ?? [];
  return (
    <div className="record-detail">
      {dialog}
      {failed && <Problem trouble={failed} />}
      {trouble && <Problem trouble={trouble} onRetry={reload} />}
      {value === undefined && trouble === undefined && <Loading what="the lease" />}
      <dl className="facts">
        {Object.entries(lease ?? {}).map(([name, fact]) => (
          <Fact key={name} name={name.replaceAll('_', ' ')}>
            <Visible text={Array.isArray(fact) ? fact.join('  ') : String(fact)} />
          </Fact>
        ))}
      </dl>
      {status === 'active' && lease?.['status'] === 'in force' && (
        <button
          type="button"
          className="danger"
          onClick={() => void run('leases.revoke', { session_id: id }).then(reload)}
        >
          Revoke the lease
        </button>
      )}
    </div>
  );
}
