import { ToolFailure } from '../call/tool.ts';

/** Missing and forbidden content get the same answer, so that callers cannot learn which hashes exist. */
export function noSuchContent(hash: string): ToolFailure {
  return new ToolFailure('NOT_FOUND', `There is no content ${hash} that this session may use.`);
}

export function corruptedContent(hash: string, options?: ErrorOptions): ToolFailure {
  const message = `The stored bytes of ${hash} are damaged. Putting the content again repairs it.`;
  return new ToolFailure('CONTENT_CORRUPTED', message, options);
}

export function contentMismatch(message: string): ToolFailure {
  return new ToolFailure('CONTENT_MISMATCH', message);
}

export function diskFull(options?: ErrorOptions): ToolFailure {
  return new ToolFailure('DISK_FULL', 'The disk of the content store has no room for this. Free some space.', options);
}

const noRoom: readonly unknown[] = ['ENOSPC', 'EDQUOT', 'EFBIG'];

/**
 * An error of the file system as the caller reads it. Errors that are not about space stay as they are: faults of the
 * gate.
 */
export function failureOfWriting(error: unknown): unknown {
  return error instanceof Error && 'code' in error && noRoom.includes(error.code) ? diskFull({ cause: error }) : error;
}
