import {
  closeSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { matchesPayload, readRecordLine, spellRecord } from '@sallyport/log';
import type { IndexRange, StoredRecord } from '@sallyport/log';

const heading = JSON.stringify({ format: 'sallyport-archive-1' });
const fileName = /^(\d{1,15})-(\d{1,15})\.jsonl$/;
const mostOpen = 4;

interface Segment {
  readonly name: string;
  readonly from: number;
  readonly to: number;
}

/**
 * Payloads and salts of old records, in files beside the database. Nothing in them is trusted: a payload counts only if
 * it matches the leaf in the log. Any thread or process may read; one daemon writes. Each file appears whole or not at
 * all.
 */
export class ArchiveFolder {
  readonly #folder: string;
  #segments: readonly Segment[] = [];
  readonly #open = new Map<string, ReadonlyMap<number, StoredRecord>>();
  #changedNs: bigint | undefined;

  constructor(folder: string) {
    this.#folder = folder;
  }

  get isEmpty(): boolean {
    this.#look();
    return this.#segments.length === 0;
  }

  /**
   * The record with its payload and salt from a file. Without a file, or if the file was changed, it stays as it is.
   */
  fill(record: StoredRecord): StoredRecord {
    const filled = this.fillUnchecked(record);
    return matchesPayload(filled, record.leaf) ? filled : record;
  }

  /** The same for a verifier: with what the file says, even if that is wrong. */
  fillUnchecked(record: StoredRecord): StoredRecord {
    if (record.payload !== undefined || record.salt !== undefined) return record;
    const found = this.#segmentsOf(record.index).flatMap((segment) => this.#read(segment).get(record.index) ?? []);
    const told = found.filter(({ salt, payload }) => salt !== undefined || payload !== undefined);
    const { salt, payload } = told.find((each) => matchesPayload(each, record.leaf)) ?? told[0] ?? {};
    return { ...record, ...(salt && { salt }), ...(payload === undefined ? {} : { payload }) };
  }

  /** Whether there is a file with records of this place. */
  has(index: number): boolean {
    return this.#segmentsOf(index).length > 0;
  }

  #segmentsOf(index: number): readonly Segment[] {
    this.#look();
    return this.#segments.filter(({ from, to }) => from <= index && index <= to);
  }

  /** Writes a file of records in the order of the log, durably, and returns its name. */
  write(records: readonly StoredRecord[]): string {
    mkdirSync(this.#folder, { recursive: true, mode: 0o700 });
    const name = `${records[0]?.index}-${records.at(-1)?.index}.jsonl`;
    this.#replace(name, [heading, ...records.map(spellRecord)]);
    return name;
  }

  /** Removes payloads and salts from all files that have them. */
  erase(ranges: readonly IndexRange[]): void {
    this.#look();
    for (const segment of this.#segments) {
      const inside = ranges.filter(([from, to]) => from <= segment.to && to >= segment.from);
      if (inside.length === 0) continue;
      const isErased = (index: number): boolean => inside.some(([from, to]) => from <= index && index <= to);
      const records = [...this.#read(segment).values()];
      if (!records.some(({ index, payload }) => payload !== undefined && isErased(index))) continue;
      const left = records.map(({ index, leaf, tag, ...kept }) => ({
        ...{ index, leaf, tag },
        ...(isErased(index) ? {} : kept),
      }));
      this.#replace(segment.name, [heading, ...left.map(spellRecord)]);
    }
  }

  /** Which of these files are missing. */
  findMissing(names: Iterable<string>): readonly string[] {
    this.#look();
    const present = new Set(this.#segments.map(({ name }) => name));
    return [...new Set(names)].filter((name) => fileName.test(name) && !present.has(name));
  }

  #read(segment: Segment): ReadonlyMap<number, StoredRecord> {
    const known = this.#open.get(segment.name);
    if (known !== undefined) return known;
    const lines = readFileSync(join(this.#folder, segment.name), 'utf8').split('\n');
    const records = new Map<number, StoredRecord>();
    for (const line of lines) {
      const record = line === '' ? undefined : readRecordLine(line);
      if (record !== undefined) records.set(record.index, record);
    }
    if (this.#open.size >= mostOpen) this.#open.delete([...this.#open.keys()][0] ?? '');
    this.#open.set(segment.name, records);
    return records;
  }

  /** A file that came, went or was replaced changes the time of the folder. */
  #look(): void {
    const stats = statSync(this.#folder, { bigint: true, throwIfNoEntry: false });
    if (stats?.mtimeNs === this.#changedNs) return;
    this.#changedNs = stats?.mtimeNs;
    this.#open.clear();
    const names = stats === undefined ? [] : readdirSync(this.#folder);
    this.#segments = names
      .flatMap((name) => {
        const [, from, to] = fileName.exec(name) ?? [];
        return from === undefined ? [] : [{ name, from: Number(from), to: Number(to) }];
      })
      .toSorted((a, b) => a.from - b.from);
  }

  #replace(name: string, lines: readonly string[]): void {
    const fresh = join(this.#folder, `${name}.new`);
    try {
      withFile(fresh, 'w', (descriptor) => {
        writeSync(descriptor, `${lines.join('\n')}\n`);
        fsyncSync(descriptor);
      });
      renameSync(fresh, join(this.#folder, name));
    } finally {
      rmSync(fresh, { force: true });
    }
    withFile(this.#folder, 'r', fsyncSync);
    this.#changedNs = undefined;
  }
}

function withFile(path: string, flags: string, work: (descriptor: number) => void): void {
  const descriptor = openSync(path, flags, 0o600);
  try {
    work(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
