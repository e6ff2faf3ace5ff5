import { refuseArguments } from './git-arguments.ts';
import type { GitOperation } from './git-operation.ts';
import { isAddress } from './resolve-remote.ts';

const list = (text: string): readonly string[] => text.split(' ');

const remote = { mutates: true, timeoutMs: 300_000, before: 'names', takesPaths: false } as const;

/** What a caller writes instead of an option of these operations, and what the gate says to it. */
const noUpstream = 'Leave out -u: the configuration of the repository is closed to git here.';

export const networkOperations: readonly GitOperation[] = [
  {
    ...remote,
    name: 'CLONE',
    example: ['https://git.example/team/app.git', 'app'],
    description: 'Copy a repository from an https address, or from a folder that the rules allow, into a new folder.',
    risk: 'medium',
    options: {
      flags: list('-q --quiet -v --verbose --single-branch --no-single-branch --no-tags'),
      values: { '--depth': 'number', '-b': 'name', '--branch': 'name' },
    },
    maxBefore: 2,
    fixed: ['--no-checkout', '--no-local', '--template=', '--no-recurse-submodules', '--origin=origin'],
    remote: 'fetch',
    check: ({ before }) => {
      if (before.length === 0) throw refuseArguments('git clone needs the address of a repository.');
    },
  },
  {
    ...remote,
    name: 'FETCH',
    example: ['origin'],
    description: 'Get the newest commits of a remote (default: origin).',
    risk: 'medium',
    options: {
      flags: list('-q --quiet -v --verbose -p --prune --tags -t --no-tags --unshallow --dry-run'),
      values: { '--depth': 'number', '--deepen': 'number' },
    },
    fixed: ['--no-recurse-submodules', '--no-auto-maintenance', '--no-write-commit-graph'],
    remote: 'fetch',
    check: ({ before }) => checkFetched(before),
  },
  {
    ...remote,
    name: 'PULL',
    example: ['--ff-only', 'origin', 'main'],
    description:
      'Get the newest commits of a branch of a remote and merge them, or rebase onto them with --rebase. Default: the remote origin, and the branch with the name of the current one.',
    risk: 'high',
    options: {
      flags: list('--ff-only --ff --no-ff --rebase -r --no-rebase -q --quiet --no-edit --stat --no-stat --tags'),
    },
    maxBefore: 2,
    fixed: [],
    remote: 'fetch',
    check: ({ before }) => checkFetched(before),
  },
  {
    ...remote,
    name: 'PUSH',
    example: ['origin', 'main'],
    description: `Send commits to a remote, origin unless another is named. ${noUpstream}`,
    risk: 'high',
    options: {
      flags: list('-q --quiet -v --verbose --tags --follow-tags -n --dry-run --force-with-lease --atomic --no-verify'),
      attached: ['--force-with-lease'],
    },
    fixed: ['--no-recurse-submodules', '--no-signed'],
    remote: 'push',
    check: ({ before: [, ...refspecs] }) => {
      if (refspecs.some((refspec) => ownPlaces.test(refspec.split(':')[1] ?? ''))) {
        throw refuseArguments(
          'git push sends nothing to refs/remotes or refs/replace here.',
          'Name a branch or a tag.',
        );
      }
      if (refspecs.some((refspec) => refspec.startsWith('+') || refspec.startsWith(':'))) {
        throw refuseArguments(
          'git push neither overwrites nor deletes branches by a refspec here.',
          'Use --force-with-lease, which shows in the arguments.',
        );
      }
    },
  },
];

/**
 * What is fetched stays apart from the user's own branches and tags, which a refspec could overwrite. Nor does it pass for
 * what another remote has: who is asked about a push is shown what the remote does not have.
 */
function checkFetched([from = 'origin', ...refspecs]: readonly string[]): void {
  const own = isAddress(from) ? undefined : `refs/remotes/${from}/`;
  const isApart = (refspec: string): boolean => {
    const [source = '', ...to] = refspec.split(':');
    if (to.length === 0) return !source.startsWith('+');
    return to.length === 1 && own !== undefined && to[0]?.startsWith(own) === true;
  };
  if (refspecs.every(isApart)) return;
  throw refuseArguments(
    'git fetch does not write to branches and tags of this repository here, nor to those of another remote.',
    `Name the branch alone, such as main, and merge it${own === undefined ? '' : `; or let the refspec end in ${own}`}.`,
  );
}

/** To the repository itself they would say what a remote has, or let git read one commit in the place of another. */
const ownPlaces = /^refs\/(?:remotes|replace)\//;
