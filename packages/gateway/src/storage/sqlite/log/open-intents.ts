import { decodeLeaf } from '@sallyport/log';
import type { OpenIntent } from '../../stores.ts';
import type { Database } from '../database.ts';

interface OpenCall {
  readonly callId: string;
  readonly position: number;
}

/**
 * Which calls have an intent and no outcome, as the log says. Kept in memory: each commit only writes the place of the
 * first of them in the log, and a start reads the log from there.
 */
export class OpenIntents {
  /** By a number of the id: V8 takes a microsecond to look up a text that it has never seen. */
  readonly #calls = new Map<number, OpenCall>();
  /** Those whose number another open call had already. */
  readonly #others = new Map<string, OpenCall>();
  /** What this transaction did, to be undone when it is rolled back. */
  #opened: OpenCall[] = [];
  #closed: OpenCall[] = [];

  /** In the order of the log. */
  constructor(open: Iterable<OpenIntent>) {
    for (const { callId, index } of open) this.#add({ callId, position: index });
  }

  open(callId: string, position: number): void {
    if (this.#find(callId) !== undefined) throw new Error(`call ${callId} has an open intent already`);
    const call = { callId, position };
    this.#add(call);
    this.#opened.push(call);
  }

  close(callId: string): void {
    const call = this.#find(callId);
    if (call === undefined) throw new Error(`no open intent for call ${callId}`);
    this.#remove(call);
    this.#closed.push(call);
  }

  /** From where on the log must be read to find all of them; its end if no intent is open. */
  firstPosition(logSize: number): number {
    // Both were filled in the order of the log.
    const [first, other] = [this.#calls.values().next().value, this.#others.values().next().value];
    return Math.min(first?.position ?? logSize, other?.position ?? logSize);
  }

  committed(): void {
    if (this.#opened.length > 0) this.#opened = [];
    if (this.#closed.length > 0) this.#closed = [];
  }

  rolledBack(): void {
    const opened = new Set(this.#opened);
    const all = [...this.#closed, ...this.#calls.values(), ...this.#others.values()].filter(
      (call) => !opened.has(call),
    );
    this.#calls.clear();
    this.#others.clear();
    for (const call of all.toSorted((one, other) => one.position - other.position)) this.#add(call);
    this.committed();
  }

  #find(callId: string): OpenCall | undefined {
    const call = this.#calls.get(numberOf(callId));
    if (call?.callId === callId) return call;
    return this.#others.size === 0 ? undefined : this.#others.get(callId);
  }

  #add(call: OpenCall): void {
    const number = numberOf(call.callId);
    if (this.#calls.has(number)) this.#others.set(call.callId, call);
    else this.#calls.set(number, call);
  }

  #remove(call: OpenCall): void {
    const number = numberOf(call.callId);
    if (this.#calls.get(number) === call) this.#calls.delete(number);
    else this.#others.delete(call.callId);
  }
}

/** The end of an id is random. */
function numberOf(callId: string): number {
  let number = 0;
  for (let at = callId.length - 7; at < callId.length; at++)
    number = ((number << 4) ^ callId.charCodeAt(at)) & 0xfffffff;
  return number;
}

/** Reads the log from this place on. The leaves are not verified; unreadable ones are left out. */
export function findOpenIntents(database: Database, from: number): readonly OpenIntent[] {
  const open = new Map<string, OpenIntent>();
  const leaves = database.prepare(
    `SELECT position, leaf FROM records WHERE position >= ? AND substr(leaf, 2, 1) IN (x'01', x'02') ORDER BY position`,
  );
  for (const { position, leaf } of leaves.iterate(from)) {
    const { kind, callId, sessionId = '', timeMs } = tryDecode(leaf as Uint8Array) ?? {};
    if (callId === undefined || timeMs === undefined) continue;
    if (kind === 'intent') open.set(callId, { callId, index: Number(position), sessionId, timeMs });
    else open.delete(callId);
  }
  return [...open.values()];
}

function tryDecode(leaf: Uint8Array): ReturnType<typeof decodeLeaf> | undefined {
  try {
    return decodeLeaf(leaf);
  } catch {
    return undefined;
  }
}
