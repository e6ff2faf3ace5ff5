import type { InboxItem } from './inbox.ts';

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

/** An item never changes: with another run or hold it is another object. */
const keysMade = new WeakMap<InboxItem, string>();

function foldKey(item: InboxItem): string {
  const known = keysMade.get(item);
  if (known !== undefined) return known;
  const key = makeKey(item);
  keysMade.set(item, key);
  return key;
}

function makeKey(item: InboxItem): string {
  if (item.kind === 'plan') return item.id;
  const { tool, toolVersion, title, effectSha256, argumentsJson, risk, hold, workspace, ruleId, masked } =
    item.approval;
  if (masked.length > 0 || hold !== '' || risk === 'critical') return item.id;
  return JSON.stringify([tool, toolVersion, title, effectSha256, argumentsJson, risk, workspace, ruleId]);
}
