import type { CompiledRule } from '../language/compile-rules.ts';
import type { Asked } from './rule-index.ts';

/**
 * Whether some call of the tool could be let through, asked about or not, whatever it names. For lists of tools: a call
 * is judged by what it names, and what is not known yet is taken to fit.
 */
export function mayOpen(rules: readonly CompiledRule[], asked: Asked): boolean {
  let opens = false;
  for (const rule of rules) {
    if (!rule.coversTool(asked.tool) || !rule.who.has(asked.principal) || !rule.modes.has(asked.mode)) continue;
    const held = rule.circumstances.map(({ holds }) => holds(asked));
    if (rule.opens) opens ||= held.every((holds) => holds !== false);
    else if (rule.rule.effect === 'deny' && rule.kinds.length === 0 && held.every((holds) => holds === true))
      return false;
  }
  return opens;
}
