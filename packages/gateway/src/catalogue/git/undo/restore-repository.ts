import { renameSync, rmdirSync, writeSync } from 'node:fs';
import { hasCode } from '@sallyport/sandbox';
import { changedMeanwhile } from '../../../call/check-shown.ts';
import { ToolFailure } from '../../../call/tool.ts';
import type { ToolContext } from '../../../call/tool.ts';
import { Draft, removeIfThere } from '../../files/draft.ts';
import { syncFiles, syncFolder } from '../../files/file-bytes.ts';
import { openFormer } from '../../files/former-file.ts';
import type { Repository } from '../find-repository.ts';
import type { GitSandbox } from '../git-sandbox.ts';
import { isReference, openOwnFile, readRepository } from './repository-state.ts';

/** One name of a repository goes from one value to another. Absent: it is not there. */
export interface Restored {
  readonly from?: string | undefined;
  readonly to?: string | undefined;
  /** What a file of git is to hold. Absent: it is a reference, or goes. */
  readonly bytes?: Buffer | undefined;
}

const reason = 'sallyport: undo';

/**
 * Puts names of a repository back. Every one of them is then in one of its two states at any moment, also after a crash,
 * and the same once more goes on from there. `packs`: objects that may be gone. Throws ToolRefused when something else
 * changed one of them since; then nothing has happened.
 */
export async function restoreRepository(
  git: GitSandbox,
  names: ReadonlyMap<string, Restored>,
  packs: readonly Buffer[],
  context: ToolContext,
): Promise<void> {
  const { repository } = git;
  const { state } = await readRepository(git, { hasIndex: names.has('index') }, context);
  for (const [name, { from }] of names) {
    if (state[name] !== from) throw changedMeanwhile('The repository', context);
  }
  for (const pack of packs) await run(git, ['unpack-objects', '-q'], context, pack);
  const index = names.get('index');
  if (index !== undefined) await putIndex(index.bytes, repository, context);
  const references = [...names].filter(([name]) => isReference(name));
  await moveReferences(references, git, context);
  for (const [name, { bytes }] of names) {
    if (name !== 'index' && !isReference(name)) await putOwnFile(name, bytes, repository);
  }
}

async function moveReferences(
  references: readonly (readonly [string, Restored])[],
  git: GitSandbox,
  context: ToolContext,
): Promise<void> {
  const isSymbolic = ({ from = '', to = '' }: Restored): boolean => from.startsWith('ref: ') || to.startsWith('ref: ');
  const plain = references.filter(([, each]) => !isSymbolic(each));
  // A name that goes may be in the way of one that comes, such as a of a/b.
  const gone = plain.filter(([, { to }]) => to === undefined).map(([name, { from }]) => `delete ${name} ${from}\n`);
  const moved = plain.flatMap(([name, { from, to }]) => {
    if (to === undefined) return [];
    return from === undefined ? [`create ${name} ${to}\n`] : [`update ${name} ${to} ${from}\n`];
  });
  for (const commands of [gone, moved]) {
    if (commands.length === 0) continue;
    await run(git, ['update-ref', '--no-deref', '-m', reason, '--stdin'], context, Buffer.from(commands.join('')));
  }
  for (const [name, { to }] of references.filter(([, each]) => isSymbolic(each))) {
    if (to === undefined) await run(git, ['symbolic-ref', '--delete', name], context);
    else if (to.startsWith('ref: '))
      await run(git, ['symbolic-ref', '-m', reason, name, to.slice('ref: '.length)], context);
    else await run(git, ['update-ref', '--no-deref', '-m', reason, name, to], context);
  }
}

async function run(git: GitSandbox, args: readonly string[], context: ToolContext, stdin?: Buffer): Promise<void> {
  const { how, stderr } = await git.run(args, stdin === undefined ? {} : { stdin });
  if (how.kind === 'exited' && how.code === 0) return;
  const said = context.redact(stderr.bytes.toString('utf8').trim());
  throw new ToolFailure('EXECUTION_ERROR', `The repository could not be put back. git says: ${said}`);
}

/** As git itself does it: what is being written has a name that keeps every git out, and then takes the place. */
async function putIndex(bytes: Buffer | undefined, repository: Repository, context: ToolContext): Promise<void> {
  using target = openOwnFile('index', repository);
  using lock = openOwnFile('index.lock', repository);
  using former = openFormer(target);
  using draft = new Draft(target.folder, former?.stats);
  await fill(draft, bytes ?? Buffer.alloc(0));
  try {
    draft.appear(lock.entry);
  } catch (error) {
    if (hasCode(error, 'EEXIST')) throw changedMeanwhile('What is staged in the repository', context);
    throw error;
  }
  if (bytes === undefined) {
    removeIfThere(target.entry);
    removeIfThere(lock.entry);
  } else renameSync(lock.entry, target.entry);
  await syncFolder(target.folder);
}

async function putOwnFile(name: string, bytes: Buffer | undefined, repository: Repository): Promise<void> {
  try {
    using target = openOwnFile(name, repository, { makesFolder: bytes !== undefined });
    using former = openFormer(target);
    if (bytes === undefined) removeIfThere(target.entry);
    else {
      using draft = new Draft(target.folder, former?.stats);
      await fill(draft, bytes);
      draft.replace(target.entry);
    }
    await syncFolder(target.folder);
    // An empty folder of an operation would still be one in progress.
    if (bytes === undefined && name.includes('/')) removeIfEmpty(target.folder.realPath);
  } catch (error) {
    if (bytes !== undefined || !hasCode(error, 'ENOENT')) throw error;
  }
}

async function fill({ fd }: Draft, bytes: Buffer): Promise<void> {
  for (let at = 0; at < bytes.length;) at += writeSync(fd, bytes, at);
  await syncFiles(fd);
}

function removeIfEmpty(folder: string): void {
  try {
    rmdirSync(folder);
  } catch (error) {
    if (!hasCode(error, 'ENOTEMPTY', 'ENOENT', 'EBUSY', 'EINVAL')) throw error;
  }
}
