import { decodeLeaf, readEnding } from '@sallyport/log';
import type { StoredRecord } from '@sallyport/log';
import { isJsonObject } from '@sallyport/contract';
import type { Json, JsonObject } from '@sallyport/contract';

export const entryKinds = ['call', 'event', 'housekeeping'] as const;
/**
 * What a search finds: a call that has ended, something that happened beside calls, or the gate's own housekeeping, such
 * as a page of the console that was loaded.
 */
export type EntryKind = (typeof entryKinds)[number];

export interface Entry {
  readonly kind: EntryKind;
  /** Those of one call, in the order of the log; the last one says how it ended. Its index stands for the entry. */
  readonly records: readonly StoredRecord[];
}

/** What an entry says, ready to be asked. */
export interface EntryFacts {
  readonly kind: EntryKind;
  readonly result: string;
  readonly timeMs: number;
  readonly callId: string | undefined;
  readonly sessionId: string | undefined;
  /** Of all its records, the later ones winning. Empty: it was erased. */
  readonly payload: JsonObject;
}

const routineEvents = new Set(['daemon_started', 'daemon_stopped', 'tool_found', 'tool_schema_read']);
const families =
  'agents|anomalies|approvals|artifacts|audit|calls|clients|config|console|content|leases|modes?|organisation|people|permissions|plans|policy|secrets|self|sessions|tools|undo|upstreams|workspaces';
const looks =
  'list|show|get|read|status|explain|link|report|logs|check|draft|shadow|replay|history|erasures|preview_erasure|retention|coverage|suggest|why|preview|state|inspect';
const administration = new RegExp(String.raw`^(?:${families})\.(?:[a-z_]*_)?(?:${looks})$`);

/** Undefined: the record begins a call, and is found with its end. */
export function readEntry(record: StoredRecord, findRecord: (index: number) => StoredRecord | undefined) {
  const { kind } = readEnding(record.leaf[1] as number, record.leaf[2] as number);
  if (kind === 'intent') return undefined;
  const own = readPayload(record);
  const begun = kind === 'outcome' && typeof own['intent'] === 'number' ? findRecord(own['intent']) : undefined;
  const records = begun === undefined ? [record] : [begun, record];
  return { records, facts: factsOf(record, begun === undefined ? own : { ...readPayload(begun), ...own }) };
}

function factsOf({ leaf: bytes }: StoredRecord, payload: JsonObject): EntryFacts {
  const leaf = decodeLeaf(bytes);
  const kind = leaf.kind === 'event' ? kindOfEvent(payload) : kindOfCall(payload, leaf.result);
  return { kind, result: leaf.result, timeMs: leaf.timeMs, callId: leaf.callId, sessionId: leaf.sessionId, payload };
}

function kindOfEvent({ event }: JsonObject): EntryKind {
  return typeof event === 'string' && routineEvents.has(event) ? 'housekeeping' : 'event';
}

/** An operator looks at the gate all the time, and confirms calls of their own. */
function kindOfCall({ principal, tool }: JsonObject, result: string): EntryKind {
  if (principal !== 'operator') return 'call';
  const isRoutine = result === 'pending' || (result === 'ok' && typeof tool === 'string' && administration.test(tool));
  return isRoutine ? 'housekeeping' : 'call';
}

function readPayload({ payload }: StoredRecord): JsonObject {
  const value = payload === undefined ? {} : (JSON.parse(payload) as Json);
  return isJsonObject(value) ? value : {};
}
