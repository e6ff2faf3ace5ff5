import { statfsSync } from 'node:fs';
import type { SpaceGauge } from '../../stages/check-limits.ts';

const lowBytes = 64 * 1024 * 1024;
const freshForMs = 1000;

/** Watches the free space of the disk that holds the log; asks the system at most once a second. */
export function watchSpace(
  folder: string,
  // Not the time of day: a clock that is set back would leave an old reading in force.
  nowMs: () => number = () => performance.now(),
): SpaceGauge {
  let readAtMs = -Infinity;
  let low = false;
  return {
    isLow: () => {
      if (nowMs() - readAtMs >= freshForMs) {
        readAtMs = nowMs();
        low = isBelow(folder);
      }
      return low;
    },
  };
}

/** What cannot be read counts as low: a call that changes something then waits rather than risks its record. */
function isBelow(folder: string): boolean {
  try {
    const { bavail, bsize } = statfsSync(folder);
    return bavail * bsize < lowBytes;
  } catch {
    return true;
  }
}
