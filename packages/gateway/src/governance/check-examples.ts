import { isCanonicalPath, printable } from './canonical-path.ts';
import { createPathClaimer } from './compile-rules.ts';
import type { CompiledRule } from './compile-rules.ts';
import type { PathVariables } from './place-path.ts';
import { accesses } from './rule.ts';
import type { Example, Problem } from './rule.ts';

/** Runs the examples of one rule against that rule alone. Returns those that do not come out as written. */
export function checkExamples(compiled: CompiledRule, variables: PathVariables): readonly Problem[] {
  const { id, file, examples } = compiled.rule;
  return examples.flatMap((example) => {
    const why = findFailure(example, compiled, variables);
    return why === undefined ? [] : [{ file, ...example.position, message: `example of rule ${id}: ${why}` }];
  });
}

function findFailure(example: Example, compiled: CompiledRule, variables: PathVariables): string | undefined {
  const path = example.path === undefined ? undefined : expandPath(example.path, variables);
  if (path !== undefined && !isCanonicalPath(path)) {
    return 'the path must be absolute, or start with $HOME or $WORKSPACE, and be written plainly';
  }
  const mismatch = findMismatch({ ...example, ...(path === undefined ? {} : { path }) }, compiled, variables);
  if (example.expected === 'match') {
    return mismatch === undefined ? undefined : `it must match, but ${mismatch}`;
  }
  return mismatch === undefined ? 'it must not match, but it does' : undefined;
}

/**
 * Which part keeps the rule from matching; undefined when it matches. What the example leaves open may be anything, so
 * `match` says that some such call matches, and `not_match` that none does.
 */
function findMismatch(example: Example, compiled: CompiledRule, variables: PathVariables): string | undefined {
  const { tool, who, agent, mode, path } = example;
  if (!compiled.coversTool(tool)) return `the rule does not name the tool ${printable(tool)}`;
  if (who !== undefined && !compiled.who.has(who)) return `the rule is not for ${who}`;
  if (agent !== undefined && compiled.coversAgent?.(agent) === false) return `the rule is not for ${printable(agent)}`;
  if (mode !== undefined && !compiled.modes.has(mode)) return `the rule is not for mode ${mode}`;
  const { coversPath } = compiled;
  if (coversPath === undefined) return undefined;
  if (path === undefined) return 'the rule looks at paths and the example has none';
  const claimPath = createPathClaimer(variables);
  const tried = example.access === undefined ? accesses : [example.access];
  if (tried.some((access) => coversPath(claimPath({ path, access })))) return undefined;
  return `the rule does not cover ${tried.length === 1 ? `${tried[0]} access to ` : ''}${printable(path)}`;
}

function expandPath(text: string, variables: PathVariables): string {
  return text.replace(/^\$(HOME|WORKSPACE)(?=\/|$)/, (whole, name: keyof PathVariables) => variables[name][0] ?? whole);
}
