import type { Mode, Principal } from '../../call/session.ts';
import { printable } from '../../text/printable.ts';
import type { Circumstances, NamedTool } from './circumstances.ts';
import type { Claims, Kind } from './claims.ts';
import type { CompiledRule } from '../language/compile-rules.ts';
import { origins } from '../language/rule.ts';

/** What is known about a call, apart from its things. */
export interface Facts extends Circumstances {
  readonly tool: NamedTool;
  /** The tool may come from anywhere. Absent: from where it says. */
  readonly anyOrigin?: boolean;
  readonly principal?: Principal;
  readonly mode?: Mode;
}

export const kindNames: Readonly<Record<Kind, string>> = {
  path: 'path',
  command: 'command',
  host: 'host',
  gitOperation: 'git operation',
  provider: 'provider',
  model: 'model',
  app: 'app',
};

export interface MismatchOptions {
  /** Whether what is not known fits the rule. `by-effect`: only where the rule closes something, as for a real call. */
  readonly unknown: 'fits' | 'by-effect';
  /** Whether the tool may touch things of a kind without naming them. Absent: it may not. */
  readonly reachesUnnamed?: (kind: Kind) => boolean;
}

/**
 * What keeps a rule from matching, as the end of a sentence; undefined when it matches at least one combination of the
 * things. Made of the same comparisons that decide calls.
 */
export function findMismatch(
  compiled: CompiledRule,
  facts: Facts,
  claims: Claims,
  { unknown, reachesUnnamed = () => false }: MismatchOptions,
): string | undefined {
  const { principal, mode } = facts;
  const closes = compiled.rule.effect !== 'allow';
  if (!namesTool(compiled, facts)) return `the rule does not name the tool ${printable(facts.tool.name)}`;
  if (principal !== undefined && !compiled.who.has(principal)) return `the rule is not for ${principal}`;
  if (mode !== undefined && !compiled.modes.has(mode)) return `the rule is not for mode ${mode}`;
  for (const { key, holds, mismatch } of compiled.circumstances) {
    const known = holds(facts);
    if (known === undefined && unknown !== 'fits' && !closes)
      return `the rule looks at ${key}, which are not known for this call`;
    if (known === false) return mismatch(facts);
  }
  for (const kind of compiled.kinds) {
    const claimed: readonly unknown[] = claims[kind];
    if (claimed.length === 0) {
      if (closes && reachesUnnamed(kind)) continue;
      return `the rule looks at ${kindNames[kind]}s and the call names none`;
    }
    const covers = compiled.conditions[kind] as ((claim: unknown) => boolean) | undefined;
    if (covers !== undefined && !claimed.some(covers)) return `the rule does not cover ${describe(kind, claims)}`;
  }
  return undefined;
}

function namesTool(compiled: CompiledRule, { tool, anyOrigin = false }: Facts): boolean {
  if (!anyOrigin) return compiled.coversTool(tool);
  return origins.some((origin) => compiled.coversTool(origin === 'builtin' ? tool : { ...tool, origin }));
}

/** The first thing of the kind; with its access, when all of the same path have one. */
function describe(kind: Kind, claims: Claims): string {
  const [path] = claims.path;
  if (kind === 'path' && path !== undefined) {
    const access = claims.path.every((claim) => claim.access === path.access) ? `${path.access} access to ` : '';
    return `${access}${printable(path.path)}`;
  }
  if (kind === 'path') return '';
  const [thing] = claims[kind];
  return printable(typeof thing === 'object' ? thing.text : (thing ?? ''));
}
