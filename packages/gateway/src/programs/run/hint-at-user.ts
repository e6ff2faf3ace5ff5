import { chooseUser } from '@sallyport/sandbox';
import type { Program } from '@sallyport/sandbox';
import { ownText } from '../../call/redacted.ts';
import type { Redacted } from '../../call/redacted.ts';
import type { ProgramOutput } from './run-program.ts';

const denied = /permission denied|operation not permitted|EACCES|EPERM/i;

/**
 * What a program that was kept from a file cannot know: a daemon of root starts it as another user. Undefined: the daemon
 * is not root's, or nothing of the kind was said.
 */
export function hintAtUser(
  { mounts }: Pick<Program, 'mounts'>,
  { how, stderr }: Pick<ProgramOutput, 'how' | 'stderr'>,
  self: number | undefined = process.getuid?.(),
): Redacted | undefined {
  const hasFailed = how.kind !== 'exited' || how.code !== 0;
  if (self !== 0 || !hasFailed || !denied.test(stderr.bytes.toString('utf8'))) return undefined;
  const user = chooseUser({ uid: 0, gid: 0 }, mounts)?.uid ?? 0;
  return ownText(
    `The program ran as user ${user}, because the daemon runs as root: it cannot open what only root may. ` +
      'The operator can give that user the files, or run the daemon as an ordinary user.',
  );
}
