import type { AttemptCounter } from '../../audit/attempt-counter.ts';
import type { AnyTool } from '../../call/tool.ts';
import { collectTrash } from '../../undo/collect-trash.ts';
import type { DaemonParts } from './daemon-parts.ts';

const afterStartMs = 3000;
const collectEveryMs = 6 * 3_600_000;
const flushEveryMs = 1000;

type ChoreParts = Pick<DaemonParts, 'home' | 'store' | 'registry' | 'currentRules' | 'log'>;

/** What most agents call. */
const isCommon = ({ definition }: AnyTool): boolean => definition.name.startsWith('files.');

/** Work that nobody waits for, after the start and from time to time. Returns what ends it. */
export function startChores({ home, store, registry, currentRules, log }: ChoreParts, attempts: AttemptCounter) {
  const ended = new AbortController();
  const collect = (): void => {
    const parts = { journal: store, trashFolder: home.trashFolder, keepMs: currentRules().limits.undoForMs };
    collectTrash(parts, Date.now()).then(
      (removed) => removed > 0 && log.info('trash_collected', { removed }),
      (error: unknown) => log.error('trash_not_collected', { error }),
    );
  };
  const timers = [
    // All schemas together would take half a second of a core and ten megabytes; one takes its first call milliseconds.
    setTimeout(() => void registry.warmUp(ended.signal, isCommon), afterStartMs),
    // Reading all of a long log takes a while; what was written last was looked at already.
    setTimeout(() => store.verifyInBackground(), afterStartMs),
    setTimeout(collect, afterStartMs),
    setInterval(collect, collectEveryMs),
    setInterval(() => attempts.flush(Date.now()), flushEveryMs),
  ];
  for (const timer of timers) timer.unref();
  return {
    close: (): void => {
      ended.abort();
      for (const timer of timers) clearTimeout(timer);
    },
  };
}
