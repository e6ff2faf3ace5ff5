import type { Mount, Access } from '../program.ts';
import { checkMount, refuseMount } from './check-mount.ts';
import { isWithin } from '../is-within.ts';

/** A mount that is really made, with everything that must be hidden or frozen in it, for whatever reason. */
export interface ArrangedMount {
  readonly source: string;
  readonly target: string;
  readonly access: Access;
  /** Every program sees it, so it is there already. */
  readonly isSystem: boolean;
  /** It is inside another mount. */
  readonly isNested: boolean;
  readonly hidden: readonly string[];
  readonly frozen: readonly string[];
}

type Placed = Pick<ArrangedMount, 'source' | 'target' | 'access' | 'isSystem'>;

/**
 * Decides which mounts are made, parents first. One that shows what another shows already is left out; a writable one
 * inside a read-only one stays. Throws ProgramNotStarted for those that contradict each other.
 */
export function arrangeMounts(mounts: readonly Mount[], system: readonly string[]): readonly ArrangedMount[] {
  for (const mount of mounts) checkMount(mount, system);
  const hidden = outermost(mounts.flatMap((mount) => mount.hidden ?? []));
  const frozen = outermost(mounts.flatMap((mount) => mount.frozen ?? []));
  const asked: readonly Placed[] = [
    ...system.map((path) => ({ source: path, target: path, access: 'read' as const, isSystem: true })),
    ...mounts.map(({ source, target, access }) => ({
      source,
      target,
      access: frozen.some((path) => isWithin(path, source)) ? ('read' as const) : access,
      isSystem: false,
    })),
  ];
  const kept = keepNeeded(asked);
  for (const { source } of kept) checkNotHidden(source, hidden);
  return kept.map((mount) => {
    const nested = kept.filter((other) => other !== mount && isWithin(mount.target, other.target));
    /** Inside this mount, and not inside one that covers it there. */
    const isHere = (path: string): boolean =>
      isWithin(mount.source, path) && path !== mount.source && !nested.some(({ source }) => isWithin(source, path));
    return {
      ...mount,
      isNested: kept.some((other) => other !== mount && isWithin(other.target, mount.target)),
      hidden: hidden.filter(isHere),
      frozen:
        mount.access === 'read' ? [] : frozen.filter(isHere).filter((path) => !hidden.some((h) => isWithin(h, path))),
    };
  });
}

function keepNeeded(asked: readonly Placed[]): readonly Placed[] {
  const kept: Placed[] = [];
  // Outer ones first, and of two at the same place the writable one.
  const ordered = asked.toSorted((a, b) => compare(a.target, b.target) || compare(b.access, a.access));
  for (const mount of ordered) {
    const outer = kept.findLast((other) => isWithin(other.target, mount.target));
    if (outer === undefined) kept.push(mount);
    else if (mount.isSystem) throw contradiction(outer, mount);
    else if (mount.source !== outer.source + mount.target.slice(outer.target.length)) throw contradiction(mount, outer);
    else if (outer.access === 'read' && mount.access === 'write') kept.push(mount);
  }
  return kept;
}

function checkNotHidden(source: string, hidden: readonly string[]): void {
  const cover = hidden.find((path) => isWithin(path, source));
  if (cover === undefined) return;
  throw refuseMount(`The program should see ${source}, and the rules forbid it ${cover}.`);
}

function contradiction(inner: Placed, outer: Placed): Error {
  return refuseMount(
    `${inner.source} cannot be shown at ${inner.target}, where ${outer.source} is shown.`,
    'Show it at a place outside of the other.',
  );
}

/** Without those that are inside another. */
function outermost(paths: readonly string[]): readonly string[] {
  const unique = [...new Set(paths)];
  return unique.filter((path) => !unique.some((other) => other !== path && isWithin(other, path)));
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
