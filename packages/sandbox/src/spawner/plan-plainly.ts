import { accessSync, constants, existsSync, statSync } from 'node:fs';
import { ProgramNotStarted } from '../program.ts';
import type { Program } from '../program.ts';
import { explainNotExecuted } from '../launch/explain-not-executed.ts';
import type { Launch } from '../launch/launch.ts';

const setpriv = '/usr/bin/setpriv';

/**
 * For `isolation: none`: an ordinary child, except that it waits to be released and is killed when the spawner is. A
 * shell does the waiting and becomes the program; what it adds to its own environment it takes out again.
 */
export function planPlainly(program: Program): Launch {
  checkFile(program);
  const { argv, environment, workingDirectory } = program;
  if (statSync(workingDirectory, { throwIfNoEntry: false })?.isDirectory() !== true) {
    throw new ProgramNotStarted('EXECUTION_ERROR', `The working directory ${workingDirectory} does not exist.`);
  }
  const added = ['PWD', 'OLDPWD', 'SHLVL', '_'].filter((name) => !(name in environment));
  const script = `IFS= read -r go <&3 || exit 125; exec 3<&-; unset go ${added.join(' ')}; exec "$@"`;
  const args = ['-c', script, 'sh', ...argv];
  const descriptors = [{ kind: 'release' }] as const;
  return existsSync(setpriv)
    ? { file: setpriv, args: ['--pdeathsig', 'KILL', '--', '/bin/sh', ...args], environment, descriptors }
    : { file: '/bin/sh', args, environment, descriptors };
}

function checkFile(program: Program): void {
  const [file] = program.argv;
  try {
    accessSync(file, constants.X_OK);
    if (statSync(file).isFile()) return;
  } catch {
    // Reported below.
  }
  throw explainNotExecuted(program);
}
