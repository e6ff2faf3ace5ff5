import type { Approval, Plan } from '../daemon/messages.ts';
import { Observable } from './observable.ts';

export type InboxItem =
  | { readonly kind: 'approval'; readonly id: string; readonly createdAtMs: number; readonly approval: Approval }
  | { readonly kind: 'plan'; readonly id: string; readonly createdAtMs: number; readonly plan: Plan };

export interface InboxView {
  /** False until the daemon has said what is pending. */
  readonly isLoaded: boolean;
  /** Oldest first: what arrives never pushes away what somebody looks at. */
  readonly items: readonly InboxItem[];
  /** What was decided or ran out while this page was open, newest first. */
  readonly decided: readonly Approval[];
}

/** Requests that differ in nothing but who asks, so that one look decides about all of them. Never empty. */
export type FoldedItem = readonly [InboxItem, ...InboxItem[]];

/** Puts identical requests together, each fold in the place of its oldest. Plans, and what is masked, stay by themselves. */
export function foldItems(items: readonly InboxItem[]): readonly FoldedItem[] {
  const folds = new Map<string, [InboxItem, ...InboxItem[]]>();
  for (const item of items) {
    const key = foldKey(item);
    const fold = folds.get(key);
    if (fold === undefined) folds.set(key, [item]);
    else fold.push(item);
  }
  return [...folds.values()];
}

function foldKey(item: InboxItem): string {
  if (item.kind === 'plan') return item.id;
  const { tool, toolVersion, title, effectSha256, argumentsJson, risk, hold, workspace, ruleId, masked } =
    item.approval;
  if (masked.length > 0 || hold !== '' || risk === 'critical') return item.id;
  return JSON.stringify([tool, toolVersion, title, effectSha256, argumentsJson, risk, workspace, ruleId]);
}

/** What happened: pending, reminder, decided or expired. */
export type InboxEvent =
  | { readonly event: string; readonly approval: Approval }
  | { readonly event: string; readonly plan: Plan };

const mostDecided = 20;
const showEveryMs = 100;

/** What waits for a person. */
export class Inbox {
  readonly view = new Observable<InboxView>({ isLoaded: false, items: [], decided: [] });
  readonly #approvals = new Map<string, Approval>();
  readonly #plans = new Map<string, Plan>();
  #decided: readonly Approval[] = [];
  /** Of a stream that has just begun: the tasks it has sent so far. Absent: it has sent everything pending. */
  #told: Set<string> | undefined = new Set();

  /** The daemon is about to tell everything that is pending. */
  begin(): void {
    this.#told = new Set();
  }

  /** It has told everything: what it left out was decided while nobody listened. */
  settle(): void {
    const told = this.#told;
    if (told === undefined) return;
    for (const waiting of [this.#approvals, this.#plans]) {
      for (const id of waiting.keys()) if (!told.has(id)) waiting.delete(id);
    }
    this.#told = undefined;
    this.#show();
  }

  hear(news: InboxEvent): void {
    const isOver = news.event === 'decided' || news.event === 'expired';
    if ('plan' in news) this.#hearPlan(news.plan, isOver);
    else this.#hearApproval(news.approval, isOver);
    // Everything that waits is told one by one at the beginning: it is shown together, not drawn for each.
    if (this.#told === undefined) this.#show();
    else this.#showing ??= setTimeout(() => this.#show(), showEveryMs);
  }

  #hearApproval(approval: Approval, isOver: boolean): void {
    const { id } = approval;
    if (isOver) {
      this.#approvals.delete(id);
      this.#decided = [approval, ...this.#decided.filter((each) => each.id !== id)].slice(0, mostDecided);
    } else {
      this.#approvals.set(id, approval);
      this.#told?.add(id);
    }
  }

  #hearPlan(plan: Plan, isOver: boolean): void {
    if (isOver) this.#plans.delete(plan.id);
    else {
      this.#plans.set(plan.id, plan);
      this.#told?.add(plan.id);
    }
  }

  #showing: ReturnType<typeof setTimeout> | undefined;

  #show(): void {
    clearTimeout(this.#showing);
    this.#showing = undefined;
    const items: InboxItem[] = [
      ...[...this.#approvals.values()].map((approval) => ({ kind: 'approval' as const, approval, ...keyOf(approval) })),
      ...[...this.#plans.values()].map((plan) => ({ kind: 'plan' as const, plan, ...keyOf(plan) })),
    ];
    items.sort((a, b) => a.createdAtMs - b.createdAtMs || (a.id < b.id ? -1 : 1));
    this.view.set({ isLoaded: this.#told === undefined, items, decided: this.#decided });
  }
}

function keyOf({ id, createdAtMs }: Approval | Plan): { readonly id: string; readonly createdAtMs: number } {
  return { id, createdAtMs: Number(createdAtMs) };
}
