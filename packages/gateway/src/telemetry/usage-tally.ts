import { setImmediate as yieldToCalls } from 'node:timers/promises';
import { decodeLeaf } from '@sallyport/log';
import type { CountedEndings, Store } from '../storage/stores.ts';

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

type CountedStore = Pick<Store, 'logSize' | 'readRecords' | 'countEndings'>;

const minuteMs = 60_000;
const fineMs = 5 * minuteMs;
const hourMs = 60 * minuteMs;
export const mostHours = 24;
/** So that calls in flight wait a few milliseconds at most. */
const perCount = 500;
const mostRecords = 1_000_000;
/** Callers choose the names of tools that do not exist. */
const mostTools = 500;
const reportEvents = ['limits_ignored', 'quarantine_reported'];
const mostReports = 100;

/**
 * Counts calls from the log when somebody asks: the first time all of the last day, then only what came since. May be
 * called concurrently; later callers share the count.
 */
export class UsageTally {
  readonly #store: CountedStore;
  /** By the beginning of each stretch of five minutes, by tool. */
  readonly #stretches = new Map<number, Map<string, Counts>>();
  /** Oldest first. */
  #reports: AbuseReport[] = [];
  #next: number | undefined;
  #countedFromMs = 0;
  #counting: Promise<void> = Promise.resolve();

  constructor(store: CountedStore) {
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
    const end = await this.#store.logSize();
    while (this.#next < end) {
      const to = Math.min(this.#next + perCount, end);
      await this.#countRange(this.#next, to);
      this.#next = to;
      await yieldToCalls();
    }
  }

  /** Records that do not belong to one stretch of time are counted in parts that do. */
  async #countRange(from: number, to: number): Promise<void> {
    const border = await this.#findBorder(from, to);
    if (border < to) {
      await this.#countRange(from, border);
      return this.#countRange(border, to);
    }
    const endings = await this.#store.countEndings(from, to);
    const isMixed = endings.some(({ firstMs, lastMs }) => stretchOf(firstMs) !== stretchOf(lastMs));
    // The clock was set back in between.
    if (isMixed && to - from > 1) {
      const middle = Math.ceil((from + to) / 2);
      await this.#countRange(from, middle);
      return this.#countRange(middle, to);
    }
    for (const each of endings) this.#count(each);
    if (endings.some(({ event = '' }) => reportEvents.includes(event))) await this.#readReports(from, to);
  }

  /** Where the second stretch begins, after the first record. `to`: the last record belongs to the same one. */
  async #findBorder(from: number, to: number): Promise<number> {
    const stretchMs = stretchOf(await this.#timeAt(from));
    if (stretchOf(await this.#timeAt(to - 1)) === stretchMs) return to;
    let [low, high] = [from + 1, to - 1];
    while (low < high) {
      const middle = Math.floor((low + high) / 2);
      if (stretchOf(await this.#timeAt(middle)) === stretchMs) low = middle + 1;
      else high = middle;
    }
    return low;
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

  #count({ kind, result, tool, refusalCode, count, firstMs }: CountedEndings): void {
    if (kind === 'event' || tool === '' || refusalCode === 'UNKNOWN_TOOL') return;
    const stretchMs = stretchOf(firstMs);
    const stretch = this.#stretches.get(stretchMs) ?? new Map<string, Counts>();
    this.#stretches.set(stretchMs, stretch);
    const known = stretch.get(tool);
    if (known === undefined && stretch.size >= mostTools) return;
    const counts = known ?? { succeeded: 0, denied: 0, asked: 0, failed: 0 };
    stretch.set(tool, counts);
    counts[refusalCode === 'APPROVAL_REQUIRED' ? 'asked' : endingOf(result)] += count;
  }

  async #readReports(from: number, to: number): Promise<void> {
    const reports = (await this.#store.readRecords(from, to - from)).flatMap(({ index, leaf, payload = '{}' }) => {
      const { event = '', agent = '', tool = '' } = JSON.parse(payload) as Partial<AbuseReport>;
      const { timeMs, sessionId = '' } = decodeLeaf(leaf);
      return reportEvents.includes(event) ? [{ index, timeMs, event, agent, tool, sessionId }] : [];
    });
    this.#reports = [...this.#reports, ...reports].slice(-mostReports);
  }
}

function stretchOf(timeMs: number): number {
  return Math.floor(timeMs / fineMs) * fineMs;
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
