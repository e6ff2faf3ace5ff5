import { modes } from '../model/session.ts';
import type { Mode, Principal } from '../model/session.ts';
import type { RuleReference } from '../model/refusal.ts';
import type { PathClaim } from '../model/tool.ts';
import { lowerAscii } from './canonical-path.ts';
import { matchesName } from './name-pattern.ts';
import { compilePathPattern } from './path-pattern.ts';
import type { PathMatcher } from './path-pattern.ts';
import { createPathPlacer } from './place-path.ts';
import type { PathVariables, PlacedPath } from './place-path.ts';
import { accesses as allAccesses, principals } from './rule.ts';
import type { Rule } from './rule.ts';

/** One path of a call, cut up once and shown to every rule. */
export interface ClaimedPath extends PathClaim {
  readonly exact: PlacedPath;
  /** The same after `lowerAscii`. */
  readonly lowered: PlacedPath;
}

export interface CompiledRule {
  readonly rule: Rule;
  readonly reference: RuleReference;
  readonly coversTool: (name: string) => boolean;
  /** Absent: the rule is for everyone. */
  readonly coversAgent?: (name: string) => boolean;
  readonly who: ReadonlySet<Principal>;
  readonly modes: ReadonlySet<Mode>;
  /** Absent: the rule does not look at paths, and covers calls with and without them. */
  readonly coversPath?: (path: ClaimedPath) => boolean;
}

export function createPathClaimer(variables: PathVariables): (claim: PathClaim) => ClaimedPath {
  const placeExact = createPathPlacer(variables, 'exact');
  const placeLowered = createPathPlacer(variables, 'lowered');
  const foldersAreLowered = Object.values(variables)
    .flat()
    .every((folder) => lowerAscii(folder) === folder);
  return ({ path, access }) => {
    const exact = placeExact(path);
    const lowered = lowerAscii(path);
    // Most paths have no capitals, and most folders too; then both spellings are one.
    const same = foldersAreLowered && lowered === path;
    return { path, access, exact, lowered: same ? exact : placeLowered(lowered) };
  };
}

/** The patterns of the rule have been checked; a bad one throws PathPatternError. */
export function compileRule(rule: Rule): CompiledRule {
  const coversPath = compilePaths(rule);
  return {
    rule,
    reference: { id: rule.id, file: rule.file, line: rule.line },
    coversTool: compileNames(rule.tools),
    who: new Set(rule.who ?? principals),
    modes: new Set(rule.modes ?? modes),
    ...(rule.agents === undefined ? {} : { coversAgent: compileNames(rule.agents) }),
    ...(coversPath === undefined ? {} : { coversPath }),
  };
}

function compileNames(patterns: readonly string[]): (name: string) => boolean {
  if (patterns.includes('*')) return () => true;
  return (name) => patterns.some((pattern) => matchesName(pattern, name));
}

/**
 * Where a pattern opens something, letters count as written; where it closes something, case is ignored, because on
 * many file systems `.ENV` is `.env`. So a rule can err on the closed side only.
 */
function compilePaths(rule: Rule): CompiledRule['coversPath'] {
  const { paths, exceptPaths, access } = rule;
  if (paths === undefined && exceptPaths === undefined && access === undefined) return undefined;
  const asCovered = rule.effect === 'allow' ? 'exact' : 'lowered';
  const asExcepted = rule.effect === 'allow' ? 'lowered' : 'exact';
  const accesses = new Set(access ?? allAccesses);
  const covers = compileAny(paths ?? ['/**'], asCovered);
  const excepts = exceptPaths === undefined ? undefined : compileAny(exceptPaths, asExcepted);
  return (path) =>
    accesses.has(path.access) && covers(path[asCovered]) && (excepts === undefined || !excepts(path[asExcepted]));
}

function compileAny(patterns: readonly string[], spelling: 'exact' | 'lowered'): PathMatcher {
  const matchers = patterns.map((pattern) => compilePathPattern(pattern, spelling));
  return (path) => {
    for (const matches of matchers) if (matches(path)) return true;
    return false;
  };
}
