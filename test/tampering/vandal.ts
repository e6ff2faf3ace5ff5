import { cpSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { TestDaemon } from '../harness/daemon.ts';
import type { Place } from '../harness/daemon.ts';

/** Somebody with a shell and write access to the database, and without the keys. */
export function vandalise(place: Place, change: string | ((database: DatabaseSync) => void)): void {
  const database = new DatabaseSync(join(place.home, 'sallyport.db'), { timeout: 5000 });
  try {
    if (typeof change === 'string') database.exec(change);
    else change(database);
  } finally {
    database.close();
  }
}

/** What the daemon says when it does not start. Ends it when it does. */
export async function startRefusal(place: Place): Promise<string> {
  try {
    const daemon = await TestDaemon.start(place);
    await daemon.kill('SIGTERM');
    return 'it started';
  } catch (error) {
    return (error as Error).message;
  }
}

/** Runs `check` on a home that is put back afterwards as it was. The daemon must not be running. */
export async function onCopy(place: Place, check: () => Promise<void>): Promise<void> {
  const saved = join(place.folder, 'saved');
  cpSync(place.home, saved, { recursive: true, filter: (path) => !path.endsWith('.sock') });
  try {
    await check();
  } finally {
    rmSync(place.home, { recursive: true });
    renameSync(saved, place.home);
  }
}
