import type { AnyTool } from '../../model/tool.ts';
import { applyTool, promoteTool } from './change-rules.ts';
import { shadowTool } from './count-shadow.ts';
import { explainTool } from './explain-call.ts';
import { checkTool, statusTool } from './inspect-rules.ts';
import type { PolicyToolParts } from './policy-parts.ts';
import { replayTool } from './replay-calls.ts';
import { testTool } from './test-cases.ts';

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
