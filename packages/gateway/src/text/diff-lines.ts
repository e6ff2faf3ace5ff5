type Step = readonly [mark: ' ' | '-' | '+', line: string];

const contextLines = 3;
/** Past this many changed lines the shortest difference is not worth its cost; all old lines give way to all new ones. */
const maxChanges = 1000;

/**
 * The difference of two texts as a unified diff; empty when they are equal. `linesBefore`: lines of the file that stand
 * before both.
 */
export function diffLines(before: string, after: string, label: string, linesBefore = 0): string {
  if (before === after) return '';
  const steps = findSteps(splitLines(before), splitLines(after));
  return `--- ${label}\n+++ ${label}\n${[...formatHunks(steps, linesBefore)].join('')}`;
}

/** For each line of a text, which line of an earlier one it is, counted from 0. Undefined: it is new. */
export function traceLines(before: string, after: string): readonly (number | undefined)[] {
  let line = 0;
  return findSteps(splitLines(before), splitLines(after)).flatMap(([mark]) => {
    if (mark === '+') return [undefined];
    line++;
    return mark === '-' ? [] : [line - 1];
  });
}

function splitLines(text: string): readonly string[] {
  if (text === '') return [];
  const lines = text.split('\n');
  const last = lines.pop();
  // Part of the line, because a line with and one without its end are different lines.
  if (last !== '') lines.push(`${last}\n\\ No newline at end of file`);
  return lines;
}

function findSteps(before: readonly string[], after: readonly string[]): readonly Step[] {
  const shorter = Math.min(before.length, after.length);
  let head = 0;
  while (head < shorter && before[head] === after[head]) head++;
  let tail = 0;
  while (tail < shorter - head && before.at(-1 - tail) === after.at(-1 - tail)) tail++;
  const removed = before.slice(head, before.length - tail);
  const added = after.slice(head, after.length - tail);
  return [
    ...before.slice(0, head).map((line): Step => [' ', line]),
    ...(findShortest(removed, added) ?? replaceAll(removed, added)),
    ...before.slice(before.length - tail).map((line): Step => [' ', line]),
  ];
}

function replaceAll(removed: readonly string[], added: readonly string[]): readonly Step[] {
  return [...removed.map((line): Step => ['-', line]), ...added.map((line): Step => ['+', line])];
}

/** The shortest list of changes (Myers 1986). Absent: it is longer than `maxChanges`. */
function findShortest(before: readonly string[], after: readonly string[]): readonly Step[] | undefined {
  const most = Math.min(maxChanges, before.length + after.length);
  const reached = new Reached(most);
  const rounds: Reached[] = [];
  for (let changes = 0; changes <= most; changes++) {
    rounds.push(reached.copy());
    for (let diagonal = -changes; diagonal <= changes; diagonal += 2) {
      let x = reached.next(diagonal, changes).x;
      while (x < before.length && x - diagonal < after.length && before[x] === after[x - diagonal]) x++;
      reached.set(diagonal, x);
      if (x >= before.length && x - diagonal >= after.length) return walkBack(rounds, before, after);
    }
  }
  return undefined;
}

function walkBack(rounds: readonly Reached[], before: readonly string[], after: readonly string[]): readonly Step[] {
  const steps: Step[] = [];
  let x = before.length;
  let y = after.length;
  for (const [changes, reached] of [...rounds.entries()].reverse()) {
    const step = reached.next(x - y, changes);
    for (; x > step.x; x--, y--) steps.push([' ', before[x - 1] ?? '']);
    if (changes === 0) break;
    steps.push(step.mark === '-' ? ['-', before[--x] ?? ''] : ['+', after[--y] ?? '']);
  }
  return steps.reverse();
}

/** How far into the old lines the best path has come on each diagonal (old line number minus new line number). */
class Reached {
  readonly #most: number;
  readonly #x: Int32Array;

  constructor(most: number, x = new Int32Array(2 * most + 3)) {
    this.#most = most;
    this.#x = x;
  }

  copy(): Reached {
    return new Reached(this.#most, this.#x.slice());
  }

  set(diagonal: number, x: number): void {
    this.#x[diagonal + this.#most + 1] = x;
  }

  /** Where the path enters a diagonal with its last change, and which change that is. */
  next(diagonal: number, changes: number): { readonly x: number; readonly mark: '-' | '+' } {
    const afterAddition = this.#at(diagonal + 1);
    const afterRemoval = this.#at(diagonal - 1) + 1;
    const isAddition = diagonal === -changes || (diagonal !== changes && afterRemoval <= afterAddition);
    return isAddition ? { x: afterAddition, mark: '+' } : { x: afterRemoval, mark: '-' };
  }

  #at(diagonal: number): number {
    return this.#x[diagonal + this.#most + 1] ?? 0;
  }
}

function* formatHunks(steps: readonly Step[], linesBefore: number): Generator<string> {
  const oldLines = numberLines(steps, '+');
  const newLines = numberLines(steps, '-');
  for (const [from, to] of findHunks(steps)) {
    const hunk = steps.slice(from, to);
    const oldRange = formatRange(linesBefore + (oldLines[from] ?? 0), hunk.filter(([mark]) => mark !== '+').length);
    const newRange = formatRange(linesBefore + (newLines[from] ?? 0), hunk.filter(([mark]) => mark !== '-').length);
    yield `@@ -${oldRange} +${newRange} @@\n${hunk.map(([mark, line]) => `${mark}${line}\n`).join('')}`;
  }
}

/** Ranges of steps around changes; changes whose surroundings touch share one. */
function findHunks(steps: readonly Step[]): readonly (readonly [from: number, to: number])[] {
  const hunks: [number, number][] = [];
  for (const [index, [mark]] of steps.entries()) {
    if (mark === ' ') continue;
    const from = Math.max(0, index - contextLines);
    const to = Math.min(steps.length, index + contextLines + 1);
    const last = hunks.at(-1);
    if (last !== undefined && from <= last[1]) last[1] = to;
    else hunks.push([from, to]);
  }
  return hunks;
}

/** For each step the number of lines before it, in the text that does not have the lines marked `absent`. */
function numberLines(steps: readonly Step[], absent: '-' | '+'): readonly number[] {
  let count = 0;
  return steps.map(([mark]) => (mark === absent ? count : count++));
}

/** The way diff writes it: an empty range stands behind its line. */
function formatRange(linesBefore: number, count: number): string {
  return `${count === 0 ? linesBefore : linesBefore + 1},${count}`;
}
