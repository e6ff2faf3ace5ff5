import type { ToolDefinition } from '../../call/tool.ts';

/** Whether a name fits a pattern in which `*` stands for any text. Linear in both, whatever the pattern. */
export function matchesName(pattern: string, name: string): boolean {
  return pattern === name || pattern === '*' || matchesParts(pattern.split('*'), name);
}

/** Whether one of the patterns names the tool. The alias of a built-in tool does too; others choose theirs themselves. */
export function namesTool(
  patterns: readonly string[],
  { name, aliases = [], origin }: { readonly name: string } & Partial<Pick<ToolDefinition, 'aliases' | 'origin'>>,
): boolean {
  const isAlias = (pattern: string): boolean => origin === undefined && aliases.includes(pattern);
  return patterns.some((pattern) => matchesName(pattern, name) || isAlias(pattern));
}

/** As `matchesName`, for a pattern that was cut at its stars: the name has the parts in this order, with any text between. */
export function matchesParts(parts: readonly string[], name: string): boolean {
  const first = parts[0] ?? '';
  if (parts.length === 1) return name === first;
  const last = parts.at(-1) ?? '';
  if (name.length < first.length + last.length || !name.startsWith(first) || !name.endsWith(last)) return false;
  let at = first.length;
  const end = name.length - last.length;
  for (const part of parts.slice(1, -1)) {
    const found = name.indexOf(part, at);
    if (found < 0 || found + part.length > end) return false;
    at = found + part.length;
  }
  return true;
}
