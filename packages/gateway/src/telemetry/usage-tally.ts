import { setImmediate as yieldToCalls } from 'node:timers/promises';
import { decodeLeaf } from '@sallyport/log';
import type { StoredRecord } from '@sallyport/log';
import type { Store } from '../storage/stores.ts';

/** How often a tool was called, slot by slot, oldest first. */
export interface ToolUse {
  readonly tool: string;
  readonly succeeded: readonly number[];
  /** A gate or a person said no. */
  readonly denied: readonly number[];
  /** Waited for a person. */
  readonly asked: readonly number[];
  /** Ran and failed, or nobody knows how it ended. */
  readonly failed: readonly number[];
}

export interface Usage {
  readonly fromMs: number;
  readonly slotMs: number;
  readonly slots: number;
  /** Later than `fromMs`: the log was too long to count all of it. */
  readonly countedFromMs: number;
  /** Those with most calls first. */
  readonly tools: readonly ToolUse[];
  /** What was reported about agents, newest first. */
  readonly reports: readonly AbuseReport[];
}

export interface AbuseReport {
  /** Of the record in the log. */
  readonly index: number;
  readonly timeMs: number;
  readonly event: string;
  readonly agent: string;
  readonly tool: string;
  readonly sessionId: string;
}

type Ending = 'succeeded' | 'denied' | 'asked' | 'failed';
type Counts = Record<Ending, number>;

/** What a record may say. */
interface RecordFacts {
  readonly tool?: string;
  readonly refusal?: { readonly code?: string };
  readonly event?: string;
  readonly agent?: string;
}

const minuteMs = 60_000;
const fineMs = 5 * minuteMs;
const hourMs = 60 * minuteMs;
export const mostHours = 24;
/** So that calls in flight wait a few milliseconds at most. */
const perRead = 250;
const mostRecords = 200_000;
/** Callers choose the names of tools that do not exist. */
const mostTools = 500;
const reportEvents = ['limits_ignored', 'quarantine_reported'];
const mostReports = 100;

/**
 * Counts calls from the log when somebody asks: the first time all of the last day, then only what came since. May be
 * called concurrently; whoever comes later shares the count.
 */
export class UsageTally {
  readonly #store: Pick<Store, 'logSize' | 'readRecords'>;
  /** By the beginning of each stretch of five minutes, by tool. */
  readonly #stretches = new Map<number, Map<string, Counts>>();
  /** Oldest first. */
  #reports: AbuseReport[] = [];
  #next: number | undefined;
  #countedFromMs = 0;
  #counting: Promise<void> = Promise.resolve();

  constructor(store: Pick<Store, 'logSize' | 'readRecords'>) {
    this.#store = store;
  }

  async read(hours: number, nowMs: number): Promise<Usage> {
    this.#counting = this.#counting.then(() => this.#catchUp(nowMs));
    await this.#counting;
    const slotMs = hours > 2 ? hourMs : fineMs;
    const slots = Math.ceil((hours * hourMs) / slotMs);
    const fromMs = Math.floor(nowMs / slotMs) * slotMs - (slots - 1) * slotMs;
    const tools = new Map<string, Record<Ending, number[]>>();
    for (const [stretchMs, counts] of this.#stretches) {
      const slot = Math.floor((stretchMs - fromMs) / slotMs);
      if (slot < 0 || slot >= slots) continue;
      for (const [tool, count] of counts) addCounts(tools, tool, slots, slot, count);
    }
    const inOrder = [...tools].map(([tool, use]) => ({ tool, ...use })).sort((a, b) => totalOf(b) - totalOf(a));
    const reports = this.#reports.filter(({ timeMs }) => timeMs >= fromMs).toReversed();
    return { fromMs, slotMs, slots, countedFromMs: this.#countedFromMs, tools: inOrder, reports };
  }

  async #catchUp(nowMs: number): Promise<void> {
    const horizonMs = nowMs - (mostHours + 1) * hourMs;
    for (const stretchMs of this.#stretches.keys()) if (stretchMs < horizonMs) this.#stretches.delete(stretchMs);
    this.#next ??= await this.#findStart(horizonMs);
    for (;;) {
      const records = await this.#store.readRecords(this.#next, perRead);
      for (const record of records) this.#count(record);
      this.#next += records.length;
      if (records.length < perRead) return;
      await yieldToCalls();
    }
  }

  /** The index of about the first record since then. Clocks can be set back, which moves it a little. */
  async #findStart(sinceMs: number): Promise<number> {
    const end = await this.#store.logSize();
    const lowest = Math.max(0, end - mostRecords);
    let [low, high] = [lowest, end];
    while (low < high) {
      const middle = Math.floor((low + high) / 2);
      if ((await this.#timeAt(middle)) < sinceMs) low = middle + 1;
      else high = middle;
    }
    this.#countedFromMs = low === lowest && lowest > 0 ? await this.#timeAt(lowest) : 0;
    return low;
  }

  async #timeAt(index: number): Promise<number> {
    const [record] = await this.#store.readRecords(index, 1);
    return record === undefined ? Number.POSITIVE_INFINITY : decodeLeaf(record.leaf).timeMs;
  }

  #count({ index, leaf, payload }: StoredRecord): void {
    const { kind, result, timeMs, sessionId = '' } = decodeLeaf(leaf);
    if (kind === 'intent' || payload === undefined) return;
    const { tool = '', refusal, event = '', agent = '' } = JSON.parse(payload) as RecordFacts;
    if (reportEvents.includes(event)) {
      this.#reports = [...this.#reports, { index, timeMs, event, agent, tool, sessionId }].slice(-mostReports);
    }
    if (kind === 'event' || tool === '' || refusal?.code === 'UNKNOWN_TOOL') return;
    const stretchMs = Math.floor(timeMs / fineMs) * fineMs;
    const stretch = this.#stretches.get(stretchMs) ?? new Map<string, Counts>();
    this.#stretches.set(stretchMs, stretch);
    const known = stretch.get(tool);
    if (known === undefined && stretch.size >= mostTools) return;
    const counts = known ?? { succeeded: 0, denied: 0, asked: 0, failed: 0 };
    stretch.set(tool, counts);
    counts[refusal?.code === 'APPROVAL_REQUIRED' ? 'asked' : endingOf(result)] += 1;
  }
}

function endingOf(result: string): Ending {
  if (result === 'ok') return 'succeeded';
  return result === 'denied' ? 'denied' : 'failed';
}

function addCounts(
  tools: Map<string, Record<Ending, number[]>>,
  tool: string,
  slots: number,
  slot: number,
  counts: Counts,
): void {
  const empty = (): number[] => Array.from({ length: slots }, () => 0);
  const use = tools.get(tool) ?? { succeeded: empty(), denied: empty(), asked: empty(), failed: empty() };
  tools.set(tool, use);
  for (const ending of Object.keys(counts) as Ending[]) use[ending][slot] = (use[ending][slot] ?? 0) + counts[ending];
}

function totalOf({ succeeded, denied, asked, failed }: ToolUse): number {
  return [succeeded, denied, asked, failed].flat().reduce((sum, count) => sum + count, 0);
}
