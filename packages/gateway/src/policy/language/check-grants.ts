import { resolveLinks } from '../patterns/canonical-path.ts';
import { expandPath } from '../judge/place-path.ts';
import type { PathVariables } from '../judge/place-path.ts';
import type { ProtectedPaths } from '../judge/protected-paths.ts';
import type { Rule } from './rule.ts';
import type { Problem } from '../../text/source-file.ts';

/**
 * The paths of a rule's grants that no rule opens. A program that gets a folder gets all of it, so that a folder around
 * something protected is refused like the thing itself.
 */
export function checkGrants(rule: Rule, variables: PathVariables, protectedPaths: ProtectedPaths): readonly Problem[] {
  const { grants, file, id } = rule;
  return [...(grants?.read ?? []), ...(grants?.write ?? [])].flatMap(({ text, position }) => {
    const path = expandPath(text, variables);
    const why = protectedPaths.explain(path, 'write') ?? protectedPaths.explain(resolveLinks(path), 'write');
    if (why === undefined) return [];
    return [{ file, ...position, message: `rule ${id} grants ${text}, which ${why}; no rule opens it` }];
  });
}
