import { globSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './workspace.ts';

/** Beside the code, without processes of their own: they share one. */
export function listUnitTests(): string[] {
  return list('packages/*/src/**/*.test.ts');
}

/** Each in a process of its own, beside others: none may depend on a quiet machine. */
export function listProcessTests(): string[] {
  return list('test/**/*.test.ts');
}

function list(pattern: string): string[] {
  const exclude = (name: string): boolean => name.includes('node_modules');
  return globSync(pattern, { cwd: root, exclude })
    .map((file) => join(root, file))
    .sort();
}
