/** One connection that holds a place at a door. */
export interface Occupant {
  /** Whether nothing is asked on it. */
  readonly isIdle: () => boolean;
  /** Closes it. Leads to `leave`. */
  readonly evict: () => void;
}

/** Of the places at a door, those that only become free for newcomers: without one nobody could present a credential. */
const shareForStrangers = 1 / 4;

/**
 * Who may stay connected when a door is full. Connections without a valid credential are closed first, the longest
 * connected before the others; they use what the others leave free. A session that holds the most gives way to another.
 */
export class ConnectionPlaces {
  readonly #maxPlaces: number;
  readonly #maxKnown: number;
  /** In the order in which they came. */
  readonly #strangers = new Set<Occupant>();
  readonly #owners = new Map<Occupant, string>();
  readonly #byOwner = new Map<string, Set<Occupant>>();

  constructor(maxPlaces: number) {
    this.#maxPlaces = maxPlaces;
    this.#maxKnown = maxPlaces - Math.max(1, Math.floor(maxPlaces * shareForStrangers));
  }

  enter(occupant: Occupant): void {
    this.#strangers.add(occupant);
    if (this.#strangers.size + this.#owners.size <= this.#maxPlaces) return;
    const [oldest] = this.#strangers;
    if (oldest !== undefined) this.#evict(oldest);
  }

  /** The occupant has presented the credential of this session. */
  recognise(occupant: Occupant, owner: string): void {
    const before = this.#owners.get(occupant);
    if (before === owner || (before === undefined && !this.#strangers.has(occupant))) return;
    this.leave(occupant);
    this.#owners.set(occupant, owner);
    this.#byOwner.set(owner, (this.#byOwner.get(owner) ?? new Set<Occupant>()).add(occupant));
    if (this.#owners.size > this.#maxKnown) this.#evict(this.#mostDispensable(occupant));
  }

  leave(occupant: Occupant): void {
    this.#strangers.delete(occupant);
    const owner = this.#owners.get(occupant);
    if (owner === undefined) return;
    this.#owners.delete(occupant);
    const own = this.#byOwner.get(owner);
    own?.delete(occupant);
    if (own?.size === 0) this.#byOwner.delete(owner);
  }

  /** Of the session that holds the most: the connection that idles, or else the oldest. The newest has work to do. */
  #mostDispensable(newest: Occupant): Occupant {
    let largest = new Set<Occupant>();
    for (const own of this.#byOwner.values()) if (own.size > largest.size) largest = own;
    const others = [...largest].filter((each) => each !== newest);
    return others.find((each) => each.isIdle()) ?? others[0] ?? newest;
  }

  #evict(occupant: Occupant): void {
    this.leave(occupant);
    occupant.evict();
  }
}
