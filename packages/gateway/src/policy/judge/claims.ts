import type { PathClaim, Resources, ToolDefinition } from '../../call/tool.ts';
import { foldPath, isCanonicalPath, lowerAscii } from '../patterns/canonical-path.ts';
import { printable } from '../../text/printable.ts';
import { parseCommand } from '../patterns/command-pattern.ts';
import type { ClaimedCommand } from '../patterns/command-pattern.ts';
import { parseHost } from '../patterns/host-pattern.ts';
import type { HostPattern } from '../patterns/host-pattern.ts';
import { createPathPlacer } from './place-path.ts';
import type { PathVariables, PlacedPath } from './place-path.ts';
import { accesses } from '../language/rule.ts';

/** One path of a call, cut up once and shown to every rule. */
export interface ClaimedPath extends PathClaim {
  readonly exact: PlacedPath;
  /** The same after `lowerAscii`. */
  readonly lowered: PlacedPath;
  /** The same after `foldPath`. Absent: that changes nothing more, as with all plain letters. */
  readonly folded?: PlacedPath;
}

/** What a call would touch, by kind, as rules see it. A combination of one of each kind is what a rule covers or not. */
export interface Claims {
  readonly path: readonly ClaimedPath[];
  readonly command: readonly ClaimedCommand[];
  readonly host: readonly HostPattern[];
  readonly gitOperation: readonly string[];
  readonly provider: readonly string[];
  readonly model: readonly string[];
  readonly app: readonly string[];
}

export type Kind = keyof Claims;

/** Paths come first: they are many, and rules are found by them. */
export const kinds = ['path', 'command', 'host', 'gitOperation', 'provider', 'model', 'app'] as const satisfies Kind[];

/** One thing of a call, with its kind. */
export type Claim = { readonly [K in Kind]: { readonly kind: K; readonly claim: Claims[K][number] } }[Kind];

/** Tools declare the kinds of things they reach. For other kinds, a call that names nothing reaches nothing. */
const scopes = { path: 'paths', command: 'commands', host: 'network', app: 'apps' } as const;

/**
 * Whether calls of the tool may touch things of a kind without naming them. A sandbox shows its program only what is
 * granted and not denied, so that there it is enough to look at the grants.
 */
export function reachesUnnamed({ scopes: reached, requiresSandbox }: ToolDefinition, kind: Kind): boolean {
  if (!(kind in scopes) || !reached.includes(scopes[kind as keyof typeof scopes])) return false;
  return !requiresSandbox || (kind !== 'path' && kind !== 'host');
}

/** Something a call names in a way that no rule can be compared with. */
export interface OddClaim {
  readonly kind: Kind;
  readonly text: string;
}

export type PathClaimer = (claim: PathClaim) => ClaimedPath;

export function createPathClaimer(variables: PathVariables): PathClaimer {
  const placeExact = createPathPlacer(variables, 'exact');
  const placeLowered = createPathPlacer(variables, 'lowered');
  const placeFolded = createPathPlacer(variables, 'folded');
  const foldersAreLowered = Object.values(variables)
    .flat()
    .every((folder) => lowerAscii(folder) === folder);
  return ({ path, access }) => {
    const exact = placeExact(path);
    const lowered = lowerAscii(path);
    // Most paths have no capitals, and most folders too; then both spellings are one.
    const same = foldersAreLowered && lowered === path;
    const folded = foldPath(path);
    return {
      path,
      access,
      exact,
      lowered: same ? exact : placeLowered(lowered),
      ...(folded === lowered ? {} : { folded: placeFolded(folded) }),
    };
  };
}

const none: readonly never[] = [];

/** Everything of a call in the form that rules are compared with, or the first thing that has no such form. */
export function readClaims(resources: Resources, claimPath: PathClaimer): Claims | OddClaim {
  const { paths, hosts, commands, gitOperation, provider, model, apps } = resources;
  for (const { path, access } of paths) {
    if (!accesses.includes(access)) throw new TypeError('a path was claimed without saying for what');
    if (!isCanonicalPath(path)) return { kind: 'path', text: path };
  }
  const command = commands === undefined ? none : parseAll('command', commands, parseCommand);
  if ('kind' in command) return command;
  const host = hosts === undefined ? none : parseAll('host', hosts, parseSingleHost);
  if ('kind' in host) return host;
  const app = apps === undefined ? none : parseAll('app', apps, parseName);
  if ('kind' in app) return app;
  for (const [kind, name] of [
    ['gitOperation', gitOperation],
    ['provider', provider],
    ['model', model],
  ] as const) {
    if (name !== undefined && parseName(name) === undefined) return { kind, text: name };
  }
  return {
    path: paths.map(claimPath),
    command,
    host,
    gitOperation: gitOperation === undefined ? none : [gitOperation.toUpperCase()],
    provider: provider === undefined ? none : [provider],
    model: model === undefined ? none : [model],
    app,
  };
}

function parseAll<T>(
  kind: Kind,
  texts: readonly string[],
  parse: (text: string) => T | undefined,
): readonly T[] | OddClaim {
  const parsed: T[] = [];
  for (const text of texts) {
    const each = parse(text);
    if (each === undefined) return { kind, text };
    parsed.push(each);
  }
  return parsed;
}

function parseSingleHost(text: string): HostPattern | undefined {
  const host = parseHost(text);
  return host?.below === true ? undefined : host;
}

function parseName(name: string): string | undefined {
  return name.length > 0 && name.length <= 1000 && !/\p{Cc}/u.test(name) && name.isWellFormed() ? name : undefined;
}

/** The claims of a call that names these things and no others. */
export function gatherClaims(things: readonly Claim[]): Claims {
  const gathered: { [K in Kind]: Claims[K][number][] } = {
    path: [],
    command: [],
    host: [],
    gitOperation: [],
    provider: [],
    model: [],
    app: [],
  };
  for (const { kind, claim } of things) (gathered[kind] as (typeof claim)[]).push(claim);
  return gathered;
}

/** What a call does with a thing, as it follows the name of its tool. */
export function describeClaim({ kind, claim }: Claim): string {
  switch (kind) {
    case 'path':
      return `to ${claim.access} ${printable(claim.path)}`;
    case 'command':
      return `to run ${printable(claim.text)}`;
    case 'host':
      return `to reach ${printable(claim.text)}`;
    case 'gitOperation':
      return `for git ${printable(claim)}`;
    case 'provider':
    case 'model':
    case 'app':
      return `with ${kind} ${printable(claim)}`;
  }
}
