import type { Approval, Plan } from '../daemon/messages.ts';
import { Observable } from './observable.ts';

export type InboxItem =
  | { readonly kind: 'approval'; readonly id: string; readonly createdAtMs: number; readonly approval: Approval }
  | { readonly kind: 'plan'; readonly id: string; readonly createdAtMs: number; readonly plan: Plan };

export interface InboxView {
  /** False until the daemon has said what is pending. */
  readonly isLoaded: boolean;
  /** Oldest first: what arrives never pushes away what somebody looks at. Of very many, those that come first. */
  readonly items: readonly InboxItem[];
  /** Of all that wait, whether they are among the items or not. */
  readonly count: number;
  /** What was decided or ran out while this page was open, newest first. */
  readonly decided: readonly Approval[];
}

/** What happened: pending, reminder, outdated, decided or expired. */
export type InboxEvent =
  | { readonly event: string; readonly approval: Approval }
  | { readonly event: string; readonly plan: Plan };

/** Requests behind those that are known, the oldest first. */
export interface InboxPage {
  readonly approvals: readonly Approval[];
  /** There are more. */
  readonly more: boolean;
}

const mostDecided = 20;
const showEveryMs = 100;
/** More are not kept. The next ones follow as these are decided. */
export const mostItems = 2000;

/** What waits for a person: all of it, or of very many the first ones, and further pages as they are wanted. */
export class Inbox {
  readonly view = new Observable<InboxView>({ isLoaded: false, items: [], count: 0, decided: [] });
  readonly #items = new Map<string, InboxItem>();
  #decided: readonly Approval[] = [];
  /** Of a stream that has just begun: what it has told so far. Absent: it has told everything that it tells at first. */
  #told: Set<string> | undefined = new Set();
  /** The last of the requests that are known without a gap. Absent: all that wait are known. */
  #edge: Approval | undefined;
  /** How many requests wait, as far as the daemon has said so. Counts only while not all are known. */
  #waiting = 0;
  /** News that came while a page was under way: it may be about something that is behind the page or in it. */
  #meanwhile: InboxEvent[] | undefined;

  /** The daemon is about to tell what is pending. */
  begin(): void {
    this.#told = new Set();
  }

  /** It has told everything, or the first of `waiting` requests: what it left out was decided while nobody listened. */
  settle(waiting: number): void {
    const told = this.#told;
    if (told === undefined) return;
    for (const id of this.#items.keys()) if (!told.has(id)) this.#items.delete(id);
    this.#told = undefined;
    const known = [...this.#items.values()].filter((item) => item.kind === 'approval').toSorted(compareItems);
    this.#edge = known.length < waiting ? known.at(-1)?.approval : undefined;
    this.#waiting = waiting;
    this.#show();
  }

  hear(news: InboxEvent): void {
    this.#meanwhile?.push(news);
    if ('plan' in news) this.#keep(isOver(news), { kind: 'plan', plan: news.plan, ...keyOf(news.plan) });
    else this.#hearApproval(news.approval, isOver(news));
    // Everything that waits is told one by one at the beginning: it is shown together, not drawn for each.
    if (this.#told === undefined) this.#show();
    else this.#showing ??= setTimeout(() => this.#show(), showEveryMs);
  }

  /** Where the next page begins. Undefined: everything is known, or as much as is kept. */
  get next(): string | undefined {
    return this.#told === undefined && this.#items.size < mostItems ? this.#edge?.id : undefined;
  }

  /** A page is being read, from `next` on. */
  beginPage(): void {
    this.#meanwhile = [];
  }

  /** Undefined: it could not be read. */
  addPage(page: InboxPage | undefined): void {
    const meanwhile = this.#meanwhile ?? [];
    this.#meanwhile = undefined;
    // A new stream has begun, which tells everything anew.
    if (page === undefined || this.#told !== undefined || this.#edge === undefined) return;
    for (const approval of page.approvals) this.#keep(false, itemOf(approval));
    this.#edge = page.more ? (page.approvals.at(-1) ?? this.#edge) : undefined;
    for (const news of meanwhile) {
      if ('plan' in news) continue;
      if (isOver(news)) this.#items.delete(news.approval.id);
      else this.#hearApproval(news.approval, false);
    }
    this.#show();
  }

  /** A request that somebody has a link to, wherever it stands. */
  add(approval: Approval): void {
    this.#keep(false, itemOf(approval));
    this.#show();
  }

  /** How many requests wait by now. */
  count(waiting: number): void {
    if (this.#edge === undefined || this.#waiting === waiting) return;
    this.#waiting = waiting;
    this.#show();
  }

  #hearApproval(approval: Approval, hasEnded: boolean): void {
    const item = itemOf(approval);
    const isKnown = this.#items.has(item.id);
    if (hasEnded) {
      this.#waiting -= 1;
      this.#decided = [approval, ...this.#decided.filter(({ id }) => id !== item.id)].slice(0, mostDecided);
    } else if (!isKnown && this.#edge !== undefined && compareItems(item, itemOf(this.#edge)) > 0) {
      // It comes with its page.
      return;
    }
    this.#keep(hasEnded, item);
  }

  #keep(hasEnded: boolean, item: InboxItem): void {
    if (hasEnded) this.#items.delete(item.id);
    else {
      this.#items.set(item.id, item);
      this.#told?.add(item.id);
    }
  }

  #showing: ReturnType<typeof setTimeout> | undefined;

  #show(): void {
    clearTimeout(this.#showing);
    this.#showing = undefined;
    const items = [...this.#items.values()].toSorted(compareItems);
    const plans = items.reduce((sum, { kind }) => sum + Number(kind === 'plan'), 0);
    const count = this.#edge === undefined ? items.length : Math.max(this.#waiting + plans, items.length);
    this.view.set({ isLoaded: this.#told === undefined, items, count, decided: this.#decided });
  }
}

function isOver({ event }: InboxEvent): boolean {
  return event === 'decided' || event === 'expired';
}

function itemOf(approval: Approval): InboxItem & { kind: 'approval' } {
  return { kind: 'approval', approval, ...keyOf(approval) };
}

function compareItems(a: InboxItem, b: InboxItem): number {
  return a.createdAtMs - b.createdAtMs || (a.id < b.id ? -1 : 1);
}

function keyOf({ id, createdAtMs }: Approval | Plan): { readonly id: string; readonly createdAtMs: number } {
  return { id, createdAtMs: Number(createdAtMs) };
}
