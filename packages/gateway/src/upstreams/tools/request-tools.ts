import { refuse } from '../../call/refusal.ts';
import { ToolRefused } from '../../call/tool.ts';
import type { AnyTool } from '../../call/tool.ts';
import { requestKinds, requestTools } from '../requests/request-kinds.ts';

/** The names of server requests in rules. `policy explain` knows them, but nobody can call them. */
export function namedRequests(): readonly AnyTool[] {
  return requestKinds.map((kind) => {
    const definition = requestTools[kind];
    const text = `${definition.name} is not called: upstream servers ask for it, and rules decide about it under this name.`;
    const refusal = refuse('TOOL_NOT_ACCEPTED', 'registry', text);
    const never = (): never => {
      throw new ToolRefused(refusal);
    };
    return {
      definition,
      claim: () => ({ paths: [] }),
      preview: async () => never(),
      explainUnusable: () => refusal,
      run: async () => never(),
      summarize: never,
    };
  });
}
