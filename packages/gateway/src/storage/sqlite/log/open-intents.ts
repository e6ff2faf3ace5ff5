import { decodeLeaf } from '@sallyport/log';
import type { OpenIntent } from '../../stores.ts';
import type { Database } from '../database.ts';

/**
 * Which calls have an intent and no outcome, as the log says. Kept in memory: each commit only writes the place of the
 * first of them in the log, and a start reads the log from there.
 */
export class OpenIntents {
  readonly #positions = new Map<string, number>();
  /** What this transaction did, to be undone when it is rolled back. */
  #opened: string[] = [];
  #closed: [callId: string, position: number][] = [];

  /** In the order of the log. */
  constructor(open: Iterable<OpenIntent>) {
    for (const { callId, index } of open) this.#positions.set(callId, index);
  }

  open(callId: string, position: number): void {
    if (this.#positions.has(callId)) throw new Error(`call ${callId} has an open intent already`);
    this.#positions.set(callId, position);
    this.#opened.push(callId);
  }

  close(callId: string): void {
    const position = this.#positions.get(callId);
    if (position === undefined) throw new Error(`no open intent for call ${callId}`);
    this.#positions.delete(callId);
    this.#closed.push([callId, position]);
  }

  /** From where on the log must be read to find all of them; its end if no intent is open. */
  firstPosition(logSize: number): number {
    // They were added in the order of the log.
    for (const position of this.#positions.values()) return position;
    return logSize;
  }

  committed(): void {
    if (this.#opened.length > 0) this.#opened = [];
    if (this.#closed.length > 0) this.#closed = [];
  }

  rolledBack(): void {
    if (this.#closed.length > 0) {
      const all = [...this.#closed, ...this.#positions].sort((a, b) => a[1] - b[1]);
      this.#positions.clear();
      for (const [callId, position] of all) this.#positions.set(callId, position);
    }
    for (const callId of this.#opened) this.#positions.delete(callId);
    this.committed();
  }
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
