import { isUtf8 } from 'node:buffer';
import { hash } from 'node:crypto';
import { makeVisibleLine, spellCount } from '@sallyport/contract';
import type { Effect } from '../../call/tool.ts';
import { findChange } from './changed-part.ts';
import type { Change } from './changed-part.ts';
import { diffLines } from '../../text/diff-lines.ts';

/** In a line of hexadecimal digits. */
const bytesPerLine = 32;

/** The effect of giving a file new content: every line that changes, however large the file. */
export function previewChange(given: string, before: Buffer | undefined, after: Buffer): Effect {
  const path = makeVisibleLine(given);
  const summary =
    before === undefined
      ? `Create ${path} (${spellCount(after.length, 'byte')})`
      : `Change ${path} (${spellCount(before.length, 'byte becomes', 'bytes become')} ${after.length})`;
  const former = before ?? Buffer.alloc(0);
  const change = findChange(former, after);
  if (isText(change)) return { summary, detail: describeChange(given, change), undoable: true };
  const sizes = `before: ${describeBytes(before)}\nafter: ${describeBytes(after)}\n`;
  return { summary, detail: `${sizes}${describeChange(given, change)}`, undoable: true };
}

/** A unified diff. What is not text is shown byte by byte. */
export function describeChange(given: string, change: Change): string {
  const path = makeVisibleLine(given);
  const { before, after, linesBefore } = change;
  if (isText(change)) return diffLines(before.toString(), after.toString(), path, linesBefore);
  return diffLines(dumpBytes(before), dumpBytes(after), `${path} (bytes)`);
}

function describeBytes(bytes: Buffer | undefined): string {
  return bytes === undefined ? 'no file' : `${spellCount(bytes.length, 'byte')}, SHA-256 ${hash('sha256', bytes)}`;
}

function isText({ before, after }: Change): boolean {
  return isUtf8(before) && isUtf8(after);
}

/** Bytes as lines of hexadecimal digits, with the characters among them that everybody can read. */
function dumpBytes(bytes: Buffer): string {
  let lines = '';
  for (let at = 0; at < bytes.length; at += bytesPerLine) {
    const piece = bytes.subarray(at, at + bytesPerLine);
    const readable = piece.toString('latin1').replaceAll(/[^ -~]/g, '.');
    lines += `${at.toString(16).padStart(8, '0')}  ${piece.toString('hex').padEnd(2 * bytesPerLine)}  ${readable}\n`;
  }
  return lines;
}
