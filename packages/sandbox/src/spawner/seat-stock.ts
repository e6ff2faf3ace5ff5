import type { Cgroup, CgroupLimits } from '../launch/cgroup.ts';
import type { GroupHome } from '../limits/group-home.ts';
import { remove } from './confinement.ts';
import type { StartHelper } from './start-helper.ts';

/** A process that waits to become the first of a program, alone in the control group of that program. */
export interface Seat {
  readonly pid: number;
  readonly group: Cgroup;
}

/** More start at once only when many are at work anyway. */
const mostSeats = 2;

/**
 * Processes that were forked and put under limits ahead of time, because that takes longer than all the rest. They know
 * nothing about a program: the next one gets a seat, and it is used once.
 */
export class SeatStock {
  readonly #home: GroupHome;
  readonly #helper: StartHelper;
  readonly #seats: Seat[] = [];
  #limits: CgroupLimits;
  #isFilling = false;

  /** `limits` are those that most programs have; other limits take a moment longer. */
  constructor(home: GroupHome, helper: StartHelper, limits: CgroupLimits) {
    this.#home = home;
    this.#helper = helper;
    this.#limits = limits;
  }

  /** It belongs to the caller from then on. Undefined: no seat waits, and a new process is needed. */
  take(limits: CgroupLimits): Seat | undefined {
    const seat = this.#seats.shift();
    if (seat === undefined) return undefined;
    try {
      if (!this.#helper.hasSeat(seat.pid)) throw new Error('it is gone');
      seat.group.limit(limits);
      this.#limits = limits;
      return seat;
    } catch {
      this.#discard(seat);
      return undefined;
    }
  }

  /** Call it when no program is about to start: it competes with them. */
  async refill(): Promise<void> {
    if (this.#isFilling) return;
    this.#isFilling = true;
    while (this.#seats.length < mostSeats && (await this.#open()));
    this.#isFilling = false;
  }

  /** False when it could not be; then programs are started without, and find out why. */
  async #open(): Promise<boolean> {
    const [group, pid] = await Promise.all([
      this.#home.openGroup(this.#limits).catch(() => undefined),
      this.#helper.openSeat(),
    ]);
    if (group === undefined || pid === undefined) {
      if (group !== undefined) void remove(group);
      if (pid !== undefined) this.#helper.closeSeat(pid);
      return false;
    }
    try {
      await group.addInTime(pid);
      this.#seats.push({ pid, group });
      return true;
    } catch {
      this.#discard({ pid, group });
      return false;
    }
  }

  #discard({ pid, group }: Seat): void {
    this.#helper.closeSeat(pid);
    void remove(group);
  }
}
