import { spellCount } from '@sallyport/contract';
import type { JournalRepository } from '../storage/stores.ts';

/** An undo that a crash cut off, after its changes were in the journal. */
export interface CutOffUndo {
  readonly callId: string;
  /** How many changes it was about to make. The files show which of them it made. */
  readonly changes: number;
}

const undoTools: readonly string[] = ['undo.run', 'files.undo'];
const mostCounted = 10_000;

/** The undos among the calls that a crash cut off, without those that had not begun to change anything. */
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
    `An undo of ${spellCount(changes, 'change')} was cut off by a crash (call ${callId}). Each file is as before the ` +
    `undo or as after it. Run the same undo again to finish it, or \`sallyport undo ${callId}\` to undo it. This message stays until the next start.`
  );
}
