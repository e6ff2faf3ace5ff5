import { exitCodes } from '@sallyport/contract/codes';
import type { CommandContext } from '../../command-context.ts';
import { runSteps, seekConsent } from '../../client/run-steps.ts';
import type { ConsentOptions } from '../../client/run-steps.ts';
import { parseToolReference, readStanding, spellId } from './tool-standing.ts';
import { makeVisibleLine, visibleJson } from '../../terminal/visible-text.ts';

/** Deletes the file of a tool and forgets that it was accepted. */
export function removeTool(text: string, options: ConsentOptions, context: CommandContext): Promise<number> {
  const reference = parseToolReference(text);
  return runSteps(context, async (step) => {
    const { terminal, json } = context;
    const standing = await readStanding(reference, step);
    const { name, version, file } = standing;
    if (!json) {
      const gone = file === '' ? 'Its file is gone already.' : `This deletes ${file} from the tools folder.`;
      terminal.print(`${terminal.paint('bold', spellId(standing))}  ${makeVisibleLine(standing.description)}`);
      terminal.print(makeVisibleLine(gone));
    }
    await seekConsent('Remove it?', options, context);
    const removed = await step('tools.remove', { name, version }, 'agreed');
    terminal.print(json ? visibleJson(removed) : `${spellId(standing)} is removed.`);
    return exitCodes.success;
  });
}
