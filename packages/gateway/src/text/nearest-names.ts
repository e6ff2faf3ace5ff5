/** The names closest to a misspelt one, best first; none that would need more than a third of its letters changed. */
export function nearestNames(wanted: string, known: Iterable<string>, most = 3): string[] {
  const target = wanted.slice(0, 100).toLowerCase();
  const ranked: { name: string; distance: number }[] = [];
  for (const name of known) {
    const candidate = name.toLowerCase();
    const limit = Math.max(2, Math.ceil(Math.max(target.length, candidate.length) / 3));
    const distance = candidate.includes(target) && target.length >= 3 ? 1 : editDistance(target, candidate, limit);
    if (distance <= limit) ranked.push({ name, distance });
  }
  ranked.sort((a, b) => a.distance - b.distance || a.name.localeCompare(b.name));
  return ranked.slice(0, most).map(({ name }) => name);
}

/** Levenshtein distance; gives up with `limit + 1` once it cannot be reached. */
function editDistance(a: string, b: string, limit: number): number {
  if (Math.abs(a.length - b.length) > limit) return limit + 1;
  let previous = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let row = 1; row <= a.length; row++) {
    const current = [row];
    for (let column = 1; column <= b.length; column++) {
      const substituted = (previous[column - 1] ?? 0) + (a[row - 1] === b[column - 1] ? 0 : 1);
      current.push(Math.min(substituted, (previous[column] ?? 0) + 1, (current[column - 1] ?? 0) + 1));
    }
    if (Math.min(...current) > limit) return limit + 1;
    previous = current;
  }
  return previous[b.length] ?? limit + 1;
}
