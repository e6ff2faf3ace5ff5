import { setImmediate } from 'node:timers/promises';
import type { InJson, LogSpan } from '@sallyport/contract';
import { decodeLeaf } from '@sallyport/log';
import type { StoredRecord } from '@sallyport/log';
import { ToolFailure } from '../../call/tool.ts';
import type { ToolContext } from '../../call/tool.ts';
import * as schema from '../../registry/schemas/schema.ts';
import type { DecidedRecord, Store } from '../../storage/stores.ts';

type Log = Pick<Store, 'logSize' | 'readRecords'>;

/** A part of the log, up to its newest record. */
export interface Span {
  readonly from: number;
  readonly to: number;
  /** When its first record was written. Absent: there is none. */
  readonly fromMs?: number;
  /** Records that were asked for are older than `from`: they would have been too many. */
  readonly isCut: boolean;
}

const mostRecords = 1_000_000;
/** So many hold up the calls of others for a millisecond or two. */
const pageRecords = { whole: 200, inPart: 500 };

/** The arguments with which a tool is told how far back to look. */
export type SpanArguments = schema.ValuesOf<ReturnType<typeof spanProperties>, never>;

export function spanProperties(usual: number) {
  return {
    last: schema.integer(`How many of the newest records to look at. Absent: ${usual}, or all since \`since\`.`, {
      minimum: 1,
      maximum: mostRecords,
    }),
    since: schema.string('An ISO 8601 time: nothing older is looked at.', { maxLength: 64 }),
  };
}

export async function chooseSpan(log: Log, { last, since }: SpanArguments, usual: number): Promise<Span> {
  const to = await log.logSize();
  const wanted = since === undefined ? 0 : await findFirst(log, readTime(since), to);
  const most = last ?? (since === undefined ? usual : mostRecords);
  const from = Math.max(wanted, to - most, 0);
  const [first] = from < to ? await log.readRecords(from, 1) : [];
  const fromMs = first === undefined ? {} : { fromMs: decodeLeaf(first.leaf).timeMs };
  return { from, to, ...fromMs, isCut: from > wanted };
}

function readTime(text: string): number {
  const timeMs = Date.parse(text);
  if (!Number.isNaN(timeMs)) return timeMs;
  throw new ToolFailure('INVALID_ARGUMENTS', `${text} is not a time; write it like 2026-03-01T14:00:00Z.`);
}

/** Records stand in the order in which they were written, so their times rise, but for a clock that was set back. */
async function findFirst(log: Log, sinceMs: number, size: number): Promise<number> {
  let [low, high] = [0, size];
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    const [record] = await log.readRecords(middle, 1);
    if (record !== undefined && decodeLeaf(record.leaf).timeMs < sinceMs) low = middle + 1;
    else high = middle;
  }
  return low;
}

type Waiting = Pick<ToolContext, 'signal' | 'reportProgress'>;

/** Goes through the records a page at a time, and lets calls run in between. */
export function walkRecords(log: Log, span: Span, context: Waiting): AsyncGenerator<readonly StoredRecord[]> {
  return walk((from, to) => log.readRecords(from, to - from), { ...span, step: pageRecords.whole }, context);
}

/** The same for those of decided calls, of which less is read. */
export function walkDecided(
  store: Pick<Store, 'readDecided'>,
  span: Span,
  context: Waiting,
): AsyncGenerator<readonly DecidedRecord[]> {
  return walk((from, to) => store.readDecided(from, to), { ...span, step: pageRecords.inPart }, context);
}

async function* walk<Item>(
  read: (from: number, to: number) => Promise<readonly Item[]>,
  { from, to, step }: Pick<Span, 'from' | 'to'> & { readonly step: number },
  { signal, reportProgress }: Waiting,
): AsyncGenerator<readonly Item[]> {
  for (let at = from; at < to; at += step) {
    signal.throwIfAborted();
    const end = Math.min(at + step, to);
    yield await read(at, end);
    reportProgress({ kind: 'step', done: end - from, total: to - from, message: 'records' });
    await setImmediate();
  }
}

/** How a span is told to the one who asked: how much was looked at, and since when. */
export function describeSpan({ from, to, fromMs, isCut }: Span): InJson<LogSpan> {
  return { records: to - from, ...(fromMs === undefined ? {} : { fromAtMs: String(fromMs) }), cut: isCut };
}
