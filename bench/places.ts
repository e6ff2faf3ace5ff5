import { mkdirSync, mkdtempSync, rmSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { newPlace } from '../test/harness/daemon.ts';
import type { Place } from '../test/harness/daemon.ts';

export type Medium = 'tmpfs' | 'disk';

const tmpfsType = 0x01021994;
const inMemory = '/dev/shm';

/**
 * A place whose home, with the database, is in memory or on a disk: on a shared disk, a call spends most of its time
 * waiting for the disk. The workspace is in memory in any case.
 */
export function newPlaceOn(medium: Medium): Place {
  if (medium === 'tmpfs') return newPlace(inMemory);
  return { ...newPlace(findDisk()), workspace: mkdtempSync(join(inMemory, 'sallyport-work-')) };
}

export function removePlace({ folder, workspace }: Place): void {
  for (const each of [folder, workspace]) rmSync(each, { recursive: true, force: true });
}

/** The system's temporary folder is in memory on many machines. */
function findDisk(): string {
  const own = join(import.meta.dirname, '../.cache');
  mkdirSync(own, { recursive: true });
  const found = [tmpdir(), own].find((folder) => statfsSync(folder).type !== tmpfsType);
  if (found === undefined) throw new Error('there is no disk to measure on: the checkout is on a tmpfs as well');
  return found;
}
