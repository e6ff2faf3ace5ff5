const semver = /^(\d{1,15})\.(\d{1,15})\.(\d{1,15})(?:-([0-9A-Za-z.-]+))?(?:\+[0-9A-Za-z.-]+)?$/;

/**
 * Orders versions as Semantic Versioning does, older ones first. What is no such version comes before all that are.
 * Versions that count as equal are ordered by their text, so that the order is always the same.
 */
export function compareVersions(a: string, b: string): number {
  const [left, right] = [semver.exec(a), semver.exec(b)];
  if (left === null || right === null) {
    if (left !== null) return 1;
    if (right !== null) return -1;
    return compareNaturally(a, b) || compareText(a, b);
  }
  for (const part of [1, 2, 3]) {
    const difference = Number(left[part]) - Number(right[part]);
    if (difference !== 0) return difference;
  }
  return comparePrereleases(left[4], right[4]) || compareText(a, b);
}

/** A version without one is the release, and newer. */
function comparePrereleases(a: string | undefined, b: string | undefined): number {
  if (a === undefined || b === undefined) return a === b ? 0 : a === undefined ? 1 : -1;
  const [left, right] = [a.split('.'), b.split('.')];
  for (const [index, identifier] of left.entries()) {
    const other = right[index];
    if (other === undefined) return 1;
    const difference = compareIdentifiers(identifier, other);
    if (difference !== 0) return difference;
  }
  return left.length - right.length;
}

function compareIdentifiers(a: string, b: string): number {
  const [isNumber, isOtherNumber] = [/^\d+$/.test(a), /^\d+$/.test(b)];
  if (isNumber && isOtherNumber) return a.length - b.length || compareText(a, b);
  if (isNumber !== isOtherNumber) return isNumber ? -1 : 1;
  return compareText(a, b);
}

/** Numbers within the texts count as numbers: `v2` comes before `v10`. */
function compareNaturally(a: string, b: string): number {
  const pieces = /\d+|\D+/g;
  const [left, right] = [a.match(pieces) ?? [], b.match(pieces) ?? []];
  for (const [index, piece] of left.entries()) {
    const other = right[index];
    if (other === undefined) return 1;
    const difference = compareIdentifiers(withoutZeros(piece), withoutZeros(other));
    if (difference !== 0) return difference;
  }
  return left.length - right.length;
}

function withoutZeros(text: string): string {
  return text.replace(/^0+(?=\d)/, '');
}

function compareText(a: string, b: string): number {
  return a === b ? 0 : a < b ? -1 : 1;
}
