import type { Code, FailureCategory } from '@sallyport/contract';
import { refuse } from '../../call/refusal.ts';
import { ToolFailure, ToolRefused } from '../../call/tool.ts';

interface Reading {
  readonly code: Code;
  readonly category?: FailureCategory;
  readonly says: string;
}

const readings: Readonly<Record<string, Reading>> = {
  ENOENT: { code: 'NOT_FOUND', says: 'does not exist' },
  EEXIST: { code: 'ALREADY_EXISTS', says: 'exists already' },
  ENOTDIR: { code: 'NOT_A_FOLDER', says: 'is not a folder, or one of its parents is not' },
  EISDIR: { code: 'NOT_A_FILE', says: 'is a folder' },
  ENXIO: { code: 'NOT_A_FILE', says: 'is not a regular file' },
  ENOTEMPTY: { code: 'FILE_CHANGED', says: 'was changed by something else meanwhile' },
  EACCES: { code: 'EXECUTION_ERROR', category: 'permission_denied', says: 'is closed to the gate by its file mode' },
  EPERM: { code: 'EXECUTION_ERROR', category: 'permission_denied', says: 'is closed to the gate by the system' },
  EROFS: { code: 'EXECUTION_ERROR', category: 'permission_denied', says: 'is on a read-only file system' },
  ENOSPC: { code: 'DISK_FULL', says: 'needs more space than the disk has; free some and try again' },
  EDQUOT: { code: 'DISK_FULL', says: 'needs more space than the quota leaves; free some and try again' },
  EFBIG: { code: 'DISK_FULL', says: 'is larger than the file system takes' },
  ENAMETOOLONG: { code: 'EXECUTION_ERROR', category: 'validation_failed', says: 'has a name that is too long' },
  EMFILE: { code: 'EXECUTION_ERROR', category: 'resource_exhaustion', says: 'found too many files open; try again' },
  ENFILE: { code: 'EXECUTION_ERROR', category: 'resource_exhaustion', says: 'found too many files open; try again' },
  ENOMEM: { code: 'EXECUTION_ERROR', category: 'resource_exhaustion', says: 'found no memory left; try again' },
  EBUSY: { code: 'EXECUTION_ERROR', says: 'is in use by the system' },
  ETXTBSY: { code: 'EXECUTION_ERROR', says: 'is a running program' },
  EIO: { code: 'EXECUTION_ERROR', says: 'could not be read from or written to the disk' },
};

/**
 * What the caller reads about an error of the system. It names the path as the caller did; the message of the system,
 * which has the real one, stays in the cause. Errors that are not in the table are ours and are returned as they are.
 */
export function failureFrom(error: unknown, given: string): unknown {
  if (!(error instanceof Error) || error instanceof ToolFailure || error instanceof ToolRefused) return error;
  const code = 'code' in error ? String(error.code) : '';
  if (code === 'ELOOP') {
    return new ToolRefused(
      refuse('UNSAFE_PATH', 'path-link', `${given} leads through a link that cannot be followed.`),
    );
  }
  const reading = Object.hasOwn(readings, code) ? readings[code] : undefined;
  if (reading === undefined) return error;
  const category = reading.category === undefined ? {} : { category: reading.category };
  return new ToolFailure(reading.code, `${given} ${reading.says}.`, { cause: error, ...category });
}
