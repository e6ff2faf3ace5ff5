import { isJsonObject } from '@sallyport/contract';
import type { Json, JsonObject } from '@sallyport/contract';
import { decodeLeaf } from '@sallyport/log';
import type { Leaf, StoredRecord } from '@sallyport/log';
import type { Erasure, ErasureSubject, RecordRepository, SessionRepository } from '../storage/stores.ts';

export interface ChooserParts {
  readonly store: Pick<RecordRepository, 'readRecords' | 'readRecordsOfCall'> & Pick<SessionRepository, 'listSessions'>;
  /** Whether calls of this tool administer the gate: their payloads are never erased. */
  readonly isAdministration: (tool: string) => boolean;
}

/** Some records whose payloads are to go, and how far the log was read for them. */
export interface Portion {
  readonly indexes: readonly number[];
  readonly calls: number;
  readonly nextIndex: number;
}

const perRead = 256;
/** One record of the log names them all. */
const mostIndexes = 1500;
const mostRead = 50_000;
/** After this many newer records in a row there are no older ones, even if the clock was set back at times. */
const newerInRow = 1000;

/** Events about what calls did. All others are about the gate itself. */
const callEvents = /^(?:upstream_request_[a-z_]+|upstream_network|upstream_set_aside|set_aside_after_crash)$/;

/** Finds what an erasure is about: whole calls by their end, and what happened beside them. In the order of the log. */
export async function* chooseRecords(
  {
    subject,
    requestedBy,
    nextIndex,
    untilIndex,
  }: Pick<Erasure, 'subject' | 'requestedBy' | 'nextIndex' | 'untilIndex'>,
  parts: ChooserParts,
): AsyncGenerator<Portion> {
  if (subject.kind === 'call') {
    yield await chooseCalls(subject.callIds, parts, untilIndex);
    return;
  }
  const isMeant = await matcherOf(subject, parts);
  const gathered = new Gathered();
  let [next, newer] = [nextIndex, 0];
  while (next < untilIndex) {
    const records = await parts.store.readRecords(next, Math.min(perRead, untilIndex - next));
    if (records.length === 0) break;
    for (const record of records) {
      const leaf = decodeLeaf(record.leaf);
      newer = subject.kind === 'before' && leaf.timeMs >= subject.timeMs ? newer + 1 : 0;
      if (await isMeant(leaf, record)) gathered.add(await wholeOf(record, leaf, parts, untilIndex));
    }
    next = (records.at(-1) as StoredRecord).index + 1;
    // Nobody named these calls, so it need not be certain that there are no more.
    const isEnd = requestedBy === undefined && newer >= newerInRow;
    if (isEnd) break;
    if (gathered.isFull || gathered.read(records.length)) yield gathered.take(next);
  }
  yield gathered.take(Math.max(nextIndex, next - newer));
}

async function chooseCalls(callIds: readonly string[], parts: ChooserParts, untilIndex: number): Promise<Portion> {
  const gathered = new Gathered();
  for (const callId of callIds) {
    const [first] = await parts.store.readRecordsOfCall(callId);
    if (first !== undefined) gathered.add(await wholeOf(first, decodeLeaf(first.leaf), parts, untilIndex));
  }
  return gathered.take(untilIndex);
}

class Gathered {
  #indexes = new Set<number>();
  #calls = 0;
  #read = 0;

  add(records: readonly StoredRecord[]): void {
    for (const { index } of records) this.#indexes.add(index);
    if (records.length > 0) this.#calls += 1;
  }

  get isFull(): boolean {
    return this.#indexes.size >= mostIndexes;
  }

  /** Whether enough was read to note the progress. */
  read(records: number): boolean {
    this.#read += records;
    return this.#read >= mostRead;
  }

  take(nextIndex: number): Portion {
    const portion = { indexes: [...this.#indexes].toSorted((a, b) => a - b), calls: this.#calls, nextIndex };
    this.#indexes = new Set();
    this.#calls = 0;
    this.#read = 0;
    return portion;
  }
}

type Matcher = (leaf: Leaf, record: StoredRecord) => boolean | Promise<boolean>;

async function matcherOf(subject: Exclude<ErasureSubject, { kind: 'call' }>, parts: ChooserParts): Promise<Matcher> {
  // A call is found by its last record, and erased whole.
  const isEnd = ({ kind }: Leaf): boolean => kind !== 'intent';
  if (subject.kind === 'before') return (leaf) => isEnd(leaf) && leaf.timeMs < subject.timeMs;
  const sessions = new Set(await sessionsOf(subject, parts.store));
  return async (leaf, record) => {
    if (!isEnd(leaf)) return false;
    const sessionId = leaf.sessionId ?? (await sessionOfEvent(leaf, record, parts));
    return sessionId !== undefined && sessions.has(sessionId);
  };
}

/** The sessions that a subject is about. */
export async function sessionsOf(
  subject: ErasureSubject,
  store: Pick<SessionRepository, 'listSessions'>,
): Promise<readonly string[]> {
  if (subject.kind === 'session') return [subject.id];
  if (subject.kind !== 'agent' && subject.kind !== 'person') return [];
  const principal = subject.kind === 'agent' ? 'agent' : 'operator';
  const sessions = (await store.listSessions()).filter((each) => each.principal === principal);
  return sessions.filter(({ agent }) => agent === subject.name).map(({ id }) => id);
}

/** What an upstream asked for during a call names that call. */
async function sessionOfEvent(leaf: Leaf, record: StoredRecord, { store }: ChooserParts): Promise<string | undefined> {
  if (leaf.kind !== 'event' || record.payload?.includes('"call_id"') !== true) return undefined;
  const { call_id: callId } = readPayload(record);
  const [first] = typeof callId === 'string' ? await store.readRecordsOfCall(callId) : [];
  return first && decodeLeaf(first.leaf).sessionId;
}

/** The records of a call that has ended, or the event alone; without those that are erased already or never are. */
async function wholeOf(
  record: StoredRecord,
  leaf: Leaf,
  parts: ChooserParts,
  untilIndex: number,
): Promise<readonly StoredRecord[]> {
  const isCall = leaf.kind !== 'event' && leaf.callId !== undefined;
  const records = isCall ? await parts.store.readRecordsOfCall(leaf.callId ?? '') : [record];
  const hasEnded = records.every((each) => each.index < untilIndex) && records.some(isEnding);
  return isCall && !hasEnded ? [] : records.filter((each) => isErasable(each, parts));
}

function isEnding({ leaf }: StoredRecord): boolean {
  const { kind } = decodeLeaf(leaf);
  return kind === 'outcome' || kind === 'refusal';
}

function isErasable(record: StoredRecord, { isAdministration }: ChooserParts): boolean {
  if (record.payload === undefined) return false;
  const { tool, event, principal } = readPayload(record);
  const { kind, result } = decodeLeaf(record.leaf);
  if (kind === 'event') return typeof event === 'string' && callEvents.test(event);
  // A refused call of an agent has changed nothing in the gate.
  const isVain = kind === 'refusal' && result !== 'pending' && principal === 'agent';
  return isVain || typeof tool !== 'string' || !isAdministration(tool);
}

export function readPayload({ payload }: Pick<StoredRecord, 'payload'>): JsonObject {
  const value = payload === undefined ? {} : (JSON.parse(payload) as Json);
  return isJsonObject(value) ? value : {};
}
