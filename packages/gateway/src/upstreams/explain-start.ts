import { existsSync } from 'node:fs';
import { isWithin } from '@sallyport/sandbox';
import type { ProgramNotStarted } from '@sallyport/sandbox';
import type { ServerView } from './build-server-program.ts';
import { ServerEnded } from './program-transport.ts';
import type { UpstreamConfig } from './upstream-config.ts';

/** What every program sees. */
const systemFolders = ['/usr', '/bin', '/lib', '/lib64', '/dev', '/proc'];

/**
 * Why a server that was never there did not start. For operators: it quotes the server, and says what to grant. The first
 * line is enough for a list.
 */
export function explainStart({ name, endpoint }: UpstreamConfig, error: ProgramNotStarted, view: ServerView): string {
  const [why, wrote] = error instanceof ServerEnded ? [`${error.ending}.`, error.stderr] : [error.message, ''];
  const hidden = endpoint.kind === 'stdio' ? endpoint.command.slice(1).filter((word) => isHidden(word, endpoint)) : [];
  const hints = hidden.map((path) => hintAt(path, view));
  const first = [`The upstream server ${name} does not start: ${why}`, ...hints].join(' ');
  return wrote === '' ? first : `${first}\nIt wrote:\n${wrote}`;
}

/** A file of the machine that the command names, and that the sandbox does not show. */
function isHidden(
  word: string,
  { read, write }: { readonly read: readonly string[]; readonly write: readonly string[] },
) {
  if (!word.startsWith('/') || !existsSync(word)) return false;
  return ![...read, ...write, ...systemFolders].some((folder) => isWithin(folder, word));
}

function hintAt(path: string, { protectedPaths }: ServerView): string {
  const why = protectedPaths.explain(path, 'read');
  if (why !== undefined) return `The sandbox does not show it ${path}, which ${why}: put it elsewhere.`;
  return `The sandbox does not show it ${path}: add it with --read, or under paths in its file.`;
}
