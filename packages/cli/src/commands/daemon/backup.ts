import { resolve } from 'node:path';
import { spellCount } from '@sallyport/contract';
import { exitCodes } from '@sallyport/contract/codes';
import { backUpHome, restoreHome } from '@sallyport/gateway';
import type { CommandContext } from '../../command-context.ts';
import { formatTime } from '../../terminal/format-time.ts';
import { wrapWords } from '../../terminal/text-width.ts';
import { makeVisibleLine, visibleJson } from '../../terminal/visible-text.ts';

/** Copies the home of this user's gate, whether it runs or not. */
export async function backUp(file: string, { config, terminal, json }: CommandContext): Promise<number> {
  const target = resolve(config.startFolder, file);
  const { origin, records, madeAtMs } = await backUpHome(config.home, target);
  if (json) terminal.print(visibleJson({ file: target, origin, records, madeAtMs }));
  else {
    const say = (text: string): void => terminal.print(...wrapWords(text, terminal.columns));
    say(
      `Backed up to ${makeVisibleLine(target)}: the log ${origin} with ${spellCount(records, 'record')}, keys, rules, tools, secrets and content.`,
    );
    say('Keep it as safe as the home: it holds the keys. Workspaces and the log of the daemon are not in it.');
  }
  return exitCodes.success;
}

/** Makes the home of a gate from a backup. */
export async function restore(file: string, { config, terminal, json, commandName }: CommandContext): Promise<number> {
  const { origin, records, madeAtMs } = await restoreHome(config.home, resolve(config.startFolder, file));
  if (json) terminal.print(visibleJson({ home: config.home.folder, origin, records, madeAtMs }));
  else {
    const say = (text: string): void => terminal.print(...wrapWords(text, terminal.columns));
    say(`Restored ${makeVisibleLine(config.home.folder)} as it was on ${formatTime(madeAtMs)}.`);
    terminal.print('');
    say(
      `Its log ${origin} goes on after record ${records - 1}, under the same name and key. Never run the gate it was copied from again: two logs of one name that differ are proof of a forgery to everyone who keeps checkpoints. A checkpoint that was signed after the backup does not fit any more; tell those who keep one.`,
    );
    terminal.print('');
    say(
      'The first start ends all sessions and credentials of people, because some may have been revoked since, and puts the restore on record.',
    );
    terminal.print(`  ${commandName} up`);
  }
  return exitCodes.success;
}
