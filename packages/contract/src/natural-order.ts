const parts = /\d+|\D+/g;

/** The order in which people read names: `step2` before `step10`. Also runs in browsers. */
export function compareNaturally(a: string, b: string): number {
  return compareAllParts(a.match(parts) ?? [], b.match(parts) ?? []);
}

/** A sorted copy. Each name is taken apart once, so that long lists are sorted quickly. */
export function sortNaturally<Item>(items: readonly Item[], nameOf: (item: Item) => string): Item[] {
  return items
    .map((item) => ({ item, parts: nameOf(item).match(parts) ?? [] }))
    .sort((a, b) => compareAllParts(a.parts, b.parts))
    .map(({ item }) => item);
}

function compareAllParts(left: readonly string[], right: readonly string[]): number {
  for (const [at, part] of left.entries()) {
    const other = right[at];
    if (other === undefined) return 1;
    const difference = compareParts(part, other);
    if (difference !== 0) return difference;
  }
  return left.length - right.length;
}

function compareParts(a: string, b: string): number {
  if (a === b) return 0;
  const areNumbers = /^\d/.test(a) && /^\d/.test(b);
  // Longer than any number that a program could hold, so they are compared as they are written.
  const [left, right] = areNumbers ? [a.replace(/^0+(?=\d)/, ''), b.replace(/^0+(?=\d)/, '')] : [a, b];
  if (areNumbers && left.length !== right.length) return left.length - right.length;
  if (left !== right) return left < right ? -1 : 1;
  return a.length - b.length;
}
