import { ownText, say } from '../../../call/redacted.ts';
import type { EntryState } from '../../../call/journal.ts';
import type { ToolContext } from '../../../call/tool.ts';
import { hasOption } from '../git-arguments.ts';
import type { GitArguments } from '../git-arguments.ts';
import type { GitOperation } from '../git-operation.ts';
import { GitFailed, TooMuchToLookAt } from '../git-sandbox.ts';
import type { GitSandbox } from '../git-sandbox.ts';
import { KeptFiles } from './kept-files.ts';
import { compareStates, keepAfter, keepBefore } from './kept-repository.ts';
import type { RepositoryChanges } from './kept-repository.ts';
import { isReference, NotKept, objectId, onlyObjects, readRepository } from './repository-state.ts';
import type { RepositorySnapshot } from './repository-state.ts';

/** They change references alone. */
const withoutIndex = ['BRANCH', 'TAG', 'FETCH'];
/** What becomes of a push is up to the remote; a clone is a folder of its own. */
const neverKept = ['PUSH', 'CLONE'];

/** Whether an undo of this call is worth preparing, and possible as far as its arguments tell. */
export function canBeKept({ name, mutates }: GitOperation, { options, before }: GitArguments): boolean {
  if (!mutates || neverKept.includes(name)) return false;
  // Which files the rest of a rebase changes, nobody knows beforehand.
  return (
    !(name === 'REBASE' && hasOption(options, '--abort', '--continue', '--skip', '--quit')) &&
    !onlyLooks(name, options, before)
  );
}

function onlyLooks(name: string, options: GitArguments['options'], [first]: GitArguments['before']): boolean {
  if (hasOption(options, '--dry-run') || (name === 'ADD' && hasOption(options, '-n'))) return true;
  if (name === 'STASH') return first === 'list' || first === 'show';
  if (name === 'BRANCH' || name === 'TAG') return first === undefined || hasOption(options, '-l', '--list');
  return false;
}

/** Keeps what it takes to undo one operation: what the repository was before, and the files that git may change. */
export class OperationKeeper {
  readonly #operation: string;
  readonly #git: GitSandbox;
  readonly #context: ToolContext;
  readonly #files: KeptFiles;
  /** What the branch was is below what it becomes, and needs no keeping. */
  readonly #keepsHistory: boolean;
  #before: { readonly snapshot: RepositorySnapshot; readonly state: EntryState; readonly kept: string } | undefined;

  private constructor({ name }: GitOperation, { options }: GitArguments, git: GitSandbox, context: ToolContext) {
    this.#operation = name;
    this.#keepsHistory = name === 'COMMIT' && !hasOption(options, '--amend');
    this.#git = git;
    this.#context = context;
    this.#files = new KeptFiles(git.repository.top, context);
  }

  /** To be opened right before the effect: what is kept is durable and in the journal when it resolves. */
  static async open(
    operation: GitOperation,
    args: GitArguments,
    git: GitSandbox,
    context: ToolContext,
  ): Promise<OperationKeeper> {
    const keeper = new OperationKeeper(operation, args, git, context);
    if (canBeKept(operation, args)) await keeper.#orWarn(() => keeper.#keepRepository());
    return keeper;
  }

  /** Before git changes them. Names start from the top of the repository. */
  async keepFiles(names: readonly string[]): Promise<void> {
    if (this.#before === undefined || names.length === 0) return;
    await this.#orWarn(() => this.#files.keep([...new Set(names)]));
  }

  /** After the operation, however it ended. What it became is written down, if it can still be told. */
  async finish(): Promise<void> {
    const before = this.#before;
    if (before === undefined) return;
    const { top } = this.#git.repository;
    await this.#orWarn(async () => {
      if (this.#context.signal.aborted) throw new NotKept('it was cut off');
      await this.#files.finish();
      const after = await this.#read();
      const changes = compareStates(before.snapshot.state, after.state);
      const still = new Set(after.staged);
      const unstaged = 'index' in changes ? before.snapshot.staged.filter((id) => !still.has(id)) : [];
      const lost = this.#keepsHistory ? {} : changes;
      const needed = neededFor(lost, before.snapshot, unstaged);
      const pack = await packLost(this.#git, needed, after.state);
      const isSame = Object.keys(changes).length === 0;
      const sha256 = keepAfter(before.kept, { changes, needed, ...(pack && { pack }) }, this.#context);
      const state: EntryState = isSame ? before.state : { kind: 'repository', sha256, operation: this.#operation };
      await this.#context.completeChange(top, state);
      if (!isSame) this.#context.noteChange({ path: top, before: before.state, after: state, kept: before.kept });
    }).catch(() => {
      // The call has had its effect, whatever becomes of this.
      this.#context.warn(ownText('This call cannot be undone: what it changed could not be written down.'));
    });
  }

  async #keepRepository(): Promise<void> {
    const snapshot = await this.#read();
    const { repository } = this.#git;
    const { name: kept, sha256 } = keepBefore(repository, snapshot, this.#context);
    const state: EntryState = { kind: 'repository', sha256, operation: this.#operation };
    await this.#context.journal({ path: repository.top, before: state, after: { kind: 'unknown' }, kept });
    this.#before = { snapshot, state, kept };
  }

  #read(): Promise<RepositorySnapshot> {
    return readRepository(this.#git, { hasIndex: !withoutIndex.includes(this.#operation) }, this.#context);
  }

  async #orWarn(keep: () => Promise<void>): Promise<void> {
    try {
      await keep();
    } catch (error) {
      if (!(error instanceof NotKept)) throw error;
      this.#before = undefined;
      this.#context.warn(say`This call cannot be undone: ${this.#context.redact(error.message)}.`);
    }
  }
}

/** More of them are left to git, which keeps them for some weeks. */
const mostUnstaged = 5000;

/** Objects without which the state before cannot come back. `unstaged`: those that are no longer staged. */
export function neededFor(
  changes: RepositoryChanges,
  { files }: Pick<RepositorySnapshot, 'files'>,
  unstaged: readonly string[],
): readonly string[] {
  const refs = Object.entries(changes).flatMap(([name, { was = '' }]) => (isReference(name) ? [was] : []));
  const log = 'logs/refs/stash' in changes ? (files.get('logs/refs/stash')?.toString('utf8') ?? '') : '';
  const stashes = log.split('\n').map((line) => line.split(' ')[1] ?? '');
  return onlyObjects([...refs, ...stashes, ...(unstaged.length > mostUnstaged ? [] : unstaged)]);
}

/**
 * A pack of the objects that nothing leads to any more: git throws them away some day. Undefined: there are none, or they
 * are too many to be kept a second time, and are left to git.
 */
export async function packLost(
  git: GitSandbox,
  needed: readonly string[],
  after: RepositorySnapshot['state'],
): Promise<Buffer | undefined> {
  const refs = Object.entries(after).filter(([name, value]) => isReference(name) && objectId.test(value));
  const still = new Set(refs.map(([, id]) => id));
  const lost = needed.filter((id) => !still.has(id));
  if (lost.length === 0) return undefined;
  const stdin = [...lost, '--not', ...still, ''].join('\n');
  try {
    return await git.bytes(['pack-objects', '--revs', '--stdout', '-q'], { stdin });
  } catch (error) {
    if (error instanceof GitFailed || error instanceof TooMuchToLookAt) return undefined;
    throw error;
  }
}
