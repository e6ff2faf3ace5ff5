import { useCallback, useEffect, useRef, useState } from 'react';
import { daemon } from '../daemon/connect.ts';
import type { AuditRecord } from '../daemon/messages.ts';
import { useGate, useValue } from '../live/use-live.ts';
import { troubleOf } from '../shell/parts.tsx';
import type { Trouble } from '../shell/parts.tsx';

export interface Records {
  /** Oldest first, without gaps. */
  readonly records: readonly AuditRecord[];
  /** Undefined: there are no older ones, or no more are kept. */
  readonly loadOlder: (() => void) | undefined;
  readonly trouble: Trouble | undefined;
}

const perPage = 200;
/** Through new records the list gets no longer than this; further back only somebody who scrolls takes it. */
const mostFollowed = 2000;
const mostRecords = 20_000;

/** The log from its end on: each new record as it is written, and page after page of older ones. */
export function useRecords(): Records {
  const { records: newest } = useValue(useGate().log.view);
  const [records, setRecords] = useState(newest);
  const [trouble, setTrouble] = useState<Trouble>();
  const isBusy = useRef(false);
  useEffect(() => setRecords((known) => addNewer(known, newest)), [newest]);
  const first = Number(records[0]?.index ?? 0);
  const readOlder = useCallback(async () => {
    if (isBusy.current) return;
    isBusy.current = true;
    const from = Math.max(0, first - perPage);
    try {
      const read = await daemon.call('OperatorService/ReadAudit', { from: String(from), limit: first - from });
      setRecords((known) => addOlder(known, read.records));
      setTrouble(undefined);
    } catch (error) {
      setTrouble(troubleOf(error));
    } finally {
      isBusy.current = false;
    }
  }, [first]);
  const loadOlder = useCallback(() => void readOlder(), [readOlder]);
  const hasOlder = first > 0 && records.length < mostRecords;
  return { records, loadOlder: hasOlder ? loadOlder : undefined, trouble };
}

function addNewer(known: readonly AuditRecord[], newest: readonly AuditRecord[]): readonly AuditRecord[] {
  const last = Number(known.at(-1)?.index ?? -1);
  const fresh = newest.filter(({ index }) => Number(index) > last);
  // After a long break some are missing in between: what is known ends there.
  if (known.length === 0 || Number(fresh[0]?.index ?? last + 1) > last + 1) return newest;
  return fresh.length === 0 ? known : [...known, ...fresh].slice(-Math.max(mostFollowed, known.length));
}

function addOlder(known: readonly AuditRecord[], older: readonly AuditRecord[]): readonly AuditRecord[] {
  const first = Number(known[0]?.index ?? 0);
  const before = older.filter(({ index }) => Number(index) < first);
  return Number(before.at(-1)?.index ?? -1) === first - 1 ? [...before, ...known] : known;
}
