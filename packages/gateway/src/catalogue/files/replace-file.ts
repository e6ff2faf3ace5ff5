import { createHash } from 'node:crypto';
import { fstatSync } from 'node:fs';
import { ToolFailure } from '../../call/tool.ts';
import type { ToolContext } from '../../call/tool.ts';
import { absent } from '../../call/journal.ts';
import type { Change } from '../../call/journal.ts';
import { KeyedLock } from '../../call/keyed-lock.ts';
import { checkNotRepository } from '../../paths/git-repository.ts';
import { hasCode } from '@sallyport/sandbox';
import type { Target } from '../../paths/open-to-change.ts';
import { changedMeanwhile, checkShown } from '../../call/check-shown.ts';
import { checkSignal } from './check-signal.ts';
import { Draft } from './draft.ts';
import { copyBytes, settleAll, syncFiles, syncFolder, writeBytes } from './file-bytes.ts';
import { openFormer } from './former-file.ts';
import type { FormerFile } from './former-file.ts';
import { fileState } from './tree/entry-state.ts';
import { identify } from './tree/identify-entries.ts';
import { replaceEntry } from './tree/take-entry.ts';
import { KeptCopy } from './tree/trash.ts';

export interface NewContent {
  /** In place of the former content, behind it, or only where there is no file yet. */
  readonly goes: 'instead' | 'behind' | 'new';
  readonly parts: Iterable<Buffer> | AsyncIterable<Buffer>;
  /** SHA-256 of the former content that it was made from. Absent: it was made from nothing. */
  readonly madeFrom?: string;
}

/** Says what the file shall hold, having seen what it holds. Absent: there is no such file yet. */
export type Decide = (former: FormerFile | undefined) => NewContent | Promise<NewContent>;

export interface Replaced {
  readonly created: boolean;
  readonly sha256: string;
}

const turns = new KeyedLock();

/**
 * Gives a file new content, or makes it. Readers see the old content or the new one, never a part; when this returns
 * the new one is durable and the old one is in the trash. Calls on the same file take turns. A change by another
 * program while this runs is FILE_CHANGED and stays; only one in the instant between the last look and the rename
 * goes unnoticed, and not even that where somebody was shown the file and agreed. On failure the file is as it was,
 * unless the disk itself fails after the rename. `whereNew` is the basis of creating a new file.
 */
export async function replaceFile(
  target: Target,
  whereNew: string,
  context: ToolContext,
  decide: Decide,
): Promise<Replaced> {
  return await takeTurn(target.realPath, context.signal, () => replaceInTurn(target, whereNew, context, decide));
}

/** Calls that change the same file take turns. `path` is the real one. */
export async function takeTurn<Value>(path: string, signal: AbortSignal, work: () => Promise<Value>): Promise<Value> {
  const release = await turns.acquire(path, signal);
  try {
    checkSignal(signal);
    return await work();
  } finally {
    release?.();
  }
}

/** What consent to a change is bound to: the file that would be replaced with its content, or the place of a new file. */
export async function basisOf(former: FormerFile | undefined, whereNew: string, signal: AbortSignal): Promise<string> {
  return former === undefined ? whereNew : describeBasis(former, await former.sha256(signal));
}

function describeBasis({ stats }: FormerFile, sha256: string): string {
  return `${identify(stats)} ${sha256}`;
}

async function replaceInTurn(
  target: Target,
  whereNew: string,
  context: ToolContext,
  decide: Decide,
): Promise<Replaced> {
  using former = openFormer(target);
  const content = await decide(former);
  if (content.goes === 'new' && former !== undefined) throw alreadyExists(target.named.given);
  using draft = new Draft(target.folder, former?.stats);
  const { sha256, madeFrom } = await writeDraft(draft, content, former, context);
  using copy = former && (await KeptCopy.of(former.fd, former.size, context));
  // What was read for it, what is kept of it and what was shown: a program may have written to it in between.
  if (madeFrom !== undefined && madeFrom !== copy?.sha256) throw changedMeanwhile(target.named.given, context);
  const basis = former === undefined || copy === undefined ? whereNew : describeBasis(former, copy.sha256);
  checkShown(basis, target.named.given, context);
  const change: Change = {
    path: target.realPath,
    before: former === undefined || copy === undefined ? absent : fileState(former.stats, copy.sha256),
    after: fileState(fstatSync(draft.fd, { bigint: true }), sha256),
    ...(copy === undefined ? {} : { kept: copy.name }),
  };
  await settleAll(context.journal(change), syncFiles(draft.fd, ...(copy === undefined ? [] : [copy.fd])));
  checkSignal(context.signal);
  // Nothing is awaited from here to the rename, so that no other call of this daemon comes in between.
  publish(draft, target, former, content, context);
  context.noteChange(change);
  copy?.keep();
  await syncFolder(target.folder);
  return { created: former === undefined, sha256 };
}

async function writeDraft(
  draft: Draft,
  content: NewContent,
  former: FormerFile | undefined,
  context: ToolContext,
): Promise<{ readonly sha256: string; readonly madeFrom?: string | undefined }> {
  const hash = createHash('sha256');
  let { madeFrom } = content;
  if (content.goes === 'behind' && former !== undefined) {
    await copyBytes(former.fd, draft.fd, former.size, hash, context.signal);
    madeFrom = hash.copy().digest('hex');
  }
  for await (const part of content.parts) {
    await writeBytes(draft.fd, part, hash, context.signal);
    context.countUsage({ bytesWritten: part.length });
  }
  return { sha256: hash.digest('hex'), madeFrom };
}

function publish(
  draft: Draft,
  target: Target,
  former: FormerFile | undefined,
  content: NewContent,
  context: ToolContext,
): void {
  const { entry, named } = target;
  const placement = { over: () => draft.replace(entry), free: () => draft.appear(entry) };
  if (former !== undefined) return replaceEntry(target, former.stats, placement, context);
  checkNotRepository(target.realPath, named, context);
  try {
    placement.free();
  } catch (error) {
    if (!hasCode(error, 'EEXIST')) throw error;
    throw content.goes === 'new' ? alreadyExists(named.given) : changedMeanwhile(named.given, context);
  }
}

export function alreadyExists(given: string): ToolFailure {
  return new ToolFailure('ALREADY_EXISTS', `${given} exists already, and create_only was asked for.`);
}
