import type { AuditRecord } from '../daemon/messages.ts';
import { addRecord } from './call.ts';
import type { Call } from './call.ts';
import { Observable } from './observable.ts';

/** The newest part of the log, as far back as the browser keeps it. */
export interface LogView {
  /** Oldest first, without gaps. */
  readonly records: readonly AuditRecord[];
  /** Newest first. */
  readonly calls: readonly Call[];
}

export const mostKept = 2000;
export const firstAsked = 500;

/** Follows the log. After a break it goes on where it was, so that nothing is missing in between. */
export class CallLog {
  readonly view = new Observable<LogView>({ records: [], calls: [] });
  readonly #calls = new Map<string, Call>();

  /** Where the stream has to start; negative counts from the end. */
  get next(): number {
    const last = this.view.get().records.at(-1);
    return last === undefined ? -firstAsked : Number(last.index) + 1;
  }

  add(fresh: readonly AuditRecord[]): void {
    const { records: known } = this.view.get();
    const last = Number(known.at(-1)?.index ?? -1);
    const added = fresh.filter(({ index }) => Number(index) > last);
    if (added.length === 0) return;
    for (const record of added) {
      if (record.callId === '') continue;
      const call = addRecord(this.#calls.get(record.callId), record);
      this.#calls.delete(record.callId);
      this.#calls.set(record.callId, call);
    }
    const records = [...known, ...added].slice(-mostKept);
    this.#forgetBefore(Number(records[0]?.index ?? 0));
    this.view.set({ records, calls: [...this.#calls.values()].sort((a, b) => b.startedAtMs - a.startedAtMs) });
  }

  #forgetBefore(index: number): void {
    for (const [id, { records }] of this.#calls) {
      if (Number(records.at(-1)?.index ?? 0) >= index) return;
      this.#calls.delete(id);
    }
  }
}
