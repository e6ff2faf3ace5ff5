import { create } from '@bufbuild/protobuf';
import {
  AuditRecordSchema,
  GetActivityResponseSchema,
  GetReceiptResponseSchema,
  GetStatusResponseSchema,
  GetUsageResponseSchema,
  OperatorService,
  ReadAuditResponseSchema,
  SearchAuditResponseSchema,
  StopResponseSchema,
  WatchAuditResponseSchema,
} from '@sallyport/contract';
import type { AuditRecord, GetStatusResponse, InJson, VerifyAuditResponse } from '@sallyport/contract';
import { decodeLeaf, hashLeaf } from '@sallyport/log';
import type { StoredRecord } from '@sallyport/log';
import { NoReceipt } from '../../audit/make-receipt.ts';
import type { ReceiptSubject } from '../../audit/make-receipt.ts';
import { endings, stretchMs } from '../../audit/search/activity.ts';
import type { ActivityIndex, ActivityLine, ActivityRequest } from '../../audit/search/activity.ts';
import type { Entry } from '../../audit/search/entry.ts';
import { FilterError, parseFilter } from '../../audit/search/parse-filter.ts';
import type { Filter } from '../../audit/search/parse-filter.ts';
import type { SearchIndex, SearchPage } from '../../audit/search/search-page.ts';
import type { Store } from '../../storage/stores.ts';
import { messageOf } from '../bind-tools.ts';
import { checkCaller } from '../check-caller.ts';
import type { Peer } from '../transport/peer.ts';
import { RpcError } from '../transport/rpc-error.ts';
import { bindService } from '../transport/service-binding.ts';
import type { HandlersOf, ServiceBinding } from '../transport/service-binding.ts';

export interface OperatorServiceParts {
  readonly store: Pick<Store, 'findSessionByToken' | 'logSize' | 'readRecords' | 'readRecordsOfCall'>;
  /** Takes the secrets that the gate holds by now out of a record: it may not have held them when it was written. */
  readonly hideHeldInJson: (json: string) => string;
  readonly readStatus: () => Promise<InJson<GetStatusResponse>>;
  /** Reads the whole log and says what is wrong with it. */
  readonly verify: (signal: AbortSignal) => Promise<VerifyAuditResponse>;
  /** Rejects with NoReceipt. */
  readonly makeReceipt: (subject: ReceiptSubject) => Promise<string>;
  readonly index: Pick<SearchIndex, 'search'> & ActivityIndex;
  /** Begins to stop, on the wish of this person; the answer to the request still goes out. */
  readonly stop: (by: string) => void;
  /** Nobody is kept waiting for records that do not come any more. */
  readonly isStopping: () => boolean;
}

const pollMs = 100;
const mostWatched = 200;
const mostSearched = 200;
const searchAgainMs = 500;
const hourMs = 3_600_000;
const mostActivityHours = 168;
const mostUsageHours = 24;
const mostReports = 100;
const reportFilter = 'kind:event event:limits_ignored,quarantine_reported';

/** What an operator asks the daemon itself: at their own socket, or with the session of a console. */
export function operatorService(parts: OperatorServiceParts): ServiceBinding {
  const { store, hideHeldInJson, readStatus, verify, makeReceipt, index, stop, isStopping } = parts;
  const describe = (record: StoredRecord): AuditRecord => describeRecord(record, hideHeldInJson);
  const identify = (peer: Peer): string => {
    const session = checkCaller(store, peer);
    if (session.principal !== 'operator') throw new RpcError('permission_denied', 'This is for operators.');
    return session.agent;
  };

  const readSignedThroughMs = async (): Promise<number> => {
    const size = Number((await readStatus()).checkpointSize);
    const [last] = size === 0 ? [] : await store.readRecords(size - 1, 1);
    return last === undefined ? 0 : decodeLeaf(last.leaf).timeMs;
  };

  const methods: HandlersOf<typeof OperatorService> = {
    getStatus: async (_request, peer) => {
      identify(peer);
      return messageOf(GetStatusResponseSchema, await readStatus());
    },

    stop: (_request, peer) => {
      stop(identify(peer));
      return Promise.resolve(create(StopResponseSchema));
    },

    watchAudit: async function* ({ from }, peer) {
      identify(peer);
      let next = from < 0n ? Math.max(0, (await store.logSize()) + Number(from)) : Number(from);
      while (!peer.signal.aborted) {
        identify(peer);
        const records = (await store.readRecords(next, mostWatched)).map(describe);
        if (records.length > 0) yield create(WatchAuditResponseSchema, { records });
        else await sleep(pollMs);
        next += records.length;
      }
    },

    verifyAudit: async (_request, peer) => {
      identify(peer);
      return verify(peer.signal);
    },

    getReceipt: async ({ callId, index: position }, peer) => {
      identify(peer);
      const subject = callId === '' ? { index: Number(position) } : { callId };
      const receiptJson = await makeReceipt(subject).catch((error: unknown) => {
        if (!(error instanceof NoReceipt)) throw error;
        throw new RpcError(error.reason === 'not-found' ? 'not_found' : 'failed_precondition', error.message);
      });
      return create(GetReceiptResponseSchema, { receiptJson });
    },

    searchAudit: async ({ filter: text, limit, before, after, waitMs }, peer) => {
      identify(peer);
      const request = {
        filter: readFilter(text),
        limit: Math.min(limit === 0 ? 50 : limit, mostSearched),
        before: before === undefined ? undefined : Number(before),
        after: after === undefined ? undefined : Number(after),
      };
      const untilMs = Date.now() + Math.min(waitMs, 30_000);
      const goesOn = () => Date.now() < untilMs && !peer.signal.aborted && !isStopping();
      let page: SearchPage = await index.search(request);
      while (after !== undefined && page.entries.length === 0 && page.next === undefined && goesOn()) {
        await sleep(searchAgainMs);
        page = await index.search(request);
      }
      return create(SearchAuditResponseSchema, {
        entries: page.entries.map(({ kind, records }) => ({ kind, records: records.map(describe) })),
        ...(page.next === undefined ? {} : { next: BigInt(page.next) }),
        indexedSize: BigInt(page.indexedSize),
        logSize: BigInt(await store.logSize()),
      });
    },

    getUsage: async ({ hours }, peer) => {
      identify(peer);
      const wanted = Math.min(Math.max(1, hours), mostUsageHours);
      const request = slotsOf(wanted, Date.now(), wanted <= 2 ? stretchMs : hourMs);
      const filter = { ...readFilter(reportFilter), sinceMs: request.fromMs };
      const [{ tools, ownTools, indexedSize }, reports] = await Promise.all([
        index.readActivity(request),
        searchNewest(index, filter, mostReports),
      ]);
      return create(GetUsageResponseSchema, {
        fromMs: BigInt(request.fromMs),
        slotMs: BigInt(request.slotMs),
        slots: request.slots,
        tools: joinLines([...tools, ...ownTools]).map(({ name: tool, ...counts }) => ({ tool, ...counts })),
        reports: reports.flatMap(({ records }) => records.map(describe)).map(readReport),
        indexedSize: BigInt(indexedSize),
        logSize: BigInt(await store.logSize()),
      });
    },

    getActivity: async ({ hours }, peer) => {
      identify(peer);
      const wanted = Math.min(Math.max(1, hours), mostActivityHours);
      const slotMs = wanted <= 2 ? stretchMs : wanted <= 24 ? 3 * stretchMs : hourMs;
      const request = slotsOf(wanted, Date.now(), slotMs);
      const [{ agents, tools, rules, ...report }, lastCalls, signedThroughMs] = await Promise.all([
        index.readActivity(request),
        index.readTotals(['session']),
        readSignedThroughMs(),
      ]);
      return create(GetActivityResponseSchema, {
        fromMs: BigInt(request.fromMs),
        slotMs: BigInt(request.slotMs),
        slots: request.slots,
        agents: agents.map(unfreeze),
        tools: tools.map(unfreeze),
        rules: rules.map(unfreeze),
        medianMs: [...report.medianMs],
        p95Ms: [...report.p95Ms],
        lastCalls: lastCalls.map(({ name, lastMs, succeeded, denied, asked, failed }) => ({
          sessionId: name,
          timeMs: BigInt(lastMs),
          calls: BigInt(succeeded + denied + asked + failed),
        })),
        indexedSize: BigInt(report.indexedSize),
        logSize: BigInt(await store.logSize()),
        signedThroughMs: BigInt(signedThroughMs),
      });
    },

    readAudit: async ({ from, limit, waitMs, callId }, peer) => {
      identify(peer);
      if (callId !== '') {
        const records = (await store.readRecordsOfCall(callId)).map(describe);
        return create(ReadAuditResponseSchema, { records, logSize: BigInt(await store.logSize()) });
      }
      const most = Math.min(limit === 0 ? 50 : limit, 1000);
      const first = from < 0n ? Math.max(0, (await store.logSize()) + Number(from)) : Number(from);
      const untilMs = performance.now() + Math.min(waitMs, 30_000);
      const goesOn = () => performance.now() < untilMs && !peer.signal.aborted && !isStopping();
      while ((await store.logSize()) <= first && goesOn()) await sleep(pollMs);
      const records = (await store.readRecords(first, most)).map(describe);
      return create(ReadAuditResponseSchema, { records, logSize: BigInt(await store.logSize()) });
    },
  };
  return { ...bindService(OperatorService, ['operator-socket', 'tcp'], methods), whole: 'all' };
}

function describeRecord(record: StoredRecord, hideHeldInJson: (json: string) => string): AuditRecord {
  const leaf = decodeLeaf(record.leaf);
  return create(AuditRecordSchema, {
    index: BigInt(record.index),
    leafHash: hashLeaf(record.leaf).toString('hex'),
    kind: leaf.kind,
    result: leaf.result,
    timeMs: BigInt(leaf.timeMs),
    callId: leaf.callId ?? '',
    sessionId: leaf.sessionId ?? '',
    rulesHash: leaf.rulesHash ?? '',
    payloadJson: hideHeldInJson(record.payload ?? ''),
  });
}

/** None may be shorter than what is counted. All end at full ones. */
function slotsOf(hours: number, nowMs: number, slotMs: number): ActivityRequest {
  const slots = Math.ceil((hours * hourMs) / slotMs);
  return { slotMs, slots, fromMs: (Math.floor(nowMs / slotMs) - slots + 1) * slotMs };
}

function unfreeze({ name, succeeded, denied, asked, failed }: ActivityLine) {
  return { name, succeeded: [...succeeded], denied: [...denied], asked: [...asked], failed: [...failed] };
}

/** Tools that both agents and people called are one line. Those with most calls first. */
function joinLines(lines: readonly ActivityLine[]): ReturnType<typeof unfreeze>[] {
  const joined = new Map<string, ReturnType<typeof unfreeze>>();
  for (const line of lines) {
    const known = joined.get(line.name);
    if (known === undefined) joined.set(line.name, unfreeze(line));
    else
      for (const ending of endings) known[ending] = known[ending].map((count, at) => count + (line[ending][at] ?? 0));
  }
  const totalOf = (line: ActivityLine): number =>
    endings.reduce((sum, ending) => sum + line[ending].reduce((all, count) => all + count, 0), 0);
  return [...joined.values()].toSorted((a, b) => totalOf(b) - totalOf(a));
}

/** Newest first, at most so many. A page that takes too long ends early, on a busy machine. */
async function searchNewest(index: Pick<SearchIndex, 'search'>, filter: Filter, most: number): Promise<Entry[]> {
  const found: Entry[] = [];
  let before: number | undefined;
  do {
    const page: SearchPage = await index.search({ filter, limit: most - found.length, before, after: undefined });
    found.push(...page.entries);
    before = page.next;
  } while (before !== undefined && found.length < most);
  return found;
}

/** What was erased since it was found has no words any more. */
function readReport({ index, timeMs, sessionId, payloadJson }: AuditRecord) {
  const {
    event = '',
    agent = '',
    tool = '',
  } = JSON.parse(payloadJson || '{}') as Partial<Record<'event' | 'agent' | 'tool', string>>;
  return { index, timeMs, sessionId, event, agent, tool };
}

function readFilter(text: string): ReturnType<typeof parseFilter> {
  try {
    return parseFilter(text, Date.now());
  } catch (error) {
    if (error instanceof FilterError) throw new RpcError('invalid_argument', error.message);
    throw error;
  }
}

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
