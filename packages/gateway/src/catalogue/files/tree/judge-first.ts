import { ToolRefused } from '../../../call/tool.ts';

/**
 * For previews that do not look at what the call is about: lets the gates of the run say no before a person is asked.
 * What else goes wrong is for the run to tell: a caller without consent should not learn from it what there is.
 */
export async function judgeFirst(approach: () => void | Promise<void>): Promise<void> {
  try {
    await approach();
  } catch (error) {
    if (error instanceof ToolRefused) throw error;
  }
}
