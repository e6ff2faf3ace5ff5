import type { MountClaims } from './launch.ts';
import { isWithin } from '../is-within.ts';
import { withResolvers } from '../with-resolvers.ts';

interface Passage {
  readonly claims: MountClaims;
  readonly left: Promise<void>;
}

/**
 * Keeps apart programs if one of them could replace a path, for example by a symbolic link, while something is mounted
 * there for the other. Programs that hold the same paths pass together, and so do those with nothing in common.
 *
 * Enter with the claims of a plan, then plan again, because the wait may have been long; leave when the program has
 * ended. One gate for all programs of a machine. Passages are granted in the order in which they were asked for.
 */
export class MountGate {
  readonly #passages = new Set<Passage>();

  /**
   * Resolves with how to leave. When the signal aborts first, rejects with its reason, or with MountsBusy if there was
   * something to wait for.
   */
  async enter(claims: MountClaims, signal: AbortSignal): Promise<() => void> {
    signal.throwIfAborted();
    const { promise: left, resolve: leave } = withResolvers<void>();
    const passage = { claims, left };
    const earlier = [...this.#passages].filter((other) => !mayOverlap(claims, other.claims));
    this.#passages.add(passage);
    const leaveOnce = (): void => {
      this.#passages.delete(passage);
      leave();
    };
    const aborted = withResolvers<never>();
    const onAbort = (): void => aborted.reject(new MountsBusy({ cause: signal.reason }));
    signal.addEventListener('abort', onAbort, { once: true });
    try {
      await Promise.race([Promise.all(earlier.map((other) => other.left)), aborted.promise]);
      return leaveOnce;
    } catch (error) {
      leaveOnce();
      throw error;
    } finally {
      signal.removeEventListener('abort', onAbort);
    }
  }
}

/** The wait for other programs was given up. Nothing had started. */
export class MountsBusy extends Error {
  constructor(options?: ErrorOptions) {
    super('The wait for programs in the same folder was given up.', options);
    this.name = 'MountsBusy';
  }
}

/** Whether two programs may run at the same time. */
export function mayOverlap(a: MountClaims, b: MountClaims): boolean {
  return leavesAlone(a, b) && leavesAlone(b, a);
}

/** Whether a program can replace nothing on which the other has, or would have, something mounted. */
function leavesAlone(program: MountClaims, other: MountClaims): boolean {
  return [...other.holds, ...other.misses].every(
    (path) =>
      !program.writes.some((folder) => isWithin(folder, path)) ||
      program.holds.includes(path) ||
      program.shuts.some((folder) => isWithin(folder, path)),
  );
}
