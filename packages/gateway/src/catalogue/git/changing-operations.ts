import { hasOption, refuseArguments, writeOptions } from './git-arguments.ts';
import type { GitArguments } from './git-arguments.ts';
import type { GitOperation, GitTargets } from './git-operation.ts';
import { plainDiff } from './reading-operations.ts';

const list = (text: string): readonly string[] => text.split(' ');

const names = ['diff', '--name-only', '-z', '--no-renames', ...plainDiff] as const;
const changing = { mutates: true, timeoutMs: 60_000, fixed: [] } as const;

/**
 * Merge strategies are programs that git looks up by name; these are its own. Without `subtree`, which would bring files
 * to another place than the one by which they are judged.
 */
const mergeOptions = {
  '-s': list('ort recursive resolve octopus ours'),
  '--strategy': list('ort recursive resolve octopus ours'),
  '-X': list('ours theirs ignore-space-change ignore-all-space patience histogram minimal'),
  '--strategy-option': list('ours theirs ignore-space-change ignore-all-space patience histogram minimal'),
} as const;

function refuseForbidden(commands: readonly (readonly string[])[]) {
  return { commands, access: 'write', forbidden: 'refuse' } as const;
}

export const changingOperations: readonly GitOperation[] = [
  {
    ...changing,
    name: 'ADD',
    example: ['--', 'src/main.ts'],
    description: 'Stage files for the next commit.',
    risk: 'low',
    options: { flags: list('-A --all -u --update -v --verbose -n --dry-run -N --intent-to-add --no-all') },
    before: 'paths',
    takesPaths: true,
    listEntries: ({ paths }) => ({
      commands: [
        ['ls-files', '-z', '--full-name', '--modified', '--others', '--deleted', '--exclude-standard', '--', ...paths],
      ],
      access: 'read',
      forbidden: 'leave-out',
      entersSubmodules: true,
    }),
  },
  {
    ...changing,
    name: 'COMMIT',
    example: ['-m', 'Explain the start'],
    description: 'Record what is staged. The message is given with -m; no hook and no editor runs.',
    risk: 'medium',
    options: {
      flags: [
        ...list('-a --all --amend --no-edit --allow-empty --allow-empty-message -q --quiet -s --signoff --dry-run'),
        ...list('--no-verify -n --reset-author --only -o --include -i'),
      ],
      values: {
        ...{ '-m': 'text', '--message': 'text', '-F': 'file', '--file': 'file', '--author': 'text', '--date': 'text' },
        ...{ '-C': 'name', '--reuse-message': 'name', '--cleanup': list('strip whitespace verbatim scissors default') },
      },
    },
    before: 'paths',
    takesPaths: true,
    listEntries: ({ options, paths }) =>
      paths.length > 0 || hasOption(options, '-a', '--all')
        ? {
            commands: [['ls-files', '-z', '--full-name', '--modified', '--deleted', '--', ...paths]],
            access: 'read',
            forbidden: 'refuse',
          }
        : undefined,
  },
  {
    ...changing,
    name: 'BRANCH',
    example: ['--list'],
    description: 'List, create, rename or delete branches.',
    risk: 'medium',
    options: {
      flags: [
        ...list('-a --all -r --remotes -v -vv --verbose -l --list --show-current -d --delete -D -m --move -M'),
        ...list('-c --copy -f --force -q --quiet --no-color --no-track --no-column --merged --no-merged'),
      ],
      values: {
        '--contains': 'name',
        '--no-contains': 'name',
        '--points-at': 'name',
        '--sort': 'name',
        '--format': 'text',
      },
      attached: list('--merged --no-merged'),
    },
    before: 'names',
    takesPaths: false,
    check: checkReferences,
    foresee: foreseeBranch,
  },
  {
    ...changing,
    name: 'TAG',
    example: ['v1.2.0'],
    description: 'List, create or delete tags. They are not signed.',
    risk: 'medium',
    options: {
      flags: list('-l --list -d --delete -a --annotate -f --force -n --no-color --no-column'),
      values: {
        ...{ '-m': 'text', '--message': 'text', '-F': 'file', '--file': 'file', '--sort': 'name', '--format': 'text' },
        ...{ '--contains': 'name', '--no-contains': 'name', '--points-at': 'name' },
      },
    },
    before: 'names',
    takesPaths: false,
    check: checkReferences,
    foresee: ({ options, revisions }) =>
      hasOption(options, '-d', '--delete') ? findReferences('refs/tags/', revisions) : [],
  },
  {
    ...changing,
    name: 'CHECKOUT',
    example: ['-b', 'fix-start'],
    description: 'Switch to a branch or commit, or, with -- and paths, put files back as they were.',
    risk: 'high',
    options: {
      flags: list('-f --force -q --quiet --detach -d --ours --theirs -m --merge --no-track --no-guess'),
      values: { '-b': 'name', '-B': 'name', '--orphan': 'name' },
    },
    before: 'either',
    maxBefore: 1,
    takesPaths: true,
    // Guessing a branch of a remote writes the configuration, which stays closed.
    fixed: ['--no-guess'],
    listEntries: listCheckout,
    // What is no revision is a file that git must know.
    foresee: ({ revisions: [revision], paths }) =>
      paths.length === 0
        ? []
        : [
            [
              'ls-files',
              ...(revision === undefined ? [] : [`--with-tree=${revision}`]),
              '--error-unmatch',
              '--',
              ...paths,
            ],
          ],
  },
  {
    ...changing,
    name: 'MERGE',
    example: ['--no-ff', 'fix-start'],
    description: 'Merge other branches into the current branch.',
    risk: 'medium',
    options: {
      flags: [
        ...list(
          '--ff --no-ff --ff-only --squash --no-squash --commit --no-commit --no-edit -q --quiet --stat --no-stat',
        ),
        ...list('--allow-unrelated-histories --abort --quit --no-verify -n'),
      ],
      values: { '-m': 'text', ...mergeOptions },
    },
    before: 'names',
    takesPaths: false,
    listEntries: ({ revisions }) =>
      refuseForbidden(
        revisions.length === 0
          ? [[...names, 'HEAD', '--']]
          : revisions.map((each) => [...names, `HEAD...${each}`, '--']),
      ),
  },
  {
    ...changing,
    name: 'REBASE',
    example: ['main'],
    description: 'Put the commits of a branch on top of another one.',
    risk: 'high',
    options: {
      flags: [
        ...list('--abort --continue --skip --quit -q --quiet -f --force-rebase --no-ff --keep-empty --no-keep-empty'),
        ...list('--no-autostash --no-verify --fork-point --no-fork-point --stat --no-stat -n'),
      ],
      values: { '--onto': 'name', ...mergeOptions },
    },
    before: 'names',
    maxBefore: 2,
    takesPaths: false,
    listEntries: listRebase,
  },
  {
    ...changing,
    name: 'RESET',
    example: ['HEAD', '--', 'src/main.ts'],
    description: 'Move the current branch to a commit; --hard discards uncommitted changes.',
    risk: 'critical',
    options: { flags: list('--soft --mixed --hard --merge --keep -q --quiet -N --intent-to-add') },
    before: 'either',
    maxBefore: 1,
    takesPaths: true,
    listEntries: ({ options, revisions }) =>
      hasOption(options, '--hard', '--merge', '--keep')
        ? refuseForbidden([[...names, ...(revisions.length === 0 ? ['HEAD'] : revisions), '--']])
        : undefined,
  },
  {
    ...changing,
    name: 'STASH',
    example: ['push', '-m', 'half done'],
    description: 'Put changes aside (push), list them (list, show), bring them back (pop, apply) or drop them.',
    risk: 'medium',
    options: {
      flags: list(
        '-k --keep-index --no-keep-index -S --staged -q --quiet --index -p --patch --stat --name-only --name-status',
      ),
      values: { '-m': 'text', '--message': 'text' },
    },
    before: 'names',
    maxBefore: 2,
    takesPaths: true,
    check: ({ before: [command = 'push', ...more], after, options }) => {
      const known = list('push pop apply list show drop');
      if (!known.includes(command))
        throw refuseArguments('git stash does not know this command.', `It takes: ${known.join(' ')}.`);
      // Choosing pieces of a change needs a terminal; with show, the same option shows the change.
      if (command !== 'push' && after !== undefined) throw refuseArguments(`git stash ${command} takes no paths.`);
      if (command === 'push' && (more.length > 0 || hasOption(options, '-p', '--patch'))) {
        throw refuseArguments('git stash push takes paths behind --, and nobody to choose pieces.');
      }
    },
    write: writeStash,
    listEntries: listStash,
    foresee: ({ revisions: [command, ...stash] }) =>
      command === 'drop' ? [['stash', 'show', '--name-only', ...plainDiff, ...stash]] : [],
  },
];

/** A reference may lead to the content of a file, which a format could print without saying which file it is. */
function checkReferences({ options }: GitArguments): void {
  if (options.some(({ name, value = '' }) => name === '--format' && value.includes('raw'))) {
    throw refuseArguments('The format would print objects whole.', 'Use other fields than raw.');
  }
}

/** The branch that is deleted, renamed or copied must be there. Renaming with one name is about the present one. */
function foreseeBranch({ options, revisions }: GitTargets): readonly (readonly string[])[] {
  const kind = hasOption(options, '-r', '--remotes') ? 'refs/remotes/' : 'refs/heads/';
  if (hasOption(options, '-d', '--delete', '-D')) return findReferences(kind, revisions);
  const isMoved = hasOption(options, '-m', '--move', '-M', '-c', '--copy');
  return isMoved && revisions.length > 1 ? findReferences(kind, revisions.slice(0, 1)) : [];
}

/** Names such as `@{-1}` stand for others. */
function findReferences(kind: string, wanted: readonly string[]): readonly (readonly string[])[] {
  const plain = wanted.filter((name) => !name.includes('@{') && name !== '-');
  return plain.length === 0 ? [] : [['show-ref', '--verify', ...plain.map((name) => `${kind}${name}`)]];
}

function listCheckout({ options, revisions, paths }: GitTargets) {
  if (paths.length > 0) return refuseForbidden([[...names, ...revisions, '--', ...paths]]);
  // By force, what is not committed is lost as well.
  if (hasOption(options, '-f', '--force')) return refuseForbidden([[...names, revisions[0] ?? 'HEAD', '--']]);
  return revisions.length === 0 ? undefined : refuseForbidden([[...names, 'HEAD', ...revisions, '--']]);
}

function listRebase({ options, revisions: [upstream = '@{upstream}', branch = 'HEAD'] }: GitTargets) {
  if (hasOption(options, '--abort', '--continue', '--skip', '--quit')) return undefined;
  const onto = options.find(({ name }) => name === '--onto')?.value ?? upstream;
  const replayed = ['log', '--name-only', '-z', '--format=', '--no-renames', '--diff-merges=separate', ...plainDiff];
  return refuseForbidden([
    [...names, 'HEAD', onto, '--'],
    [...replayed, `${upstream}..${branch}`, '--'],
  ]);
}

function listStash({ revisions: [command = 'push', ...stash], paths }: GitTargets) {
  if (command === 'push') return refuseForbidden([[...names, 'HEAD', '--', ...paths]]);
  if (command === 'list' || command === 'drop') return undefined;
  const shown = refuseForbidden([['stash', 'show', '--name-only', '-z', '--no-renames', ...plainDiff, ...stash]]);
  return command === 'show' ? ({ ...shown, access: 'read' } as const) : shown;
}

function writeStash({ options, revisions: [command = 'push', ...stash], paths }: GitTargets): readonly string[] {
  // Any option of a diff makes it a whole one; asked for nothing, it is the short one.
  const shown = command === 'show' ? [...plainDiff, ...(options.length === 0 ? ['--stat'] : [])] : [];
  const how = [...shown, ...writeOptions(options)];
  return ['stash', command, ...how, ...stash, ...(command === 'push' ? ['--', ...paths] : [])];
}
