import type { AnyTool } from '../../model/tool.ts';
import { shellRun } from './shell-run.ts';

export function shellTools(): readonly AnyTool[] {
  return [shellRun];
}
