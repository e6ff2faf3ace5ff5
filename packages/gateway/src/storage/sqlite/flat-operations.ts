import { recordKinds, recordResults } from '@sallyport/log';
import type { RecordKind, RecordResult } from '@sallyport/log';
import type { Reservation } from '../../call/call.ts';
import type { Redacted } from '../../call/redacted.ts';
import type { Admission, Admitted, LogEntry, Settlement } from '../stores.ts';
import type { Operation, Recorded, Written } from './operation.ts';
import type { ReceivedValues, Repeated, SentValues } from './repeated-values.ts';

// The threads exchange plain values in one list: copying a list of texts and numbers takes less than half the time of
// copying objects, on both sides. Values that most operations repeat cross once.

/**
 * How many repeated values have crossed before, and then the fields of operations one after the other. Each operation
 * starts with its code, from which the number of its fields follows.
 */
export type FlatOperations = unknown[];

/** A number is the index of the record that was written, which is the whole answer to most operations. */
export type FlatAnswer = number | Written;

const codes = { admit: 0, settle: 1, append: 2, other: 3 } as const;

export function flattenOperation(operation: Operation, into: FlatOperations, sent: SentValues): void {
  if (into.length === 0) into.push(sent.count);
  switch (operation.name) {
    case 'admit':
      into.push(codes.admit, operation.nowMs);
      return flattenAdmission(operation.admission, into, sent);
    case 'settle':
      into.push(codes.settle);
      return flattenSettlement(operation.settlement, into, sent);
    case 'append':
      into.push(codes.append, operation.misconduct);
      return flattenEntry(operation.entry, into, sent);
    default:
      into.push(codes.other, operation);
  }
}

/** The operations in their order. Throws when an earlier list has not arrived here. */
export function readOperations(flat: FlatOperations, received: ReceivedValues): Operation[] {
  const from = new Cursor(flat, received);
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
  readonly #received: ReceivedValues;
  #at = 1;

  constructor(flat: FlatOperations, received: ReceivedValues) {
    this.#flat = flat;
    this.#received = received;
    received.checkCount(flat[0]);
  }

  get isAtEnd(): boolean {
    return this.#at >= this.#flat.length;
  }

  // oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- the other side put it there and knows its type
  take<Value>(): Value {
    return this.#flat[this.#at++] as Value;
  }

  // oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- as above
  takeRepeated<Value extends Repeated | undefined>(): Value {
    const code = this.#flat[this.#at++] as Repeated | number | undefined;
    return (code === undefined ? undefined : this.#received.decode(code)) as Value;
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

function flattenEntry(entry: LogEntry, into: FlatOperations, sent: SentValues): void {
  const { kind, result, timeMs, callId, sessionId, rulesHash, payload } = entry;
  // Numbers, because a text that comes from another thread is slow to look up.
  const [kindCode, resultCode] = [recordKinds.indexOf(kind), recordResults.indexOf(result)];
  into.push(kindCode, resultCode, timeMs, callId);
  into.push(sessionId === undefined ? undefined : sent.encode(sessionId));
  into.push(rulesHash === undefined ? undefined : sent.encode(rulesHash), payload);
}

// Absent fields are undefined below. The other side does not distinguish the two.

function readEntry(from: Cursor): LogEntry & { readonly callId: string } {
  return {
    kind: recordKinds[from.take<number>()] as RecordKind,
    result: recordResults[from.take<number>()] as RecordResult,
    timeMs: from.take(),
    callId: from.take(),
    sessionId: from.takeRepeated(),
    rulesHash: from.takeRepeated(),
    payload: from.take<Redacted>(),
  };
}

function flattenAdmission(admission: Admission, into: FlatOperations, sent: SentValues): void {
  const { sessionId, leaseId, basedOn, tool, intent, reservations, consent, dedupe } = admission;
  into.push(sent.encode(sessionId), sent.encode(leaseId), basedOn, sent.encode(tool), consent, dedupe);
  into.push(reservations.length === 0 ? undefined : sent.encode(reservations));
  flattenEntry(intent, into, sent);
}

function readAdmission(from: Cursor): Admission {
  return {
    sessionId: from.takeRepeated(),
    leaseId: from.takeRepeated(),
    basedOn: from.take(),
    tool: from.takeRepeated(),
    consent: from.take(),
    dedupe: from.take(),
    reservations: from.takeRepeated<readonly Reservation[] | undefined>() ?? [],
    intent: readEntry(from),
  };
}

function flattenSettlement(settlement: Settlement, into: FlatOperations, sent: SentValues): void {
  const { outcome, charge, planId, misconduct, dedupe } = settlement;
  into.push(planId, misconduct, dedupe);
  if (charge === undefined) into.push(undefined);
  else {
    const { sessionId, leaseId, activeMs, tokens, costMicros } = charge;
    into.push(sent.encode(sessionId), sent.encode(leaseId), activeMs, tokens, costMicros);
  }
  flattenEntry(outcome, into, sent);
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
  const sessionId = from.takeRepeated<string | undefined>();
  if (sessionId === undefined) return undefined;
  return {
    sessionId,
    leaseId: from.takeRepeated(),
    activeMs: from.take(),
    tokens: from.take(),
    costMicros: from.take(),
  };
}
