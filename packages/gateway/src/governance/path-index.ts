import type { ClaimedPath } from './claims.ts';
import type { CompiledRule } from './compile-rules.ts';
import { anchorOf } from './path-pattern.ts';
import type { PathVariable } from './place-path.ts';

/** Rules in their order, each once; `at` says where each stands among all. */
interface Pile {
  readonly at: number[];
  readonly rules: CompiledRule[];
}

/** The rules whose patterns start at one folder, by the part of the pattern that is plain text. */
interface Shelf {
  readonly spelling: 'exact' | 'lowered';
  readonly start: 'root' | PathVariable;
  /** By the folder that everything the pattern covers lies in; empty for patterns that start with a glob. */
  readonly byFolder: Map<string, Pile>;
  /** By the last component, for patterns that start with a glob and end in a name. */
  readonly byName: Map<string, Pile>;
  deepest: number;
}

/** Up to so many rules, looking at each of them is faster than looking them up. */
const fewRules = 12;

/**
 * Finds the rules that may cover a path, in the order given: all that do, and few others. A rule that does not look at
 * paths may cover every path.
 */
export function indexByPath(rules: readonly CompiledRule[]): (path: ClaimedPath) => readonly CompiledRule[] {
  if (rules.length <= fewRules) return () => rules;
  const shelves: Shelf[] = [];
  const everywhere: Pile = { at: [], rules: [] };
  for (const [at, compiled] of rules.entries()) {
    const { paths, effect } = compiled.rule;
    if (paths === undefined) putOn(everywhere, at, compiled);
    const spelling = effect === 'allow' ? 'exact' : 'lowered';
    for (const pattern of paths ?? []) putOn(findPile(shelves, spelling, pattern), at, compiled);
  }
  return (path) => {
    // It may be meant by patterns that are spelt in another way, and those stand elsewhere.
    if (path.folded !== undefined) return rules;
    const piles = everywhere.at.length === 0 ? [] : [everywhere];
    for (const shelf of shelves) lookUp(shelf, path, piles);
    const [only, ...others] = piles;
    if (only === undefined) return [];
    return others.length === 0 ? only.rules : merge(piles, rules);
  };
}

function putOn(pile: Pile, at: number, rule: CompiledRule): void {
  if (pile.at.at(-1) === at) return;
  pile.at.push(at);
  pile.rules.push(rule);
}

function findPile(shelves: Shelf[], spelling: Shelf['spelling'], pattern: string): Pile {
  const { start, folder, name } = anchorOf(pattern, spelling);
  let shelf = shelves.find((each) => each.spelling === spelling && each.start === start);
  if (shelf === undefined) {
    shelf = { spelling, start, byFolder: new Map(), byName: new Map(), deepest: 0 };
    shelves.push(shelf);
  }
  const [piles, key] = folder === '' && name !== undefined ? [shelf.byName, name] : [shelf.byFolder, folder];
  if (folder !== '') shelf.deepest = Math.max(shelf.deepest, folder.split('/').length);
  const pile = piles.get(key) ?? { at: [], rules: [] };
  piles.set(key, pile);
  return pile;
}

function lookUp({ spelling, start, byFolder, byName, deepest }: Shelf, path: ClaimedPath, piles: Pile[]): void {
  const { [start]: remainder, name } = path[spelling];
  if (remainder === undefined) return;
  const add = (pile: Pile | undefined): void => {
    if (pile !== undefined) piles.push(pile);
  };
  if (byName.size > 0) add(byName.get(name));
  add(byFolder.get(''));
  // A hostile path may have thousands of components; no rule goes deeper than the deepest one.
  for (let depth = 0, at = 0; depth < deepest && at < remainder.length; depth++) {
    const slash = remainder.indexOf('/', at);
    const end = slash < 0 ? remainder.length : slash;
    add(byFolder.get(remainder.slice(0, end)));
    at = end + 1;
  }
}

function merge(piles: readonly Pile[], rules: readonly CompiledRule[]): readonly CompiledRule[] {
  const all = new Set(piles.flatMap(({ at }) => at));
  return [...all].sort((a, b) => a - b).map((at) => rules[at] as CompiledRule);
}
