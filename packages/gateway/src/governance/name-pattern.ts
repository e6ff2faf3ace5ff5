/** Whether a name fits a pattern in which `*` stands for any text. Linear in both, whatever the pattern. */
export function matchesName(pattern: string, name: string): boolean {
  if (pattern === name || pattern === '*') return true;
  const parts = pattern.split('*');
  if (parts.length === 1) return false;
  const first = parts[0] ?? '';
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
