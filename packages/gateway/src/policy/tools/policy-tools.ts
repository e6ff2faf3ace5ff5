import type { AnyTool } from '../../call/tool.ts';
import { applyTool, promoteTool } from './change-rules.ts';
import { shadowTool } from '../replay/count-shadow.ts';
import { explainTool } from './explain-call.ts';
import { checkTool, statusTool } from './inspect-rules.ts';
import type { PolicyToolParts } from './policy-parts.ts';
import { replayTool } from '../replay/replay-calls.ts';
import { testTool } from '../replay/test-cases.ts';

/** Understanding and changing the rules. Nothing changes what is in force but `policy.apply` and `policy.promote`. */
export function policyTools(parts: PolicyToolParts): readonly AnyTool[] {
  return [
    statusTool(parts),
    checkTool(parts),
    explainTool(parts),
    testTool(parts),
    replayTool(parts),
    shadowTool(parts),
    applyTool(parts),
    promoteTool(parts),
  ];
}
