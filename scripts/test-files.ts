import { globSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './workspace.ts';

/** Beside the code, without processes of their own: they share one. */
export function listUnitTests(): string[] {
  return list('packages/*/src/**/*.test.ts');
}

/** Each in a process of its own. */
export function listProcessTests(): { readonly parallel: string[]; readonly alone: string[] } {
  const files = list('test/**/*.test.ts');
  // What kills daemons or measures time must not share the machine.
  const needsQuiet = (file: string): boolean => /^test\/(?:fault|bench)\//.test(file.slice(root.length + 1));
  return { parallel: files.filter((file) => !needsQuiet(file)), alone: files.filter(needsQuiet) };
}

function list(pattern: string): string[] {
  const exclude = (name: string): boolean => name.includes('node_modules');
  return globSync(pattern, { cwd: root, exclude })
    .map((file) => join(root, file))
    .sort();
}
