import { isToolName } from '../registry/tool-name.ts';

const spellable = /^[A-Za-z0-9_./-]+$/;

/**
 * What the gate calls a tool of a server: `github` and `createIssue` make `github.create_issue`. Undefined: its name
 * has characters that no tool may have, or is too long.
 */
export function nameTool(upstream: string, theirs: string): string | undefined {
  if (!spellable.test(theirs)) return undefined;
  const spelled = theirs
    .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
    .replaceAll('/', '.')
    .toLowerCase();
  const name = `${upstream}.${spelled}`;
  return isToolName(name) ? name : undefined;
}
