import { readdirSync } from 'node:fs';
import type { Finding } from '../language/check-rules.ts';
import { ruleFileNames } from '../language/rule.ts';

/** Files that lie beside the rules, and that other parts of the gate read. */
const others = ['providers.yaml', 'notifications.yaml'];

/** Files in the folder of the rules that look like rules, and that nobody reads. */
export function findUnread(folder: string): readonly Finding[] {
  const known = new Set<string>([...ruleFileNames, ...others]);
  return readdirSync(folder)
    .filter((name) => /\.ya?ml$/i.test(name) && !known.has(name))
    .map((name) => ({
      kind: 'unread-file',
      message: `The file ${JSON.stringify(name)} is not read. Rules about calls belong in tools.yaml.`,
    }));
}
