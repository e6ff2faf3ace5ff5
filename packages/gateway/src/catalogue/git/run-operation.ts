import type { ProgramOutput } from '../../programs/run/run-program.ts';
import { ToolFailure } from '../../call/tool.ts';
import type { ToolContext } from '../../call/tool.ts';
import { openFile } from '../../paths/open-path.ts';
import { parsePath } from '../../paths/parse-path.ts';
import { failureFrom } from '../files/failure-from.ts';
import { readBytes } from '../files/file-bytes.ts';
import { presentOutput, presentWithheld } from '../shell/present-output.ts';
import type { PresentedOutput } from '../shell/present-output.ts';
import { runCommit, showCommit } from './commit-changes.ts';
import { findRepository } from './find-repository.ts';
import { refuseArguments, writeOptions } from './git-arguments.ts';
import type { GitArguments } from './git-arguments.ts';
import type { GitOperation, GitTargets } from './git-operation.ts';
import { GitFailed, GitSandbox } from './git-sandbox.ts';
import type { Reach } from './git-sandbox.ts';
import { judgeEntries } from './judge-entries.ts';
import { showPush } from './push-changes.ts';
import { plainDiff } from './reading-operations.ts';
import { hideUserinfo, resolveRemote } from './resolve-remote.ts';
import { digest, showAgain, showState } from './shown-changes.ts';
import type { ShownChanges } from './shown-changes.ts';
import { sortTargets } from './sort-targets.ts';
import { explainTooMuch } from './undo/kept-files.ts';
import { canBeKept, OperationKeeper } from './undo/operation-keeper.ts';

/** They bring files of commits into the folder, also such as other programs run by themselves. */
const bringingFiles = ['CHECKOUT', 'MERGE', 'REBASE', 'RESET', 'STASH', 'PULL'];
const maxMessageBytes = 1024 * 1024;

/** Commands that serve the other side of a repository on this machine, where our settings do not reach by themselves. */
const otherSide = {
  fetch: "--upload-pack=git -c safe.directory='*' upload-pack",
  push: "--receive-pack=git -c safe.directory='*' -c core.hooksPath=/dev/null -c core.fsmonitor=false receive-pack",
} as const;

/** Runs one operation in the repository around the working directory of the context. */
export async function runOperation(
  operation: GitOperation,
  args: GitArguments,
  context: ToolContext,
): Promise<PresentedOutput> {
  const git = await openRepository(operation, context);
  return answerFailures(async () => {
    const isAgreed = bringingFiles.includes(operation.name) && context.leavings.caller.consented;
    // A server would take what was agreed to for what it must not leave behind.
    using _ = isAgreed ? await context.sweeps.clear([git.repository.top], context.signal) : undefined;
    const change = await prepare(operation, args, git, context);
    const keeper = await OperationKeeper.open(operation, args, git, context);
    try {
      const { value, withheld } = await git.attend(() => change.run(keeper));
      return { ...value, ...presentWithheld(withheld) };
    } finally {
      await keeper.finish();
    }
  });
}

/**
 * Asks every gate that the operation would meet before its effect, and works out what it would change. Throws
 * ToolRefused, and ToolFailure where git already knows that it cannot do it.
 */
export async function showOperation(
  operation: GitOperation,
  args: GitArguments,
  context: ToolContext,
): Promise<ShownChanges | undefined> {
  const git = await openRepository(operation, context);
  try {
    return await (await prepare(operation, args, git, context)).show();
  } catch (error) {
    if (!(error instanceof GitFailed)) throw failureFrom(error, 'A file that was named');
    const { stderr } = presentOutput(error.output);
    const said = hideUserinfo(stderr.trim()) || 'it cannot do that';
    throw new ToolFailure('EXECUTION_ERROR', `git says: ${/[.!?]$/.test(said) ? said : `${said}.`}`);
  }
}

function openRepository({ mutates }: GitOperation, context: ToolContext): Promise<GitSandbox> {
  const { workingDirectory } = context;
  const access = mutates ? 'write' : 'read';
  const repository = findRepository(workingDirectory, access, context);
  return GitSandbox.open(repository, context, { workingDirectory, access });
}

/** An operation of which the gates have been asked. */
interface Prepared {
  /** Undefined: it changes nothing, so nothing is bound. */
  readonly show: () => Promise<ShownChanges | undefined>;
  /** The effect. The keeper is given every file before it changes. */
  readonly run: (keeper: OperationKeeper) => Promise<PresentedOutput>;
}

/** Everything short of the effect. */
async function prepare(
  operation: GitOperation,
  args: GitArguments,
  git: GitSandbox,
  context: ToolContext,
): Promise<Prepared> {
  if (operation.remote !== undefined) return prepareExchange(operation, args, git, context);
  const { stdin, ...rest } = await readFiles(args, context);
  const sorted = await sortTargets(operation, rest, git, context);
  const listing = operation.listEntries?.(sorted);
  const judged = listing === undefined ? undefined : await judgeEntries(listing, sorted, git, context);
  const { targets = sorted, omitted = 0, onlyAgreed = [], written = [] } = judged ?? {};
  const run = () => git.run(writeCommand(operation, targets), { stdin });
  if (operation.name === 'COMMIT') {
    return {
      show: async () => withUndo(await showCommit(targets, stdin, git), operation, args, [], git),
      run: () => runCommit(targets, stdin, run, git, context),
    };
  }
  const look = () => (operation.mutates ? showState(targets, git) : Promise.resolve(undefined));
  return {
    show: async () => {
      for (const command of operation.foresee?.(targets) ?? []) await git.text(command);
      const shown = await look();
      const lines = [...(shown?.lines ?? []), ...onlyAgreed.map(describeAgreed)];
      return shown && withUndo({ ...shown, lines }, operation, args, written, git);
    },
    run: async (keeper) => {
      await checkUnchanged(look, context);
      await keeper.keepFiles(written);
      const output = presentOutput(await run());
      return omitted === 0 ? output : { ...output, omitted };
    },
  };
}

/** Says whether the journal will be able to take it back. */
function withUndo<Shown extends ShownChanges>(
  shown: Shown,
  operation: GitOperation,
  args: GitArguments,
  written: readonly string[],
  { repository: { top } }: GitSandbox,
): Shown {
  const reason = canBeKept(operation, args) ? explainTooMuch(top, written) : undefined;
  const lines = reason === undefined ? shown.lines : [...shown.lines, `cannot be undone: ${reason}`];
  return { ...shown, lines, undoable: reason === undefined && canBeKept(operation, args) };
}

/** Nobody should agree to such a file without having read its name. */
function describeAgreed(name: string): string {
  return `changes ${name}, which other programs may run or obey without being asked`;
}

async function prepareExchange(
  operation: GitOperation,
  args: GitArguments,
  git: GitSandbox,
  context: ToolContext,
): Promise<Prepared> {
  const { addresses, ...reach } = await resolveRemote(
    args.before[0] ?? 'origin',
    operation.remote ?? 'fetch',
    git,
    context,
  );
  if (operation.name === 'PUSH') {
    const show = () => showPush(args, addresses, git);
    const stays = 'cannot be undone: what the remote has received stays there';
    return {
      show: async () => {
        const shown = await show();
        return { ...shown, lines: [...shown.lines, stays] };
      },
      run: async () => {
        const shown = await checkUnchanged(show, context);
        const [remote = 'origin'] = args.before;
        const exact = shown && { ...args, options: shown.options, before: [remote, ...shown.refspecs] };
        return exchange(operation, exact ?? args, reach, git);
      },
    };
  }
  const show = async () => {
    const state = await showState({ options: [], revisions: [], paths: [] }, git);
    const from = addresses.map((address) => `from: ${hideUserinfo(address)}`);
    const basis = digest(state.basis, ...addresses);
    return { ...state, basis, lines: [...from, ...state.lines, 'What the remote sends is not known beforehand.'] };
  };
  return {
    show: async () => withUndo(await show(), operation, args, [], git),
    run: async (keeper) => {
      await checkUnchanged(show, context);
      return operation.name === 'PULL'
        ? pull(args, reach, git, context, keeper)
        : exchange(operation, args, reach, git);
    },
  };
}

/** Where somebody was shown the repository and agreed, it must be as it was. Undefined: nobody was. */
async function checkUnchanged<Shown extends ShownChanges | undefined>(
  show: () => Promise<Shown>,
  context: ToolContext,
): Promise<Shown | undefined> {
  return context.shownBasis === undefined ? undefined : showAgain(show, context);
}

/** The gate itself reads a file that an option names, so that no link leads git to another one. */
async function readFiles(args: GitArguments, context: ToolContext): Promise<GitArguments & { readonly stdin: string }> {
  const [file, ...more] = args.files;
  if (file === undefined) return { ...args, stdin: '' };
  if (more.length > 0) throw refuseArguments('Only one file can be read for a message.');
  using opened = openFile(parsePath(file, context.workingDirectory), context);
  if (opened.stats.size > maxMessageBytes) throw new ToolFailure('TOO_LARGE', `${file} is too large for a message.`);
  const bytes = await readBytes(opened.fd, 0, opened.stats.size, context.signal);
  const options = args.options.map((option) => (option.isFile === true ? { ...option, value: '-' } : option));
  return { ...args, options, stdin: bytes.toString('utf8') };
}

/** What git says when it cannot even tell what an operation would touch is what the operation itself would say. */
async function answerFailures(run: () => Promise<PresentedOutput>): Promise<PresentedOutput> {
  try {
    return await run();
  } catch (error) {
    if (error instanceof GitFailed) return presentOutput(error.output);
    throw failureFrom(error, 'A file that was named');
  }
}

/** Fetches from a remote, or pushes to it. */
async function exchange(
  operation: GitOperation,
  { options, before: [remote = 'origin', ...refspecs] }: GitArguments,
  reach: Reach,
  git: GitSandbox,
): Promise<PresentedOutput> {
  const way = operation.remote ?? 'fetch';
  const how = [...operation.fixed, serveOtherSide(way), ...writeOptions(options)];
  return presentOutput(await git.run([operation.name.toLowerCase(), ...how, '--', remote, ...refspecs], { reach }));
}

/** Fetching and merging one after the other, so that the rules can be asked about what came before it is used. */
async function pull(
  { options, before: [remote = 'origin', named] }: GitArguments,
  reach: Reach,
  git: GitSandbox,
  context: ToolContext,
  keeper: OperationKeeper,
): Promise<PresentedOutput> {
  const pick = (...names: readonly string[]) => writeOptions(options.filter(({ name }) => names.includes(name)));
  const quiet = pick('-q', '--quiet');
  // Named, because without it another branch than the one of the same name could be what was fetched first.
  const branch = named ?? (await git.list(['symbolic-ref', '--short', 'HEAD'], { separator: '\n' }))[0] ?? 'HEAD';
  const fetching = ['fetch', '--no-recurse-submodules', '--no-auto-maintenance', serveOtherSide('fetch')];
  const fetched = await git.run([...fetching, ...quiet, ...pick('--tags'), '--', remote, branch], { reach });
  if (!succeeded(fetched)) return presentOutput(fetched);
  const diff = ['diff', '--name-only', '-z', '--no-renames', ...plainDiff, 'HEAD...FETCH_HEAD', '--'];
  const listing = { commands: [diff], access: 'write', forbidden: 'refuse' } as const;
  const { written } = await judgeEntries(listing, { options: [], revisions: [], paths: [] }, git, context);
  await keeper.keepFiles(pick('--rebase', '-r').length > 0 ? [...written, ...(await listReplayed(git))] : written);
  if (pick('--rebase', '-r').length > 0) return presentOutput(await git.run(['rebase', ...quiet, 'FETCH_HEAD']));
  const how = pick('--ff-only', '--ff', '--no-ff', '--stat', '--no-stat');
  return presentOutput(await git.run(['merge', '--no-edit', ...quiet, ...how, 'FETCH_HEAD']));
}

/** Files of the commits that a rebase puts on top of what was fetched. */
function listReplayed(git: GitSandbox): Promise<readonly string[]> {
  const own = 'FETCH_HEAD...HEAD';
  return git.list(['diff', '--name-only', '-z', '--no-renames', ...plainDiff, own, '--']);
}

export function serveOtherSide(way: keyof typeof otherSide): string {
  return otherSide[way];
}

export function succeeded({ how }: ProgramOutput): boolean {
  return how.kind === 'exited' && how.code === 0;
}

/** Every kind of argument has its place, so that git takes none for another. */
function writeCommand({ name, fixed, takesPaths, write }: GitOperation, targets: GitTargets): readonly string[] {
  if (write !== undefined) return write(targets);
  const { options, revisions, paths } = targets;
  const files = takesPaths ? ['--', ...paths] : [];
  return [name.toLowerCase(), ...fixed, ...writeOptions(options), ...revisions, ...files];
}
