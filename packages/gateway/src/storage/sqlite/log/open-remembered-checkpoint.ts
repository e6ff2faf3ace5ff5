import { CheckpointError, openCheckpoint } from '@sallyport/log';
import type { Checkpoint, Signer } from '@sallyport/log';
import { ConfigError } from '../../../call/fault.ts';

/**
 * `where`: what the note was read from, for people. Throws ConfigError, with what to do, when it is not one of this
 * gate.
 */
export function openRememberedCheckpoint(
  note: string,
  where: string,
  { signer, checkpointFile }: { readonly signer: Signer; readonly checkpointFile: string },
): Checkpoint {
  try {
    return openCheckpoint(note, signer);
  } catch (error) {
    if (!(error instanceof CheckpointError)) throw error;
    const what = note.trim() === '' ? 'is empty' : `cannot be used: ${error.message}`;
    throw new ConfigError(
      `${where} ${what}.`,
      `Restore it from a backup, or remove ${checkpointFile}: the next start writes it again from the database. ` +
        'Then run `sallyport audit verify`.',
    );
  }
}
