import { makeVisibleLine } from '@sallyport/contract';
import { isUtf8 } from 'node:buffer';
import { hash } from 'node:crypto';
import type { Effect } from '../../model/tool.ts';
import { diffLines } from './diff-lines.ts';

/** More than this nobody reads. */
export const maxDiffBytes = 1024 * 1024;

/** The effect of giving a file new content: a diff for text, sizes and hashes for anything else or for much of it. */
export function previewChange(given: string, before: Buffer | undefined, after: Buffer): Effect {
  const path = makeVisibleLine(given);
  const summary =
    before === undefined
      ? `Create ${path} (${after.length} bytes)`
      : `Change ${path} (${before.length} bytes become ${after.length})`;
  const former = before ?? Buffer.alloc(0);
  const isShown = former.length + after.length <= maxDiffBytes && isUtf8(former) && isUtf8(after);
  const detail = isShown
    ? diffLines(former.toString(), after.toString(), path)
    : `before: ${describeBytes(before)}\nafter: ${describeBytes(after)}\n`;
  return { summary, detail, undoable: true };
}

export function describeBytes(bytes: Buffer | undefined): string {
  return bytes === undefined ? 'no file' : `${bytes.length} bytes, SHA-256 ${hash('sha256', bytes)}`;
}
