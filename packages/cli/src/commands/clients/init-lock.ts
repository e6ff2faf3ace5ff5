import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { holdFile } from '@sallyport/gateway';
import { usageFailure } from '../../client/failure.ts';

/** One at a time: two would keep each other's changes as what was there before. It ends with the process. */
export function holdInitLock(home: string): Disposable {
  const folder = join(home, 'clients');
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const letGo = holdFile(join(folder, 'init.lock'));
  if (letGo === undefined) {
    throw usageFailure('Another `sallyport init` is running.', 'Wait until it has ended, then try again.');
  }
  return { [Symbol.dispose]: letGo };
}
