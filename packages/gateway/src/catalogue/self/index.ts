import type { AnyTool } from '../../call/tool.ts';
import type { Check } from './check.ts';
import { configRead } from './config-read.ts';
import type { ReadSettings } from './config-read.ts';
import { selfCheck } from './self-check.ts';

export interface SelfParts {
  readonly settings: ReadSettings;
  readonly runChecks: () => Promise<readonly Check[]> | readonly Check[];
}

/** What the gate tells about itself. */
export function selfTools({ settings, runChecks }: SelfParts): readonly AnyTool[] {
  return [configRead(settings), selfCheck(runChecks)];
}
