import { clientCommandCategory } from '../../call/client-run.ts';
import { modes } from '../../call/session.ts';
import type { Mode, Principal } from '../../call/session.ts';
import type { RuleReference } from '../../call/refusal.ts';
import type { Grants } from '../../call/verdict.ts';
import { lowerAscii } from '../patterns/canonical-path.ts';
import { kinds } from '../judge/claims.ts';
import type { Claims, ClaimedPath, Kind } from '../judge/claims.ts';
import type { Circumstance, Circumstances, NamedTool } from '../judge/circumstances.ts';
import { compileCommandPattern } from '../patterns/command-pattern.ts';
import { compileCircumstances } from './circumstance-keys.ts';
import { compileGrants } from './grants.ts';
import { containsHost, everyHost, overlapsHost, parseHost } from '../patterns/host-pattern.ts';
import type { HostPattern } from '../patterns/host-pattern.ts';
import { matchesName } from '../patterns/name-pattern.ts';
import { compilePathPattern } from '../patterns/path-pattern.ts';
import type { PathVariables } from '../judge/place-path.ts';
import { accesses as allAccesses, origins, principals } from './rule.ts';
import type { Origin, Rule } from './rule.ts';

/** For each kind of thing that the rule looks at, whether it covers one. A kind that is absent does not matter to it. */
export type Conditions = { readonly [K in Kind]?: (claim: Claims[K][number]) => boolean };

export interface CompiledRule {
  readonly rule: Rule;
  readonly reference: RuleReference;
  /** Whether it lets calls through, asked about or not. A question of a project's rules is only asked about what others open. */
  readonly opens: boolean;
  readonly coversTool: (tool: NamedTool) => boolean;
  readonly who: ReadonlySet<Principal>;
  readonly modes: ReadonlySet<Mode>;
  readonly circumstances: readonly Circumstance[];
  readonly conditions: Conditions;
  /** The kinds of `conditions`. */
  readonly kinds: readonly Kind[];
  /** What it grants, given the folders that variables stand for. Absent: nothing. */
  readonly grantsIn?: (variables: PathVariables) => Grants;
}

/** The patterns of the rule have been checked; a bad one throws. */
export function compileRule(rule: Rule): CompiledRule {
  const conditions = compileConditions(rule);
  const { grants } = rule;
  return {
    rule,
    reference: { id: rule.id, file: rule.file, line: rule.line },
    opens: rule.effect !== 'deny',
    coversTool: compileTools(rule),
    who: new Set(rule.who ?? principals),
    modes: new Set(rule.modes ?? modes),
    circumstances: compileCircumstances(rule),
    conditions,
    kinds: kinds.filter((kind) => conditions[kind] !== undefined),
    ...(grants === undefined ? {} : { grantsIn: (variables) => compileGrants(grants, rule.tools, variables) }),
  };
}

/** Whether the circumstances are those of the rule. What is not known counts for what closes and against what opens. */
export function fitsCircumstances({ circumstances, rule }: CompiledRule, asked: Circumstances): boolean {
  for (const { holds } of circumstances) if (!(holds(asked) ?? rule.effect !== 'allow')) return false;
  return true;
}

/**
 * A name without `*` is also the alias of a built-in tool; others choose their aliases themselves.
 */
function compileTools(rule: Rule): CompiledRule['coversTool'] {
  const coversName = compileNames(rule.tools);
  const plain = new Set(rule.tools.filter((name) => !name.includes('*')));
  const from = new Set<Origin>(rule.origins ?? origins);
  const isOpening = rule.effect !== 'deny';
  return ({ name, aliases, origin, category }) => {
    if (!from.has(origin ?? 'builtin')) return false;
    // What opens a command in the sandbox does not open it outside.
    if (isOpening && category === clientCommandCategory && rule.origins === undefined) return false;
    return (
      coversName(name) || ((origin === undefined || origin === 'client') && aliases.some((alias) => plain.has(alias)))
    );
  };
}

function compileNames(patterns: readonly string[]): (name: string) => boolean {
  if (patterns.includes('*')) return () => true;
  return (name) => patterns.some((pattern) => matchesName(pattern, name));
}

/**
 * Where a pattern opens something, it counts as written; where it closes something, it covers whatever might be the
 * same, such as another case of the letters. So a rule can err on the closed side only.
 */
function compileConditions(rule: Rule): Conditions {
  const { effect, commands, gitOperations, providers, models, apps } = rule;
  const path = compilePaths(rule);
  const host = compileHosts(rule);
  return {
    ...(path === undefined ? {} : { path }),
    ...(commands === undefined ? {} : { command: compileAny(commands.map(compileCommandPattern)) }),
    ...(host === undefined ? {} : { host }),
    ...(gitOperations === undefined
      ? {}
      : { gitOperation: compileNames(gitOperations.map((name) => name.toUpperCase())) }),
    ...(providers === undefined ? {} : { provider: compileSpelled(providers, effect) }),
    ...(models === undefined ? {} : { model: compileSpelled(models, effect) }),
    ...(apps === undefined ? {} : { app: compileSpelled(apps, effect) }),
  };
}

function compilePaths({ effect, paths, exceptPaths, access }: Rule): Conditions['path'] {
  if (paths === undefined && exceptPaths === undefined && access === undefined) return undefined;
  const accesses = new Set(access ?? allAccesses);
  const opens = effect === 'allow';
  const covers = opens ? compileWritten(paths ?? ['/**']) : compileAlike(paths ?? ['/**']);
  const excepts = exceptPaths && (opens ? compileAlike(exceptPaths) : compileWritten(exceptPaths));
  return (path) => accesses.has(path.access) && covers(path) && (excepts === undefined || !excepts(path));
}

type ClaimMatcher = (path: ClaimedPath) => boolean;

function compileWritten(patterns: readonly string[]): ClaimMatcher {
  const matches = compileAny(patterns.map((pattern) => compilePathPattern(pattern)));
  return (path) => matches(path.exact);
}

/** Whatever some file system takes for the same: other letters for the same name. */
function compileAlike(patterns: readonly string[]): ClaimMatcher {
  const inSpelling = (spelling: 'lowered' | 'folded') =>
    compileAny(patterns.map((pattern) => compilePathPattern(pattern, spelling)));
  const lowered = inSpelling('lowered');
  // Few paths need it, and most sets of rules never see one.
  let folded: ReturnType<typeof inSpelling> | undefined;
  return (path) =>
    lowered(path.lowered) || (path.folded !== undefined && (folded ??= inSpelling('folded'))(path.folded));
}

function compileHosts({ effect, hosts, exceptHosts }: Rule): Conditions['host'] {
  if (hosts === undefined && exceptHosts === undefined) return undefined;
  const opens = effect === 'allow';
  const covers = compileHostList(hosts ?? ['*'], opens ? containsHost : overlapsHost);
  const excepts = exceptHosts && compileHostList(exceptHosts, opens ? overlapsHost : containsHost);
  return (host) => covers(host) && (excepts === undefined || !excepts(host));
}

function compileHostList(
  texts: readonly string[],
  compare: (pattern: HostPattern, host: HostPattern) => boolean,
): (host: HostPattern) => boolean {
  const patterns = texts
    .map((text) => (text === '*' ? everyHost : parseHost(text)))
    .filter((host) => host !== undefined);
  return (host) => patterns.some((pattern) => compare(pattern, host));
}

function compileSpelled(patterns: readonly string[], effect: Rule['effect']): (name: string) => boolean {
  if (effect === 'allow') return compileNames(patterns);
  const covers = compileNames(patterns.map(lowerAscii));
  return (name) => covers(lowerAscii(name));
}

function compileAny<T>(matchers: readonly ((thing: T) => boolean)[]): (thing: T) => boolean {
  return (thing) => {
    for (const matches of matchers) if (matches(thing)) return true;
    return false;
  };
}
