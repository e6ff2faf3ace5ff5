import { basename, dirname, join } from 'node:path';
import { changedMeanwhile } from '../../call/check-shown.ts';
import { operationOf } from '../../call/journal.ts';
import type { Change } from '../../call/journal.ts';
import type { ToolContext } from '../../call/tool.ts';
import { syncFiles } from '../../catalogue/files/file-bytes.ts';
import { openFormer } from '../../catalogue/files/former-file.ts';
import { KeptCopy, nameInTrash } from '../../catalogue/files/tree/trash.ts';
import type { TrashName } from '../../catalogue/files/tree/trash.ts';
import { compareStates, keepAfter, keepBefore } from '../../catalogue/git/undo/kept-repository.ts';
import { neededFor, packLost } from '../../catalogue/git/undo/operation-keeper.ts';
import { readStagedOnly } from '../../catalogue/git/undo/repository-state.ts';
import type { RepositoryState } from '../../catalogue/git/undo/repository-state.ts';
import type { JournalEntry } from '../../storage/stores.ts';
import { openPlace } from './foreseen-files.ts';
import type { ContextFor, Step } from './plan-undo.ts';
import type { RepositoryStep } from './undone-repositories.ts';

/** A step, its change in the journal, and the place for what it takes away. */
export interface PreparedStep {
  readonly step: Step;
  readonly change: Change;
  readonly place: TrashName;
}

/**
 * Steps that are ready to run. An undo can be undone like any other call. Disposing of it removes what was not kept.
 */
export class PreparedUndo implements Disposable {
  readonly steps: readonly PreparedStep[];
  readonly #copies: readonly KeptCopy[];

  private constructor(steps: readonly PreparedStep[], copies: readonly KeptCopy[]) {
    this.steps = steps;
    this.#copies = copies;
  }

  /** When it resolves, copies of what will be replaced are durable. */
  static async of(steps: readonly Step[], context: ToolContext, contextFor: ContextFor): Promise<PreparedUndo> {
    using opened = new DisposableStack();
    const copies: KeptCopy[] = [];
    const prepared: PreparedStep[] = [];
    for (const step of steps) {
      const place = placeFor(step, context);
      if (step.repository !== undefined) {
        prepared.push({ step, place, change: await keepRepository(step.entry, step.repository, context) });
        continue;
      }
      const copy = needsCopy(step, context) ? opened.use(await copyPresent(step, context, contextFor)) : undefined;
      if (copy !== undefined) copies.push(copy);
      const kept = copy?.name ?? nameKept(step, place);
      const { path, from: before, to: after } = step;
      prepared.push({ step, place, change: { path, before, after, ...(kept === undefined ? {} : { kept }) } });
    }
    await syncFiles(...copies.map(({ fd }) => fd));
    opened.move();
    return new PreparedUndo(prepared, copies);
  }

  keep(): void {
    for (const copy of this.#copies) copy.keep();
  }

  [Symbol.dispose](): void {
    for (const copy of this.#copies) copy[Symbol.dispose]();
  }
}

/** Its state now and afterwards: both are known before anything happens. */
async function keepRepository(
  entry: JournalEntry,
  { git, snapshot, names }: RepositoryStep,
  context: ToolContext,
): Promise<Change> {
  const { name, sha256 } = keepBefore(git.repository, snapshot, context);
  const put = [...names].map(([each, { to }]) => [each, to] as const);
  const state = Object.fromEntries(
    Object.entries({ ...snapshot.state, ...Object.fromEntries(put) }).filter(([, value]) => value !== undefined),
  ) as RepositoryState;
  const changes = compareStates(snapshot.state, state);
  const needed = neededFor(changes, snapshot, 'index' in changes ? await readStagedOnly(git, snapshot) : []);
  const pack = await packLost(git, needed, state);
  const kind = { kind: 'repository', operation: operationOf(entry) ?? '' } as const;
  const after = { ...kind, sha256: keepAfter(name, { changes, needed, ...(pack && { pack }) }, context) };
  return { path: entry.path, before: { ...kind, sha256 }, after, kept: name };
}

function placeFor({ keepAs: name }: Step, context: ToolContext): TrashName {
  return name === undefined ? nameInTrash(context) : { name, path: join(context.trashFolder, name) };
}

/** Of a file that is replaced, unless a copy of just these bytes is in the trash, and stays. */
function needsCopy({ from, to, present }: Step, { trashFolder }: ToolContext): boolean {
  if (from.kind !== 'file' || to.kind !== 'file') return false;
  return present?.in !== 'trash' || present.isTaken === true || dirname(present.path) !== trashFolder;
}

function nameKept({ from, to, present, source }: Step, place: TrashName): string | undefined {
  if (to.kind === 'absent') return from.kind === 'folder' ? undefined : place.name;
  if (from.kind === 'file') return present && basename(present.path);
  return source?.inTurn.isTaken === true ? basename(source.inTurn.path) : undefined;
}

async function copyPresent(step: Step, context: ToolContext, contextFor: ContextFor): Promise<KeptCopy> {
  const { present, path, entry } = step;
  using target = openPlace(present ?? { in: 'workspace', path }, contextFor(entry));
  using file = openFormer(target);
  if (file === undefined) throw changedMeanwhile(path, context);
  const copy = await KeptCopy.of(file.fd, file.size, context);
  if (step.from.kind !== 'file' || (step.from.sha256 ?? copy.sha256) === copy.sha256) return copy;
  copy[Symbol.dispose]();
  throw changedMeanwhile(path, context);
}
