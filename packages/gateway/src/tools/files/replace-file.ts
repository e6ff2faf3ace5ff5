import { createHash } from 'node:crypto';
import { accessSync, closeSync, constants, lstatSync } from 'node:fs';
import type { BigIntStats } from 'node:fs';
import { ToolFailure } from '../../model/tool.ts';
import type { BeforeImage, ToolContext } from '../../model/tool.ts';
import { KeyedLock } from '../../pipeline/keyed-lock.ts';
import { hasCode } from '../../sandbox/has-code.ts';
import { checkWritable, pinEntry } from '../../sandbox/open-to-change.ts';
import type { Target } from '../../sandbox/open-to-change.ts';
import { checkSignal } from './check-signal.ts';
import { Draft } from './draft.ts';
import { copyBytes, readBytes, syncFiles, syncFolder, writeBytes } from './file-bytes.ts';
import { KeptCopy } from './trash.ts';

export interface NewContent {
  /** In place of the former content, behind it, or only where there is no file yet. */
  readonly goes: 'instead' | 'behind' | 'new';
  readonly parts: Iterable<Buffer> | AsyncIterable<Buffer>;
}

/** Says what the file shall hold, having seen what it holds. Absent: there is no such file yet. */
export type Decide = (former: FormerFile | undefined) => NewContent | Promise<NewContent>;

export interface Replaced {
  readonly created: boolean;
  readonly sha256: string;
}

/** The file as it is before a change, open for reading. */
export class FormerFile implements Disposable {
  readonly fd: number;
  readonly stats: BigIntStats;

  constructor(fd: number, stats: BigIntStats) {
    this.fd = fd;
    this.stats = stats;
  }

  get size(): number {
    return Number(this.stats.size);
  }

  read(signal: AbortSignal): Promise<Buffer> {
    return readBytes(this.fd, 0, this.size, signal);
  }

  [Symbol.dispose](): void {
    closeSync(this.fd);
  }
}

const turns = new KeyedLock();

/** Absent: there is no such file yet. Throws when it must not be written to. */
export function openFormer(target: Target): FormerFile | undefined {
  using pin = pinEntry(target.folder, target.name);
  if (pin === undefined) return undefined;
  const stats = pin.statExactly();
  checkWritable(stats, target.named);
  // Replacing a file takes no right to write it; whoever made it read-only would be surprised.
  accessSync(pin.path, constants.W_OK);
  return new FormerFile(pin.reopen(constants.O_RDONLY), stats);
}

/**
 * Gives a file new content, or makes it. Readers see the old content or the new one, never a part; when this returns
 * the new one is durable and the old one is in the trash. Calls on the same file take turns. A change by another
 * program while this runs is FILE_CHANGED and stays; only one in the instant between the last look and the rename
 * goes unnoticed. On failure the file is as it was, unless the disk itself fails after the rename.
 */
export async function replaceFile(target: Target, context: ToolContext, decide: Decide): Promise<Replaced> {
  const release = await turns.acquire(target.realPath, context.signal);
  try {
    checkSignal(context.signal);
    return await replaceInTurn(target, context, decide);
  } finally {
    release?.();
  }
}

async function replaceInTurn(target: Target, context: ToolContext, decide: Decide): Promise<Replaced> {
  using former = openFormer(target);
  const content = await decide(former);
  if (content.goes === 'new' && former !== undefined) throw alreadyExists(target.named.given);
  using draft = new Draft(target.folder, former?.stats);
  const sha256 = await writeDraft(draft, content, former, context);
  using copy = former && (await KeptCopy.of(former.fd, former.size, context));
  await syncFiles(draft.fd, ...(copy === undefined ? [] : [copy.fd]));
  checkSignal(context.signal);
  // Nothing is awaited from here to the rename, so that no other call of this daemon comes in between.
  checkUnchanged(target, former, content);
  context.keepBeforeImage({ path: target.realPath, afterSha256: sha256, ...describeFormer(copy) });
  copy?.keep();
  publish(draft, target, former, content);
  await syncFolder(target.folder);
  return { created: former === undefined, sha256 };
}

async function writeDraft(
  draft: Draft,
  content: NewContent,
  former: FormerFile | undefined,
  context: ToolContext,
): Promise<string> {
  const hash = createHash('sha256');
  if (content.goes === 'behind' && former !== undefined) {
    await copyBytes(former.fd, draft.fd, former.size, hash, context.signal);
  }
  for await (const part of content.parts) {
    await writeBytes(draft.fd, part, hash, context.signal);
    context.countUsage({ bytesWritten: part.length });
  }
  return hash.digest('hex');
}

function describeFormer(copy: KeptCopy | undefined): Pick<BeforeImage, 'kind' | 'kept'> {
  return copy === undefined ? { kind: 'absent' } : { kind: 'file', kept: copy.path };
}

function checkUnchanged(target: Target, former: FormerFile | undefined, content: NewContent): void {
  if (former !== undefined) {
    if (!isUnchanged(target.entry, former.stats)) throw changed(target);
  } else if (lstatSync(target.entry, { throwIfNoEntry: false }) !== undefined) {
    throw content.goes === 'new' ? alreadyExists(target.named.given) : changed(target);
  }
}

function publish(draft: Draft, target: Target, former: FormerFile | undefined, content: NewContent): void {
  if (former !== undefined) return draft.replace(target.entry);
  try {
    draft.appear(target.entry);
  } catch (error) {
    if (!hasCode(error, 'EEXIST')) throw error;
    throw content.goes === 'new' ? alreadyExists(target.named.given) : changed(target);
  }
}

/** Whether the name still means the same file, and nobody wrote to it since. */
export function isUnchanged(entry: string, before: BigIntStats): boolean {
  const now = lstatSync(entry, { bigint: true, throwIfNoEntry: false });
  return (
    now !== undefined &&
    now.ino === before.ino &&
    now.dev === before.dev &&
    now.size === before.size &&
    now.mtimeNs === before.mtimeNs &&
    now.ctimeNs === before.ctimeNs
  );
}

export function alreadyExists(given: string): ToolFailure {
  return new ToolFailure('ALREADY_EXISTS', `${given} exists already, and create_only was asked for.`);
}

function changed(target: Target): ToolFailure {
  return new ToolFailure(
    'FILE_CHANGED',
    `${target.named.given} was changed by something else meanwhile, and that change was kept. Read it and try again.`,
  );
}
