import { setPriority } from 'node:os';
import { parentPort, workerData } from 'node:worker_threads';
import type { ActivityKind, ActivityReport, ActivityRequest, ActivityTotal } from '../../audit/search/activity.ts';
import type { SearchPage, SearchRequest } from '../../audit/search/search-page.ts';
import { BusyGate } from './index/busy-gate.ts';
import { IndexKeeper } from './index/index-keeper.ts';
import type { IndexFiles } from './index/index-keeper.ts';

export type Question =
  | { readonly kind: 'search'; readonly request: SearchRequest }
  | { readonly kind: 'activity'; readonly request: ActivityRequest }
  | { readonly kind: 'totals'; readonly kinds: readonly ActivityKind[] }
  /** Forget what was erased, now. */
  | { readonly kind: 'forget' };

export interface AnswerTo {
  readonly search: SearchPage;
  readonly activity: ActivityReport;
  readonly totals: readonly ActivityTotal[];
  readonly forget: true;
}

export interface ToIndex {
  readonly id: number;
  readonly question: Question;
}

/** What the thread runs with. */
export interface IndexThreadData extends IndexFiles {
  /** It ends when it has had nothing to do for this long: an idle gate needs no index, and this one holds megabytes. */
  readonly restAfterMs: number;
}

/** Its last message, unless it fails: how much of the log is in the index. */
export interface IndexRests {
  readonly indexedSize: number;
}

export interface FromIndex {
  readonly id: number;
  readonly answer?: AnswerTo[keyof AnswerTo];
  /** Why there is no answer. */
  readonly problem?: string;
}

const lookEveryMs = 1000;
const lowestPriority = 19;

if (parentPort === null) throw new Error('the index is kept by a worker thread');
const port = parentPort;
// On Linux this concerns this thread alone; elsewhere it would slow the gate down.
if (process.platform === 'linux') setPriority(0, lowestPriority);
const { restAfterMs, ...files } = workerData as IndexThreadData;
const keeper = new IndexKeeper(files);
let usedAtMs = performance.now();
let hasWaited = false;
const gate = new BusyGate(keeper.logSize(), performance.now());

function answer(question: Exclude<Question, { kind: 'forget' }>): AnswerTo[keyof AnswerTo] {
  switch (question.kind) {
    case 'search':
      return keeper.search(question.request);
    case 'activity':
      return keeper.readActivity(question.request);
    case 'totals':
      return keeper.readTotals(question.kinds);
  }
}

port.on('message', ({ id, question }: ToIndex) => {
  usedAtMs = performance.now();
  gate.noteQuestion(usedAtMs);
  const post = (message: FromIndex): void => port.postMessage(message);
  if (question.kind === 'forget') {
    forget(
      () => post({ id, answer: true }),
      (problem) => post({ id, problem }),
    );
    return;
  }
  try {
    // The search finds every call that was answered before it, unless there is a lot to add.
    keeper.catchUp();
    post({ id, answer: answer(question) });
  } catch (error) {
    post({ id, problem: messageOf(error) });
  }
});

/** A step at a time, so that a search in between does not wait for all of it. */
function forget(onDone: () => void, onProblem: (problem: string) => void): void {
  try {
    if (keeper.forgetErased({ isUrgent: true })) setImmediate(() => forget(onDone, onProblem));
    else onDone();
  } catch (error) {
    onProblem(messageOf(error));
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** One portion at a time, so that a search in between does not wait for all of a long log. */
function keepUp(): void {
  const nowMs = performance.now();
  const isPutOff = gate.comesFirst(nowMs, () => ({ log: keeper.logSize(), indexed: keeper.indexedSize }));
  const isMore = !isPutOff && (keeper.catchUp() || keeper.forgetErased({ isUrgent: false }));
  if (isMore || isPutOff) usedAtMs = nowMs;
  if (isMore) {
    setImmediate(keepUp);
  } else if (hasWaited && performance.now() - usedAtMs >= restAfterMs) {
    rest();
  } else {
    // It answers the questions that it was started for before it may rest.
    hasWaited = true;
    setTimeout(keepUp, Math.min(lookEveryMs, restAfterMs));
  }
}

/** A question that comes too late goes to the next thread. */
function rest(): void {
  const rests: IndexRests = { indexedSize: keeper.indexedSize };
  keeper.close();
  port.postMessage(rests);
  port.close();
}
keepUp();
