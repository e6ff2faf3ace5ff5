import { useState } from 'react';
import { daemon } from '../daemon/connect.ts';
import { Problem, troubleOf } from '../shell/parts.tsx';
import type { Trouble } from '../shell/parts.tsx';

/** A file that proves the call to somebody who has nothing else of the gate. */
export function ReceiptButton({ callId }: { readonly callId: string }) {
  const [trouble, setTrouble] = useState<Trouble>();
  const save = async (): Promise<void> => {
    setTrouble(undefined);
    try {
      const { receiptJson } = await daemon.call('OperatorService/GetReceipt', { callId });
      const address = URL.createObjectURL(new Blob([receiptJson], { type: 'application/json' }));
      const link = document.createElement('a');
      link.href = address;
      link.download = `receipt-${callId}.json`;
      link.click();
      setTimeout(() => URL.revokeObjectURL(address), 10_000);
    } catch (error) {
      setTrouble(troubleOf(error));
    }
  };
  return (
    <>
      <button type="button" onClick={() => void save()}>
        Download receipt
      </button>
      {trouble && <Problem trouble={trouble} />}
    </>
  );
}
