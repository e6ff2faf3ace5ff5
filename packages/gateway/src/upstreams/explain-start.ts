import { existsSync } from 'node:fs';
import { isWithin } from '@sallyport/sandbox';
import type { ProgramNotStarted } from '@sallyport/sandbox';
import type { ServerView } from './transport/build-server-program.ts';
import { ServerEnded } from './transport/server-ended.ts';
import type { StdioEndpoint, UpstreamConfig } from './upstream-config.ts';

/** What every program sees. */
const systemFolders = ['/usr', '/bin', '/lib', '/lib64', '/dev', '/proc'];

/**
 * Why a server did not start. For operators: it quotes the server, and says what to grant. The first line is enough for
 * a list.
 */
export function explainStart({ name, endpoint }: UpstreamConfig, error: ProgramNotStarted, view: ServerView): string {
  const [why, wrote] = error instanceof ServerEnded ? [`${error.ending}.`, error.stderr] : [error.message, ''];
  const hints = endpoint.kind === 'stdio' ? hintsFor(endpoint, view) : [];
  const first = [`The upstream server ${name} does not start: ${why}`, ...hints].join(' ');
  return wrote === '' ? first : `${first}\nIt wrote:\n${wrote}`;
}

/** Why no program sees a path that a server needs or was granted, and what to do. Empty: nothing is in the way. */
export function explainProtected(
  { command, read, write }: Pick<StdioEndpoint, 'command' | 'read' | 'write'>,
  { protectedPaths }: Pick<ServerView, 'protectedPaths'>,
): string[] {
  const paths = [...command, ...read, ...write].filter((word) => word.startsWith('/'));
  return [...new Set(paths)].flatMap((path) => {
    const why = protectedPaths.explain(path, 'read');
    return why === undefined ? [] : [`No program sees ${path}, which ${why}: put it elsewhere.`];
  });
}

function hintsFor(endpoint: StdioEndpoint, view: ServerView): string[] {
  const words = endpoint.command.slice(1);
  const isProtected = (word: string): boolean => view.protectedPaths.explain(word, 'read') !== undefined;
  return [
    ...explainProtected(endpoint, view),
    ...words
      .filter((word) => isHidden(word, endpoint) && !isProtected(word))
      .map((path) => `The sandbox does not show it ${path}: add it with --read, or under paths in its file.`),
    ...words
      .filter((word) => relativeFile.test(word))
      .map(
        (word) =>
          `It runs in a folder of its own, where relative paths lead nowhere: give ${word} as an absolute path.`,
      ),
  ];
}

/** `server.js`, `./start`, `dist/main.py`; neither an option nor a package such as `@scope/name`. */
const relativeFile = /^(?![-/@])(?!.*:\/\/)(?:\.{1,2}\/.*|.*\.(?:[cm]?[jt]s|py|rb|sh|jar))$/;

/** A file of the machine that the command names, and that the sandbox does not show. */
function isHidden(
  word: string,
  { read, write }: { readonly read: readonly string[]; readonly write: readonly string[] },
) {
  if (!word.startsWith('/') || !existsSync(word)) return false;
  return ![...read, ...write, ...systemFolders].some((folder) => isWithin(folder, word));
}
