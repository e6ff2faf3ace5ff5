import type { AnyTool } from '../../call/tool.ts';
import { inferenceCall } from './inference-call.ts';
import type { InferenceParts } from './inference-call.ts';

export function inferenceTools(parts: InferenceParts): readonly AnyTool[] {
  return [inferenceCall(parts)];
}
