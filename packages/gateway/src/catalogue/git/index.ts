import type { AnyTool } from '../../call/tool.ts';
import { changingOperations } from './changing-operations.ts';
import { defineGitTool } from './define-git-tool.ts';
import { networkOperations } from './network-operations.ts';
import { readingOperations } from './reading-operations.ts';

/** One tool for each operation. */
export function gitTools(): readonly AnyTool[] {
  return [...readingOperations, ...changingOperations, ...networkOperations].map(defineGitTool);
}
