import { isWithin, printable } from './canonical-path.ts';
import type { ClaimedPath, CompiledRule } from './compile-rules.ts';
import type { Asked } from './rule-index.ts';

export interface Explanation {
  readonly reason: string;
  readonly remedy: string;
}

/** How to speak about the rules to the person who can change them. */
export interface RulesPlace {
  /** What to do before the suggested rule is written, ending where the rule follows. */
  readonly howToAdd: string;
  readonly workspace: string;
}

/** Says why nothing matched, which rule came near, and the shortest rule that would allow the call. */
export function explainNoRule(
  asked: Asked,
  path: ClaimedPath | undefined,
  rules: readonly CompiledRule[],
  place: RulesPlace,
): Explanation {
  const what = `${describeCall(asked, path)} by ${asked.principal} ${printable(asked.agent)} in mode ${asked.mode}`;
  const opening = rules.filter(
    (rule) =>
      rule.rule.effect !== 'deny' && rule.coversTool(asked.tool.name) && rule.coversAgent?.(asked.agent) !== false,
  );
  const reason = [`No rule allows ${what}.`, ...explainNearMiss(asked, path, opening)].join(' ');
  const remedy = `If it should be allowed, ${place.howToAdd} ${suggestRule(asked, path, place.workspace)}`;
  return { reason, remedy };
}

export function describeCall(asked: Asked, path: ClaimedPath | undefined): string {
  return path === undefined ? asked.tool.name : `${asked.tool.name} to ${path.access} ${printable(path.path)}`;
}

/** At most one sentence: the rule that misses by one property alone says more than a list. */
function explainNearMiss(asked: Asked, path: ClaimedPath | undefined, rules: readonly CompiledRule[]): string[] {
  const coversPath = (rule: CompiledRule): boolean =>
    rule.coversPath === undefined || (path !== undefined && rule.coversPath(path));
  const named = ({ reference }: CompiledRule): string => `Rule ${reference.id}, line ${reference.line}, covers it`;

  const otherMode = rules.find((rule) => rule.who.has(asked.principal) && coversPath(rule));
  if (otherMode !== undefined) return [`${named(otherMode)} in ${[...otherMode.modes].join(', ')} only.`];
  const otherPrincipal = rules.find((rule) => rule.modes.has(asked.mode) && coversPath(rule));
  if (otherPrincipal !== undefined) return [`${named(otherPrincipal)} for ${[...otherPrincipal.who].join(', ')} only.`];
  const otherPath = rules.find(
    ({ rule, who, modes }) =>
      who.has(asked.principal) &&
      modes.has(asked.mode) &&
      (path === undefined || rule.access === undefined || rule.access.includes(path.access)),
  );
  if (otherPath?.rule.paths === undefined) return [];
  return [`Rule ${otherPath.reference.id} covers ${otherPath.rule.paths.slice(0, 3).join(', ')}.`];
}

function suggestRule(asked: Asked, path: ClaimedPath | undefined, workspace: string): string {
  const { name } = asked.tool;
  const slug = name.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-');
  const parts = [
    `id: allow-${slug}`,
    'effect: allow',
    `tools: [${/^[\w.-]+$/.test(name) ? name : JSON.stringify(name)}]`,
  ];
  if (path !== undefined) parts.push(`paths: [${JSON.stringify(patternFor(path.path, workspace))}]`);
  return `- {${parts.join(', ')}}`;
}

/** A pattern for this path. What is special or unprintable in its name becomes `?`, which any character satisfies. */
function patternFor(path: string, workspace: string): string {
  const inWorkspace = isWithin(workspace, path);
  const rest = inWorkspace ? path.slice(workspace === '/' ? 0 : workspace.length) : path;
  return (inWorkspace ? '$WORKSPACE' : '') + rest.replaceAll(/[*?[\]{}\\$]|\p{C}|\p{Zl}|\p{Zp}/gu, '?');
}
