import { accessSync, constants, realpathSync } from 'node:fs';
import { basename, delimiter, dirname, join, resolve } from 'node:path';

import { isCheckout } from '../commands/package-files.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * How the person at this terminal runs the program again, so that suggested commands can be copied: by its bare name
 * where that is installed, through npx in a checkout or a project; with SALLYPORT_HOME where that is set.
 */
export function findCommandName(program: string, environment: Environment): string {
  const name = isOnPath(program, environment['PATH'] ?? '') ? 'sallyport' : 'npx sallyport';
  const home = environment['SALLYPORT_HOME'];
  return home ? `SALLYPORT_HOME=${quoteForShell(resolve(home))} ${name}` : name;
}

/** npm puts node_modules/.bin on the path of what it runs; the person's own shell does not have that. */
function isOnPath(program: string, path: string): boolean {
  const own = realpathSync(program);
  return path.split(delimiter).some((folder) => {
    if (folder === '' || (basename(folder) === '.bin' && basename(dirname(folder)) === 'node_modules')) return false;
    try {
      const candidate = join(folder, 'sallyport');
      accessSync(candidate, constants.X_OK);
      return realpathSync(candidate) === own;
    } catch {
      return false;
    }
  });
}

/** Plain words stay as they are; everything else is one word for a POSIX shell. */
export function quoteForShell(text: string): string {
  return /^[\w./:@%+=,-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}

/** In a checkout npm starts the daemon; an installed program starts itself. */
export function findStartCommand(commandName: string): string {
  return isCheckout() ? commandName.replace(/npx sallyport$/, 'npm start') : `${commandName} up`;
}
