import { decodeLeaf } from './leaf.ts';
import type { RecordResult } from './record.ts';

/**
 * What was decided about a call and how it ended, in the words of its records. The members other than `result` are
 * copied from a payload, and absent when none has them.
 */
export interface ReceiptDecision {
  /** Of the last record. `none`: the call has begun, and its end is not in the receipt. */
  readonly result: RecordResult;
  readonly agent?: unknown;
  readonly tool?: unknown;
  /** The verdict of the rules: effect, rule and reason. */
  readonly decision?: unknown;
  /** Why the gate or a person said no. */
  readonly refusal?: unknown;
  /** Who approved it, and what that was bound to. */
  readonly consent?: unknown;
}

const told = ['agent', 'tool', 'decision', 'refusal', 'consent'] as const;

/** Null when the records are about no call, or none has its content. Throws when a leaf or a payload cannot be read. */
export function describeDecision(
  records: readonly { readonly leaf: Uint8Array; readonly payload?: string }[],
): ReceiptDecision | null {
  const ofCall = records.filter(({ leaf }) => decodeLeaf(leaf).kind !== 'event');
  const last = ofCall.at(-1);
  const payloads = ofCall.flatMap(({ payload }) => (payload === undefined ? [] : [readMembers(payload)]));
  if (last === undefined || payloads.length === 0) return null;
  const members = told.flatMap((name) => {
    const from = payloads.find((payload) => payload[name] !== undefined);
    return from === undefined ? [] : [[name, from[name]]];
  });
  return { result: decodeLeaf(last.leaf).result, ...Object.fromEntries(members) } as ReceiptDecision;
}

function readMembers(payload: string): Record<string, unknown> {
  const value: unknown = JSON.parse(payload);
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}
