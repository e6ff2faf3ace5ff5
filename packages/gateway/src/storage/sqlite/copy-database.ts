import { Database } from './database.ts';

/** Copies the database as it is at one moment, also while a gate writes it. Returns how many records the copy has. */
export async function copyDatabase(file: string, target: string): Promise<number> {
  const database = Database.openForReading(file);
  await database.copyTo(target).finally(() => database.close());
  const copy = Database.openForReading(target);
  try {
    return copy.readNumber('SELECT count(*) FROM records');
  } finally {
    copy.close();
  }
}
