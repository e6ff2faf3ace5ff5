import type { AnyTool } from '../../call/tool.ts';
import { shellRun } from './shell-run.ts';

export function shellTools(): readonly AnyTool[] {
  return [shellRun];
}
