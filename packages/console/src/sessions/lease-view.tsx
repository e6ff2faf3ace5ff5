import { useCallback } from 'react';
import { factsOf } from '@sallyport/contract/facts-of';
import { callTool } from '../daemon/call-tool.ts';
import type { Lease, Session } from '../daemon/messages.ts';
import { useGate, useValue } from '../live/use-live.ts';
import { Fact, Loading, Problem } from '../shell/parts.tsx';
import { useGovernedCall } from '../shell/use-governed-call.tsx';
import { useLoaded } from '../shell/use-loaded.ts';
import { formatMoment } from '../text/format.ts';
import { Visible } from '../text/visible.tsx';

/** What a session may use and what it has used, with the way to take it away. */
export function LeaseView({ session: { sessionId: id, status } }: { readonly session: Session }) {
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
        {factsOf(lease ?? {}, formatMoment).map(([name, fact]) => (
          <Fact key={name} name={name}>
            <Visible text={fact} />
          </Fact>
        ))}
      </dl>
      {status === 'active' && lease?.status === 'in force' && (
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
