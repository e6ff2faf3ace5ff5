import type { Json } from '@sallyport/contract';
import type { AnyTool } from '../call/tool.ts';

/** The same tool, with something taken out of whatever it returns. */
export function hideInResults(tool: AnyTool, hide: (result: Json) => Json): AnyTool {
  return { ...tool, run: async (args, context) => hide(await tool.run(args, context)) };
}
