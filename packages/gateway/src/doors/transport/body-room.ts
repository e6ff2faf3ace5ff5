import { RpcError } from './rpc-error.ts';

export interface RoomLimits {
  /** Of all requests together that are being received or answered. One that is larger waits until it is alone. */
  readonly maxBytes: number;
  /** What one session may hold beside its first request, which may have any size that is allowed. */
  readonly maxBytesPerOwner: number;
  /** Of all small requests that are not whole yet: those of known callers, and those of everyone else. */
  readonly maxSmallBytes: number;
  /** How long a request waits for room before it is refused. */
  readonly maxWaitMs: number;
}

/** Whether a credential was accepted on the connection. Strangers take nothing from the others. */
export type SmallOwner = 'known' | 'stranger';

interface Waiting {
  readonly ticket: RoomTicket;
  readonly toBytes: number;
  readonly settle: (error?: RpcError) => void;
}

/**
 * The memory that large requests take, from the first byte until they are answered: what a call holds while it waits
 * and runs is a multiple of its body. Who finds no room waits, and reads nothing meanwhile. A session that sends much
 * does not keep out the others: those that fit go first.
 */
export class BodyRoom {
  readonly #limits: RoomLimits;
  readonly #byOwner = new Map<string, number>();
  readonly #waiting = new Set<Waiting>();
  #takenBytes = 0;
  readonly #smallBytes = { known: 0, stranger: 0 };

  constructor(limits: RoomLimits) {
    this.#limits = limits;
  }

  get takenBytes(): number {
    return this.#takenBytes;
  }

  open(owner: string): RoomTicket {
    return new RoomTicket(this, owner);
  }

  /** Counts bytes of a small request as they come. Nobody waits: it is refused when too many are unfinished. */
  takeSmall(of: SmallOwner, bytes: number): void {
    if (this.#smallBytes[of] + bytes > this.#limits.maxSmallBytes) throw noRoom();
    this.#smallBytes[of] += bytes;
  }

  giveSmall(of: SmallOwner, bytes: number): void {
    this.#smallBytes[of] -= bytes;
  }

  /** Only for tickets. Resolves when the ticket stands for that many bytes; rejects with RpcError when it never will. */
  grow(ticket: RoomTicket, toBytes: number): Promise<void> {
    if (this.#take(ticket, toBytes)) return Promise.resolve();
    // Two half-read requests that waited for each other would wait for ever.
    if (ticket.bytes > 0) return Promise.reject(noRoom());
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => waiting.settle(noRoom()), this.#limits.maxWaitMs);
      const waiting: Waiting = {
        ticket,
        toBytes,
        settle: (error) => {
          clearTimeout(timer);
          this.#waiting.delete(waiting);
          if (error === undefined) resolve();
          else reject(error);
        },
      };
      this.#waiting.add(waiting);
    });
  }

  /** Only for tickets. */
  release(ticket: RoomTicket): void {
    for (const waiting of this.#waiting) if (waiting.ticket === ticket) waiting.settle(noRoom());
    if (ticket.bytes === 0) return;
    this.#count(ticket, -ticket.bytes);
    for (const waiting of this.#waiting) if (this.#take(waiting.ticket, waiting.toBytes)) waiting.settle();
  }

  #take(ticket: RoomTicket, toBytes: number): boolean {
    const more = toBytes - ticket.bytes;
    const held = this.#byOwner.get(ticket.owner) ?? 0;
    const isFirst = held === ticket.bytes;
    const isAlone = this.#takenBytes === ticket.bytes;
    const { maxBytes, maxBytesPerOwner } = this.#limits;
    if (!isAlone && this.#takenBytes + more > maxBytes) return false;
    if (!isFirst && held + more > maxBytesPerOwner) return false;
    this.#count(ticket, more);
    return true;
  }

  #count(ticket: RoomTicket, bytes: number): void {
    ticket.bytes += bytes;
    this.#takenBytes += bytes;
    const held = (this.#byOwner.get(ticket.owner) ?? 0) + bytes;
    if (held > 0) this.#byOwner.set(ticket.owner, held);
    else this.#byOwner.delete(ticket.owner);
  }
}

/** The room of one request. `release` must be called, and may be called twice. */
export class RoomTicket {
  readonly owner: string;
  readonly #room: BodyRoom;
  bytes = 0;

  constructor(room: BodyRoom, owner: string) {
    this.#room = room;
    this.owner = owner;
  }

  grow(toBytes: number): Promise<void> {
    return this.#room.grow(this, toBytes);
  }

  release(): void {
    this.#room.release(this);
  }
}

function noRoom(): RpcError {
  return new RpcError('resource_exhausted', 'Too many large requests are being received; try again later.');
}
