import { viewFor } from '../../programs/run/mounts-for.ts';
import type { ProgramView } from '../../programs/run/mounts-for.ts';
import type { ProtectedPaths } from '../../policy/judge/protected-paths.ts';
import { defaultProgramLimits, runtimeFolder } from '@sallyport/sandbox';
import type { Program } from '@sallyport/sandbox';
import { refuse } from '../../call/refusal.ts';
import type { LeavingsJudge, SweepBook } from '../../call/sweep.ts';
import { noGrants } from '../../call/verdict.ts';
import type { PackageStore } from '../package-store.ts';
import type { StdioEndpoint } from '../upstream-config.ts';

/** What no server can see, whatever its file says. */
export interface ServerView {
  readonly protectedPaths: ProtectedPaths;
  /** What it must not leave behind, as the rules are now. */
  readonly leavings: () => LeavingsJudge;
  readonly sweeps: SweepBook;
}

export interface ServerProgram {
  readonly program: Program;
  readonly attend: ProgramView['attend'];
}

const anywhere = '/tmp';
/**
 * A server runs for many calls, so its limits of processor time, disk and output are wide. A disk that is nearly full
 * ends it all the same.
 */
const serverLimits = {
  ...defaultProgramLimits,
  cpuMs: 60 * 60_000,
  diskBytes: Number.MAX_SAFE_INTEGER,
  outputBytes: Number.MAX_SAFE_INTEGER,
};
const programFolders = ['/usr/bin', '/usr/local/bin', '/bin'];

/** A server as its file lets it run. Its own program is shown to it; everything else is named in the file. */
export async function buildServerProgram(
  { command, package: pinned, read, write, hosts, environment, unixSockets }: StdioEndpoint,
  given: {
    readonly view: ServerView;
    readonly packages: Pick<PackageStore, 'place'>;
    readonly secrets: Readonly<Record<string, string>>;
    readonly signal: AbortSignal;
  },
): Promise<ServerProgram> {
  const [file, ...args] = command;
  const isOwn =
    pinned === undefined && file.startsWith('/') && !programFolders.some((folder) => file.startsWith(`${folder}/`));
  const grants = { ...noGrants, read: isOwn ? [...read, file] : read, write };
  const judge = (path: string, access: 'read' | 'write') => {
    const why = given.view.protectedPaths.explain(path, access);
    return why === undefined ? undefined : refuse('PROTECTED_PATH', 'protected', `${path} ${why}.`);
  };
  const placed = pinned === undefined ? [] : await given.packages.place(pinned);
  const { leavings, sweeps } = given.view;
  const context = { grants, paths: { judge }, leavings: leavings(), sweeps, signal: given.signal };
  const { mounts, attend } = await viewFor(context, { isStaying: true });
  const program: Program = {
    argv: [findProgram(file), ...args],
    environment: { ...environment, ...given.secrets },
    workingDirectory: anywhere,
    stdin: new Uint8Array(),
    mounts: [...placed, ...mounts],
    hosts,
    unixSockets,
    limits: serverLimits,
    isolation: 'sandbox',
  };
  return { program, attend };
}

function findProgram(file: string): string {
  if (file.startsWith('/')) return file;
  return file === 'node' ? `${runtimeFolder}/bin/node` : `/usr/bin/${file}`;
}
