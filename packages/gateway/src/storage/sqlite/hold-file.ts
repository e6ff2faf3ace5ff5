import { Database, isBusy } from './database.ts';

/**
 * Takes a lock on a file that the kernel holds: it ends with the process, however that ends, and keeps out every other
 * process of the machine, even one in another pid namespace. Returns the release; undefined when another process has
 * the lock. The file stays, empty.
 */
export function holdFile(path: string): (() => void) | undefined {
  const database = Database.openForLocking(path);
  try {
    // Without a journal, which would be a second file.
    database.execute('PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE;');
    return () => database.close();
  } catch (error) {
    database.close();
    if (isBusy(error)) return undefined;
    throw error;
  }
}
