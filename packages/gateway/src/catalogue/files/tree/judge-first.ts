import { ToolRefused } from '../../../call/tool.ts';
import type { Effect, ToolContext } from '../../../call/tool.ts';
import { openFolder } from '../../../paths/open-path.ts';
import { parsePath } from '../../../paths/parse-path.ts';
import { identifyFolder } from './identify-entries.ts';

/**
 * For previews that do not look at what the call is about: lets the gates of the run say no before a person is asked.
 * What else goes wrong is for the run to tell: a caller without consent should not learn from it what there is.
 * Returns what a consent is bound to.
 */
export async function judgeFirst(approach: () => string | Promise<string>): Promise<string> {
  try {
    return await approach();
  } catch (error) {
    if (error instanceof ToolRefused) throw error;
    return 'none';
  }
}

/** The effect of a call that looks into a folder. */
export async function looksInto(given: string, summary: string, context: ToolContext): Promise<Effect> {
  const basis = await judgeFirst(() => {
    using folder = openFolder(parsePath(given, context.workingDirectory), context);
    return identifyFolder(folder);
  });
  return { summary, detail: '', undoable: false, basis };
}
