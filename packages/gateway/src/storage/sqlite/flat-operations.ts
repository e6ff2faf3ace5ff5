import { recordKinds, recordResults } from '@sallyport/log';
import type { RecordKind, RecordResult } from '@sallyport/log';
import type { Reservation } from '../../call/call.ts';
import type { Redacted } from '../../call/redacted.ts';
import type { Admission, Admitted, LogEntry, Settlement } from '../stores.ts';
import type { Operation, Recorded, Written } from './operation.ts';

// The threads exchange plain values in one list: copying a list of texts and numbers takes less than half the time of
// copying objects, on both sides.

/** The fields of operations one after the other. Each starts with its code, from which their number follows. */
export type FlatOperations = unknown[];

/** A number is the index of the record that was written, which is the whole answer to most operations. */
export type FlatAnswer = number | Written;

const codes = { admit: 0, settle: 1, append: 2, other: 3 } as const;

export function flattenOperation(operation: Operation, into: FlatOperations): void {
  switch (operation.name) {
    case 'admit':
      into.push(codes.admit, operation.nowMs);
      return flattenAdmission(operation.admission, into);
    case 'settle':
      into.push(codes.settle);
      return flattenSettlement(operation.settlement, into);
    case 'append':
      into.push(codes.append, operation.misconduct);
      return flattenEntry(operation.entry, into);
    default:
      into.push(codes.other, operation);
  }
}

/** The operations in their order. */
export function readOperations(flat: FlatOperations): Operation[] {
  const from = new Cursor(flat);
  const operations: Operation[] = [];
  while (!from.isAtEnd) operations.push(readOperation(from));
  return operations;
}

export function flattenAnswer(operation: Operation, written: Written): FlatAnswer {
  if (!written.ok || written.touched !== undefined) return written;
  switch (operation.name) {
    case 'admit': {
      const admitted = written.value as Admitted;
      return admitted.admitted ? admitted.intentIndex : written;
    }
    case 'settle':
    case 'append':
      return (written.value as Recorded).index;
    default:
      return written;
  }
}

/** What a number stands for as the answer to this operation. */
export function readIndex(operation: Operation, index: number): Admitted | Recorded {
  return operation.name === 'admit' ? { admitted: true, intentIndex: index } : { index };
}

class Cursor {
  readonly #flat: FlatOperations;
  #at = 0;

  constructor(flat: FlatOperations) {
    this.#flat = flat;
  }

  get isAtEnd(): boolean {
    return this.#at >= this.#flat.length;
  }

  // oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- the other side put it there and knows its type
  take<Value>(): Value {
    return this.#flat[this.#at++] as Value;
  }
}

function readOperation(from: Cursor): Operation {
  switch (from.take<number>()) {
    case codes.admit:
      return { name: 'admit', nowMs: from.take(), admission: readAdmission(from) };
    case codes.settle:
      return { name: 'settle', settlement: readSettlement(from) };
    case codes.append:
      return { name: 'append', misconduct: from.take(), entry: readEntry(from) };
    case codes.other:
      return from.take();
    default:
      throw new Error('the threads of the store do not understand each other');
  }
}

function flattenEntry(entry: LogEntry, into: FlatOperations): void {
  const { kind, result, timeMs, callId, sessionId, rulesHash, payload } = entry;
  // Numbers, because a text that comes from another thread is slow to look up.
  const [kindCode, resultCode] = [recordKinds.indexOf(kind), recordResults.indexOf(result)];
  into.push(kindCode, resultCode, timeMs, callId, sessionId, rulesHash, payload);
}

// Absent fields are undefined below. The other side does not distinguish the two.

function readEntry(from: Cursor): LogEntry & { readonly callId: string } {
  return {
    kind: recordKinds[from.take<number>()] as RecordKind,
    result: recordResults[from.take<number>()] as RecordResult,
    timeMs: from.take(),
    callId: from.take(),
    sessionId: from.take(),
    rulesHash: from.take(),
    payload: from.take<Redacted>(),
  };
}

function flattenAdmission(admission: Admission, into: FlatOperations): void {
  const { sessionId, leaseId, basedOn, tool, intent, reservations, consent, dedupe } = admission;
  into.push(sessionId, leaseId, basedOn, tool, consent, dedupe, reservations.length);
  for (const { key, windowMs, limit, rule } of reservations) into.push(key, windowMs, limit, rule);
  flattenEntry(intent, into);
}

function readAdmission(from: Cursor): Admission {
  return {
    sessionId: from.take(),
    leaseId: from.take(),
    basedOn: from.take(),
    tool: from.take(),
    consent: from.take(),
    dedupe: from.take(),
    reservations: readReservations(from),
    intent: readEntry(from),
  };
}

function readReservations(from: Cursor): readonly Reservation[] {
  const count = from.take<number>();
  const reservations: Reservation[] = [];
  while (reservations.length < count) {
    reservations.push({ key: from.take(), windowMs: from.take(), limit: from.take(), rule: from.take() });
  }
  return reservations;
}

function flattenSettlement(settlement: Settlement, into: FlatOperations): void {
  const { outcome, charge, planId, misconduct, dedupe } = settlement;
  into.push(planId, misconduct, dedupe, charge?.sessionId);
  if (charge !== undefined) into.push(charge.leaseId, charge.activeMs, charge.tokens, charge.costMicros);
  flattenEntry(outcome, into);
}

function readSettlement(from: Cursor): Settlement {
  return {
    planId: from.take(),
    misconduct: from.take(),
    dedupe: from.take(),
    charge: readCharge(from),
    outcome: readEntry(from),
  };
}

function readCharge(from: Cursor): Settlement['charge'] {
  const sessionId = from.take<string | undefined>();
  if (sessionId === undefined) return undefined;
  return {
    sessionId,
    leaseId: from.take(),
    activeMs: from.take(),
    tokens: from.take(),
    costMicros: from.take(),
  };
}
