import { kinds, reachesUnnamed } from './claims.ts';
import type { Claims, Kind } from './claims.ts';
import { keysOfCall, listClues } from './clues.ts';
import type { Clue, Key, NameKind } from './clues.ts';
import type { CompiledRule } from '../language/compile-rules.ts';
import { PathIndex, pileOf } from './path-index.ts';
import type { Pile } from './path-index.ts';
import type { Asked } from './rule-index.ts';
import type { Rule } from '../language/rule.ts';

/** Up to this many rules, trying each one is faster than a lookup. */
const fewRules = 12;

/** Finds the rules that may cover some combination of the claims, in the order given: all that do, and few others. */
export function indexByClue(
  rules: readonly CompiledRule[],
  cluesOf: (rule: Rule) => readonly Clue[] = listClues,
): (asked: Asked, claims: Claims) => readonly CompiledRule[] {
  if (rules.length <= fewRules) return () => rules;
  const { paths, names, closing, rest } = fileRules(rules, cluesOf);
  return (asked, claims) => {
    const piles: Pile[] = rest.length === 0 ? [] : [rest];
    for (const path of claims.path) paths.find(path, piles);
    for (const [kind, byKey] of names) {
      const keys = keysOfCall(kind, asked, claims);
      if (keys === undefined) return rules;
      for (const key of keys) addPile(piles, byKey.get(key));
    }
    // Who closes something of a kind also closes calls that reach such things without naming one.
    for (const [kind, pile] of closing) {
      if (claims[kind].length === 0 && reachesUnnamed(asked.tool, kind)) piles.push(pile);
    }
    return merge(piles, rules);
  };
}

function addPile(piles: Pile[], pile: Pile | undefined): void {
  if (pile !== undefined) piles.push(pile);
}

interface Filed {
  readonly paths: PathIndex;
  readonly names: Map<NameKind, Map<string, Pile>>;
  /** The rules under each kind that deny or ask. */
  readonly closing: Map<Kind, Pile>;
  /** Without a clue. */
  readonly rest: Pile;
}

function fileRules(rules: readonly CompiledRule[], cluesOf: (rule: Rule) => readonly Clue[]): Filed {
  const clues = rules.map(({ rule }) => cluesOf(rule));
  const crowds = countKeys(clues.flat());
  const filed: Filed = { paths: new PathIndex(), names: new Map(), closing: new Map(), rest: [] };
  for (const [at, { rule }] of rules.entries()) {
    const [best] = (clues[at] ?? []).map((clue) => chooseKeys(clue, crowds)).sort((a, b) => a.crowd - b.crowd);
    if (best === undefined) filed.rest.push(at);
    else file(filed, rule, best, at);
  }
  return filed;
}

/** How many rules share each key. */
function countKeys(clues: readonly Clue[]): ReadonlyMap<string, number> {
  const crowds = new Map<string, number>();
  for (const { patterns } of clues) {
    for (const keys of patterns) for (const { text } of keys) crowds.set(text, (crowds.get(text) ?? 0) + 1);
  }
  return crowds;
}

interface ChosenKeys {
  readonly kind: Clue['kind'];
  readonly keys: readonly Key[];
  readonly crowd: number;
}

function chooseKeys({ kind, patterns }: Clue, crowds: ReadonlyMap<string, number>): ChosenKeys {
  const crowdOf = ({ text }: Key): number => crowds.get(text) ?? 0;
  const keys = patterns.map((each) => each.reduce((best, key) => (crowdOf(key) < crowdOf(best) ? key : best)));
  return { kind, keys, crowd: Math.max(...keys.map(crowdOf)) };
}

function file({ paths, names, closing }: Filed, rule: Rule, { kind, keys }: ChosenKeys, at: number): void {
  for (const { text, path } of keys) {
    if (path !== undefined) paths.add(path.clue, path.spelling, at);
    else pileOf(mapOf(names, kind as NameKind), text).push(at);
  }
  if (rule.effect === 'allow' || !isThing(kind)) return;
  const pile = closing.get(kind) ?? [];
  closing.set(kind, pile);
  pile.push(at);
}

function isThing(kind: Clue['kind']): kind is Kind {
  return (kinds as readonly string[]).includes(kind);
}

function mapOf(names: Filed['names'], kind: NameKind): Map<string, Pile> {
  const piles = names.get(kind) ?? new Map<string, Pile>();
  names.set(kind, piles);
  return piles;
}

const fewPlaces = 48;

/** Each rule once, in the order of the file. */
function merge(piles: readonly Pile[], rules: readonly CompiledRule[]): readonly CompiledRule[] {
  let places = 0;
  for (const pile of piles) places += pile.length;
  if (places > fewPlaces) {
    const wanted = new Uint8Array(rules.length);
    for (const pile of piles) for (const place of pile) wanted[place] = 1;
    return rules.filter((_, place) => wanted[place] === 1);
  }
  const sorted = piles.length === 1 ? (piles[0] ?? []) : piles.flat().sort((a, b) => a - b);
  const merged: CompiledRule[] = [];
  // A rule with several patterns may be there several times.
  for (const [at, place] of sorted.entries()) {
    if (place !== sorted[at - 1]) merged.push(rules[place] as CompiledRule);
  }
  return merged;
}
