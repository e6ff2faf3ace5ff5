import type { ClaimedPath } from './claims.ts';
import type { PathClue } from '../patterns/path-pattern.ts';
import type { PathVariable, Spelling } from './place-path.ts';

/** The rules that one clue leads to, by their place among all. */
export type Pile = number[];

/** The patterns below one folder, by what a component of every path they cover has to be. */
interface Drawer {
  /** Nothing is known of their paths but the folder. */
  readonly any: Pile;
  readonly whole: Map<string, Pile>;
  readonly beginning: Affixes;
  readonly ending: Affixes;
}

interface Affixes {
  readonly lengths: number[];
  readonly piles: Map<string, Pile>;
}

/** The patterns that start at one place and are compared in one spelling, by the plain folder that they begin with. */
interface Shelf {
  readonly spelling: Spelling;
  readonly start: 'root' | PathVariable;
  readonly drawers: Map<string, Drawer>;
  deepest: number;
}

/** Finds patterns that may cover a path without trying each: all that do, and few others. */
export class PathIndex {
  readonly #shelves: Shelf[] = [];

  add(clue: PathClue, spelling: Spelling, at: number): void {
    const { start, folder } = clue;
    let shelf = this.#shelves.find((each) => each.spelling === spelling && each.start === start);
    if (shelf === undefined) {
      shelf = { spelling, start, drawers: new Map(), deepest: 0 };
      this.#shelves.push(shelf);
    }
    if (folder !== '') shelf.deepest = Math.max(shelf.deepest, folder.split('/').length);
    let drawer = shelf.drawers.get(folder);
    if (drawer === undefined) {
      drawer = { any: [], whole: new Map(), beginning: noAffixes(), ending: noAffixes() };
      shelf.drawers.set(folder, drawer);
    }
    pileFor(drawer, clue).push(at);
  }

  /** Adds the piles that the path leads to. */
  find(path: ClaimedPath, piles: Pile[]): void {
    for (const shelf of this.#shelves) {
      const remainder = path[shelf.spelling]?.[shelf.start];
      if (remainder !== undefined) lookThrough(shelf, remainder, piles);
    }
  }
}

function noAffixes(): Affixes {
  return { lengths: [], piles: new Map() };
}

function pileFor(drawer: Drawer, { part }: PathClue): Pile {
  if (part === undefined) return drawer.any;
  if (part.is === 'whole') return pileOf(drawer.whole, part.text);
  const { lengths, piles } = drawer[part.is];
  if (!lengths.includes(part.text.length)) lengths.push(part.text.length);
  return pileOf(piles, part.text);
}

export function pileOf(piles: Map<string, Pile>, key: string): Pile {
  const pile = piles.get(key) ?? [];
  piles.set(key, pile);
  return pile;
}

function lookThrough({ drawers, deepest }: Shelf, remainder: string, piles: Pile[]): void {
  let parts: readonly string[] | undefined;
  const open = (folder: string): void => {
    const drawer = drawers.get(folder);
    if (drawer === undefined) return;
    if (drawer.any.length > 0) piles.push(drawer.any);
    if (isPlain(drawer)) return;
    parts ??= remainder.split('/');
    searchDrawer(drawer, parts, piles);
  };
  open('');
  // A hostile path may have thousands of components; no rule goes deeper than the deepest one.
  for (let depth = 0, at = 0; depth < deepest && at < remainder.length; depth++) {
    const slash = remainder.indexOf('/', at);
    const end = slash < 0 ? remainder.length : slash;
    if (end > 0) open(remainder.slice(0, end));
    at = end + 1;
  }
}

/** Whether the folder is all that is known of its patterns, as of most. */
function isPlain({ whole, beginning, ending }: Drawer): boolean {
  return whole.size === 0 && beginning.lengths.length === 0 && ending.lengths.length === 0;
}

function searchDrawer({ whole, beginning, ending }: Drawer, parts: readonly string[], piles: Pile[]): void {
  const add = (pile: Pile | undefined): void => {
    if (pile !== undefined) piles.push(pile);
  };
  for (const part of parts) {
    if (whole.size > 0) add(whole.get(part));
    for (const length of beginning.lengths) if (length <= part.length) add(beginning.piles.get(part.slice(0, length)));
    for (const length of ending.lengths) if (length <= part.length) add(ending.piles.get(part.slice(-length)));
  }
}
