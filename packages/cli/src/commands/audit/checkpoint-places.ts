import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { openCheckpoint, parseVerifier, proveConsistency, verifyConsistency } from '@sallyport/log';
import type { NodeReader } from '@sallyport/log';
import { writeFileAtomically } from '../../terminal/write-file-atomically.ts';

export interface PublishedCheckpoint {
  readonly note: string;
  readonly size: number;
  readonly verifier: string;
  readonly readNode: NodeReader;
}

/** What was published before is not the beginning of this log. */
export class RewrittenLog extends Error {}

const waitMs = 15_000;

/** A checkpoint that the log does not continue is never replaced: it may be the only witness. */
export function publishToFile(file: string, { note, size, verifier, readNode }: PublishedCheckpoint): void {
  if (existsSync(file)) {
    const key = parseVerifier(verifier);
    const [old, grown] = [openCheckpoint(readFileSync(file, 'utf8'), key), openCheckpoint(note, key)];
    const claim = { oldSize: old.size, oldRoot: old.root, size: grown.size, root: grown.root };
    const isContinued =
      old.size <= size && verifyConsistency({ ...claim, proof: proveConsistency(old.size, size, readNode) });
    if (!isContinued)
      throw new RewrittenLog(`It holds a checkpoint over ${old.size} records that this log does not continue.`);
  }
  writeFileAtomically(file, note);
}

/** One commit for each checkpoint, in the branch that is checked out. It is pushed when the repository has a remote. */
export function publishToGit(folder: string, parts: PublishedCheckpoint): void {
  const git = (...args: string[]): string => runGit(folder, args);
  const { name } = parseVerifier(parts.verifier);
  const file = `${name.replace(/[^A-Za-z0-9.-]/g, '-')}.checkpoint`;
  publishToFile(join(folder, file), parts);
  git('add', '--', file);
  if (git('status', '--porcelain', '--', file).trim() !== '') {
    git(...nameAuthor(folder), 'commit', '--quiet', '--message', `checkpoint over ${parts.size} records`, '--', file);
  }
  if (git('remote').trim() !== '') git('push', '--quiet');
}

/** Throws with the last thing that git said. */
function runGit(folder: string, args: readonly string[]): string {
  const { status, stdout, stderr, error } = spawnSync('git', ['-C', folder, ...args], {
    ...{ encoding: 'utf8', timeout: waitMs, stdio: ['ignore', 'pipe', 'pipe'] },
  });
  if (error !== undefined) throw error;
  if (status === 0) return stdout;
  const said = stderr.trim().split('\n').at(-1);
  throw new Error(said === undefined || said === '' ? `git ended with ${status}` : said);
}

/** A user that only runs services has no name in the settings of git. */
function nameAuthor(folder: string): readonly string[] {
  const { status } = spawnSync('git', ['-C', folder, 'config', 'user.email'], { timeout: waitMs });
  return status === 0 ? [] : ['-c', 'user.name=Sallyport', '-c', 'user.email=sallyport@localhost'];
}

export async function publishToWebhook(url: string, note: string): Promise<void> {
  const response = await fetch(url, {
    method: 'POST',
    body: note,
    headers: { 'content-type': 'text/plain; charset=utf-8' },
    redirect: 'error',
    signal: AbortSignal.timeout(waitMs),
  });
  await response.body?.cancel();
  if (!response.ok) throw new Error(`It answered ${response.status}.`);
}
