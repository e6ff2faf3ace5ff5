import { useCallback } from 'react';
import { daemon } from '../daemon/connect.ts';
import { addRecord } from '../live/call.ts';
import type { Call } from '../live/call.ts';
import { Empty, Loading, Problem } from '../shell/parts.tsx';
import { useLoaded } from '../shell/use-loaded.ts';
import { CallDetail, CloseLink } from './call-detail.tsx';

/** A call that is not among those that the page follows: its records are read from the log. */
export function OlderCall({ callId }: { readonly callId: string }) {
  const load = useCallback(() => readCall(callId), [callId]);
  const { value, trouble } = useLoaded(load);
  if (value?.call !== undefined) return <CallDetail call={value.call} />;
  return (
    <section className="detail" aria-label="Call">
      <CloseLink />
      {trouble ? (
        <Problem trouble={trouble} />
      ) : value === undefined ? (
        <Loading what="the call" />
      ) : (
        <Empty title="There is no such call">
          <p>Nothing is on record about {callId}.</p>
        </Empty>
      )}
    </section>
  );
}

async function readCall(callId: string): Promise<{ readonly call: Call | undefined }> {
  const { records } = await daemon.call('OperatorService/ReadAudit', { callId });
  const call = records.reduce<Call | undefined>((known, record) => addRecord(known, record), undefined);
  return { call };
}
