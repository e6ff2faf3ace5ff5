import { dirname } from 'node:path';
import { isDamaged, isDiskFull } from './database.ts';

/** Why the database could not be opened, and what to do, for the person at the terminal. */
export function describeOpenFailure(
  error: unknown,
  databaseFile: string,
): { readonly message: string; readonly remedy: string | undefined } {
  const reason = error instanceof Error ? error.message : String(error);
  if (isDiskFull(error)) {
    const [message, remedy] = describeFullDisk(dirname(databaseFile));
    return { message, remedy };
  }
  if (isDamaged(error)) {
    return {
      message: `The database ${databaseFile} is damaged: ${reason}.`,
      remedy: 'Restore it from a backup. Keep the damaged file: records may be recovered from it.',
    };
  }
  return {
    message: `The database ${databaseFile} cannot be opened: ${reason}.`,
    remedy: `Check that ${dirname(databaseFile)} can be written and that no other program uses the database.`,
  };
}

export function describeFullDisk(folder: string): [message: string, remedy: string] {
  return [
    `The disk is full: Sallyport cannot write to ${folder}.`,
    'Free some space there, then start again. Nothing was lost.',
  ];
}
