import { printable } from '../../text/printable.ts';
import { isWithin } from '@sallyport/sandbox';
import { describeClaim, gatherClaims } from './claims.ts';
import type { Claim, Kind } from './claims.ts';
import { fitsCircumstances } from '../language/compile-rules.ts';
import type { CompiledRule } from '../language/compile-rules.ts';
import type { Rule } from '../language/rule.ts';
import { joinWords } from '../patterns/shell-words.ts';
import type { ApplicableRules, Asked } from './rule-index.ts';

export interface Explanation {
  readonly reason: string;
  readonly forOperators: string;
}

/** How to speak about the rules to the person who can change them. */
export interface RulesPlace {
  /** What to do before the suggested rule is written, ending where the rule follows. */
  readonly howToAdd: string;
  readonly workspace: string;
  /** Names that a suggested rule cannot have. */
  readonly ruleIds: ReadonlySet<string>;
}

/** Says that nothing matched; and to operators, which rule came near and the shortest rule that would allow the call. */
export function explainNoRule(
  asked: Asked,
  combination: readonly Claim[],
  applicable: Pick<ApplicableRules, 'open' | 'elsewhere'>,
  place: RulesPlace,
): Explanation {
  const what = `${describeCall(asked, combination)} by ${asked.principal} ${printable(asked.agent)} in mode ${asked.mode}`;
  const forOperators = [
    ...explainNearMiss(asked, combination, applicable),
    `If it should be allowed, run \`sallyport policy allow\` with the id of the call; or ${place.howToAdd} ${suggestRule(asked, combination, place)}`,
  ].join(' ');
  return { reason: `No rule allows ${what}.`, forOperators };
}

export function describeCall(asked: Asked, combination: readonly Claim[]): string {
  return [asked.tool.name, ...combination.map(describeClaim)].join(' ');
}

/** Denials are as frequent as hostile callers like, so that not every rule is looked at. */
const mostNearMisses = 20;

/** At most one sentence: the rule that misses by one property alone says more than a list. */
function explainNearMiss(
  asked: Asked,
  combination: readonly Claim[],
  { open, elsewhere }: Pick<ApplicableRules, 'open' | 'elsewhere'>,
): string[] {
  const covering = elsewhere
    .near(asked, gatherClaims(combination))
    .slice(0, mostNearMisses)
    .filter((rule) => fitsCircumstances(rule, asked) && listMissed(rule, combination).length === 0);
  const named = ({ reference }: CompiledRule): string => `Rule ${reference.id} covers it`;

  const otherMode = covering.find((rule) => rule.who.has(asked.principal));
  if (otherMode !== undefined) return [`${named(otherMode)} in ${[...otherMode.modes].join(', ')} only.`];
  const otherPrincipal = covering.find((rule) => rule.modes.has(asked.mode));
  if (otherPrincipal !== undefined) return [`${named(otherPrincipal)} for ${[...otherPrincipal.who].join(', ')} only.`];
  for (const rule of open.rules.slice(0, mostNearMisses)) {
    const [missed, ...others] = listMissed(rule, combination);
    if (missed === undefined || others.length > 0 || !fitsCircumstances(rule, asked)) continue;
    const patterns = listPatterns(rule, missed, combination);
    if (patterns !== undefined) return [`Rule ${rule.reference.id} covers ${patterns.slice(0, 3).join(', ')}.`];
  }
  return [];
}

/** The kinds that the rule looks at and does not cover. */
function listMissed(rule: CompiledRule, combination: readonly Claim[]): readonly Kind[] {
  return rule.kinds.filter((kind) => !coversKind(rule, kind, combination));
}

function coversKind(rule: CompiledRule, kind: Kind, combination: readonly Claim[]): boolean {
  const claim = combination.find((each) => each.kind === kind)?.claim;
  const covers = rule.conditions[kind] as ((thing: typeof claim) => boolean) | undefined;
  return covers === undefined || (claim !== undefined && covers(claim));
}

/** What the rule names of a kind. Undefined: nothing, or it would have covered the thing but for the access. */
function listPatterns(
  { rule }: CompiledRule,
  kind: Kind,
  combination: readonly Claim[],
): readonly string[] | undefined {
  const path = combination.find((each) => each.kind === 'path');
  if (kind === 'path' && path !== undefined && rule.access?.includes(path.claim.access) === false) return undefined;
  return patternsOf(rule, kind);
}

/** What the rule says about things of a kind. */
export function patternsOf(rule: Rule, kind: Kind): readonly string[] | undefined {
  const patterns = {
    path: rule.paths,
    command: rule.commands,
    host: rule.hosts,
    gitOperation: rule.gitOperations,
    provider: rule.providers,
    model: rule.models,
    app: rule.apps,
  };
  return patterns[kind];
}

const keyOf = {
  path: 'paths',
  command: 'commands',
  host: 'hosts',
  gitOperation: 'git_operations',
  provider: 'providers',
  model: 'models',
  app: 'apps',
} as const satisfies Record<Kind, string>;

function suggestRule(asked: Asked, combination: readonly Claim[], { workspace, ruleIds }: RulesPlace): string {
  const { name } = asked.tool;
  const slug = name.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-');
  const conditions = combination.map(
    (claim) => `${keyOf[claim.kind]}: [${JSON.stringify(patternFor(claim, workspace))}]`,
  );
  const parts = [
    `id: ${findFreeId(`allow-${slug}`, ruleIds)}`,
    'effect: allow',
    `tools: [${/^[\w.-]+$/.test(name) ? name : JSON.stringify(name)}]`,
    ...conditions,
  ];
  return `- {${parts.join(', ')}}`;
}

function findFreeId(wanted: string, taken: ReadonlySet<string>): string {
  if (!taken.has(wanted)) return wanted;
  for (let at = 2; ; at++) if (!taken.has(`${wanted}-${at}`)) return `${wanted}-${at}`;
}

/** A pattern for this one thing. */
function patternFor({ kind, claim }: Claim, workspace: string): string {
  if (kind === 'path') return pathPatternFor(claim.path, workspace);
  if (kind === 'command') return oneLine(joinWords(claim.words));
  return oneLine(kind === 'host' ? claim.text : claim);
}

function pathPatternFor(path: string, workspace: string): string {
  const inWorkspace = isWithin(workspace, path);
  const rest = inWorkspace ? path.slice(workspace === '/' ? 0 : workspace.length) : path;
  return (inWorkspace ? '$WORKSPACE' : '') + exactPathPattern(rest);
}

/** What is special or unprintable in a path becomes `?`, which any character satisfies. */
export function exactPathPattern(path: string): string {
  return path.replaceAll(/[*?[\]{}\\$]|\p{C}|\p{Zl}|\p{Zp}/gu, '?');
}

/** Without what a terminal would act on; in names and words `*` stands for any text. */
function oneLine(text: string): string {
  return text.replaceAll(/\p{C}+|\p{Zl}|\p{Zp}/gu, '*');
}
