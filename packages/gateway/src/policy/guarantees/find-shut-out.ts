import { firstOperator, modes } from '../../call/session.ts';
import type { CompiledRule } from '../language/compile-rules.ts';
import { endedByPeople } from '../judge/mode-policy.ts';
import type { Problem } from '../../text/source-file.ts';

const tool = { name: 'policy.apply', aliases: [], category: 'administration' } as const;

/**
 * The rules under which the operator who owns the gate could not put other rules in force, each with what it lacks. A
 * rule that closes only at some times, or in a mode that the operator can always leave, shuts nobody out for good.
 */
export function findShutOut(rules: readonly CompiledRule[]): readonly Problem[] {
  return rules
    .filter((compiled) => modes.some((mode) => !endedByPeople.includes(mode) && compiled.modes.has(mode)))
    .filter(closesApply)
    .map(({ rule: { id, tools, file, line } }) => ({
      file,
      line,
      column: 1,
      message:
        `rule ${id} denies ${tools.join(', ')} to operators too, so nobody could run \`policy apply\` again; ` +
        'it lacks `who: [agent]`',
    }));
}

function closesApply({ rule, coversTool, who, kinds, circumstances }: CompiledRule): boolean {
  if (rule.effect !== 'deny' || kinds.length > 0 || !who.has('operator') || !coversTool(tool)) return false;
  const asked = { tool, principal: 'operator', agent: firstOperator, arguments: {}, roles: [], teams: [] } as const;
  return circumstances.every(({ holds }) => holds(asked) === true);
}
