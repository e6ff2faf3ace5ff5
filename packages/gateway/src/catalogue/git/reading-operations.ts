import { hasOption, refuseArguments, writeOptions } from './git-arguments.ts';
import type { GitOption } from './git-arguments.ts';
import type { GitOperation, GitTargets } from './git-operation.ts';

const list = (text: string): readonly string[] => text.split(' ');

/** No program that the repository names is run to show a file, and no submodule is looked into. */
export const plainDiff = ['--no-ext-diff', '--no-textconv', '--ignore-submodules=dirty'] as const;

const fileLists = list(
  '-p -u --patch --stat --shortstat --numstat --name-only --name-status --summary --compact-summary',
);
const diffFlags = [
  ...fileLists,
  ...list('--no-patch -s --raw --check -w -b --ignore-all-space --ignore-space-change --ignore-blank-lines'),
  ...list('--ignore-cr-at-eol --minimal --patience --histogram --word-diff -M -C --find-renames --no-renames -W'),
  ...list('--function-context --full-index --no-prefix --no-color --color --no-ext-diff --no-textconv'),
];
const diffValues = {
  '-U': 'number',
  '--unified': 'number',
  '--diff-filter': 'name',
  '-S': 'text',
  '-G': 'text',
} as const;
const diffAttached = list('--stat --word-diff --color --find-renames');

function pick(options: readonly GitOption[], names: readonly string[]): readonly string[] {
  return writeOptions(options.filter(({ name }) => names.includes(name)));
}

/** Which files two states differ in: the options that choose the states, and not how they are shown. */
function listDiff({ options, revisions, paths }: GitTargets) {
  const states = pick(options, ['--cached', '--staged', '--merge-base']);
  const command = ['diff', '--name-only', '-z', '--no-renames', ...plainDiff, ...states, ...revisions, '--', ...paths];
  return { commands: [command], access: 'read', forbidden: 'leave-out' } as const;
}

const commitChoices = [
  ...list('--max-count -n --skip --since --after --until --before --author --committer --grep -i -E -F -S -G'),
  ...list('--all --branches --tags --remotes --merges --no-merges --first-parent --regexp-ignore-case --diff-filter'),
];

/** Every file that the shown commits touch, against each of their parents. */
function listCommits(command: 'log' | 'show', { options, revisions, paths }: GitTargets) {
  const chosen = pick(options, commitChoices);
  const how = ['--name-only', '-z', '--format=', '--no-renames', '--diff-merges=separate', ...plainDiff];
  return {
    commands: [[command, ...how, ...chosen, ...revisions, '--', ...paths]],
    access: 'read',
    forbidden: 'leave-out',
  } as const;
}

const reading = { risk: 'low', mutates: false, timeoutMs: 30_000, takesPaths: true } as const;

export const readingOperations: readonly GitOperation[] = [
  {
    ...reading,
    name: 'STATUS',
    example: ['--short'],
    description: 'Show which files were changed, staged or added.',
    options: {
      flags: list(
        '-s --short -b --branch --long --porcelain --show-stash --ignored -u -uno -uall -unormal --no-renames',
      ),
      attached: list('--porcelain --untracked-files'),
    },
    before: 'paths',
    fixed: ['--ignore-submodules=dirty'],
    listEntries: ({ options, paths }) => {
      const ignored = hasOption(options, '--ignored') ? ['--ignored'] : [];
      const how = ['--porcelain=v1', '-z', '--no-renames', '--untracked-files=all', '--ignore-submodules=dirty'];
      return { commands: [['status', ...how, ...ignored, '--', ...paths]], access: 'read', forbidden: 'leave-out' };
    },
  },
  {
    ...reading,
    name: 'DIFF',
    example: ['HEAD', '--', 'src'],
    description: 'Show what changed between commits, the index and the files.',
    options: {
      flags: [...diffFlags, ...list('--cached --staged --merge-base --exit-code --quiet -R')],
      values: diffValues,
      attached: diffAttached,
    },
    before: 'either',
    fixed: plainDiff,
    listEntries: listDiff,
  },
  {
    ...reading,
    name: 'LOG',
    example: ['--oneline', '-n', '20'],
    description: 'Show commits.',
    options: {
      flags: [
        ...diffFlags,
        ...list('--oneline --graph --decorate --no-decorate --all --branches --tags --remotes --merges --no-merges'),
        ...list('--first-parent --reverse --abbrev-commit --no-abbrev-commit --full-history --follow --topo-order'),
        ...list('--date-order --left-right --cherry-pick -i -E -F --regexp-ignore-case --pretty -m --cc'),
      ],
      values: {
        ...diffValues,
        ...{ '-n': 'number', '--max-count': 'number', '--skip': 'number', '--since': 'text', '--after': 'text' },
        ...{ '--until': 'text', '--before': 'text', '--author': 'text', '--committer': 'text', '--grep': 'text' },
        ...{ '--format': 'text', '--date': 'text' },
      },
      attached: [...diffAttached, ...list('--pretty --decorate --abbrev')],
      takesCount: true,
    },
    before: 'either',
    fixed: plainDiff,
    listEntries: (targets) =>
      hasOption(targets.options, ...fileLists, '--raw', '--check', '-S', '-G', '-m', '--cc')
        ? listCommits('log', targets)
        : undefined,
  },
  {
    ...reading,
    name: 'SHOW',
    example: ['HEAD'],
    description: 'Show commits with their changes, or a file as it was in a commit, such as HEAD~1:src/main.ts.',
    options: {
      flags: [...diffFlags, ...list('--oneline --decorate --no-decorate --abbrev-commit --pretty -m --cc')],
      values: { ...diffValues, '--format': 'text', '--date': 'text' },
      attached: [...diffAttached, ...list('--pretty --abbrev')],
    },
    before: 'either',
    fixed: plainDiff,
    listEntries: (targets) => {
      const commits = targets.revisions.filter((revision) => !revision.includes(':'));
      if (commits.length === 0 && targets.revisions.length > 0) return undefined;
      return listCommits('show', { ...targets, revisions: commits });
    },
  },
  {
    ...reading,
    name: 'REMOTE',
    example: ['-v'],
    description: 'List the remotes, or the addresses of one with get-url. People change them outside the gate.',
    options: { flags: list('-v --verbose --all --push') },
    before: 'names',
    takesPaths: false,
    fixed: [],
    write: ({ options, revisions: [command, ...name] }) => [
      'remote',
      ...(command === undefined ? [] : [command]),
      ...writeOptions(options),
      ...name,
    ],
    check: ({ before: [command, name, ...more], options }) => {
      const isListing = command === undefined && !hasOption(options, '--all', '--push');
      const isQuestion =
        command === 'get-url' && name !== undefined && more.length === 0 && !hasOption(options, '-v', '--verbose');
      if (!isListing && !isQuestion) {
        throw refuseArguments('git remote only lists remotes here.', 'Use no argument, -v, or get-url and a name.');
      }
    },
  },
];
