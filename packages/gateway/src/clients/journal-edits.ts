import { hasCode } from '@sallyport/sandbox';
import { absent } from '../call/journal.ts';
import type { Change } from '../call/journal.ts';
import type { ToolContext } from '../call/tool.ts';
import { syncFiles } from '../catalogue/files/file-bytes.ts';
import { openFormer } from '../catalogue/files/former-file.ts';
import { fileState, readState } from '../catalogue/files/tree/entry-state.ts';
import { KeptCopy } from '../catalogue/files/tree/trash.ts';
import { openTarget } from '../paths/open-to-change.ts';

/**
 * Keeps what is in these files before a client changes them, and writes down that they are about to change. Durable when it
 * resolves. What is opened is judged, not what was named: throws ToolRefused and ToolFailure as our own file tools do.
 */
export async function keepBeforeEdits(paths: readonly string[], context: ToolContext): Promise<readonly Change[]> {
  const changes: Change[] = [];
  for (const path of new Set(paths)) changes.push(await keepBefore(path, context));
  if (changes.length > 0) await context.journal(...changes);
  return changes;
}

async function keepBefore(path: string, context: ToolContext): Promise<Change> {
  const after = { kind: 'unknown' } as const;
  try {
    using target = openTarget({ given: path, path }, context);
    using former = openFormer(target);
    if (former === undefined) return { path: target.realPath, before: absent, after };
    using copy = await KeptCopy.of(former.fd, former.size, context);
    await syncFiles(copy.fd);
    copy.keep();
    return { path: target.realPath, before: fileState(former.stats, copy.sha256), after, kept: copy.name };
  } catch (error) {
    // The client makes the folders, too.
    if (hasCode(error, 'ENOENT')) return { path, before: absent, after };
    throw error;
  }
}

/** Writes down what the client made of them. A file that cannot be read any more stays unknown, and cannot be undone. */
export async function noteAfterEdits(changes: readonly Change[], context: ToolContext): Promise<void> {
  for (const change of changes) {
    try {
      using target = openTarget({ given: change.path, path: change.path }, context);
      const after = await readState(target.folder, target.name, context);
      await context.completeChange(change.path, after);
      context.noteChange({ ...change, after });
    } catch {
      context.noteChange(change);
    }
  }
}
