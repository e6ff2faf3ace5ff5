import { spellCount } from '@sallyport/contract';
import type { JournalRepository } from '../storage/stores.ts';

/** An undo that a crash cut off, after it had written down what it was about to do. */
export interface CutOffUndo {
  readonly callId: string;
  /** How many changes it was about to make. Which of them it made, the files show. */
  readonly changes: number;
}

const undoTools: readonly string[] = ['undo.run', 'files.undo'];
const mostCounted = 10_000;

/** Those among the calls that a crash cut off. One that had not begun to change anything is not among them. */
export async function findCutOffUndos(
  cutOff: readonly { readonly callId: string; readonly tool: string }[],
  journal: Pick<JournalRepository, 'readJournal'>,
): Promise<readonly CutOffUndo[]> {
  const undos = cutOff.filter(({ tool }) => undoTools.includes(tool));
  const found = await Promise.all(
    undos.map(async ({ callId }) => ({
      callId,
      changes: (await journal.readJournal({ callId }, mostCounted)).length,
    })),
  );
  return found.filter(({ changes }) => changes > 0);
}

/** For `sallyport status`. */
export function describeCutOff({ callId, changes }: CutOffUndo): string {
  return (
    `An undo of ${spellCount(changes, 'change')} was cut off by a crash (call ${callId}). Each file is as before it or as ` +
    `after it. The same undo once more finishes it; \`sallyport undo ${callId}\` takes it back. This is said until the next start.`
  );
}
