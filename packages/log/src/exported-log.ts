import { closeSync, openSync, readSync } from 'node:fs';
import type { StoredCheckpoint, StoredRecord } from './record.ts';
import type { LogSource } from './verify.ts';

// One line of JSON for the key, one for each record, one for each checkpoint. Bytes are in base64.
const format = 'sallyport-log-1';
const portionBytes = 1024 * 1024;
/** A record stays below 64 KB. */
const longestLine = 1024 * 1024;

/** A log in a file, for someone who has nothing else of the gate. Nothing in it is trusted. */
export interface ExportedLog extends LogSource {
  /** The public key that the file names. Compare it with one that you know from elsewhere. */
  readonly verifier: string;
}

interface Line {
  readonly format?: unknown;
  readonly verifier?: unknown;
  readonly index?: unknown;
  readonly leaf?: unknown;
  readonly salt?: unknown;
  readonly payload?: unknown;
  readonly tag?: unknown;
  readonly size?: unknown;
  readonly note?: unknown;
}

/** The lines of an export, in the order in which they are read again. */
export function* exportLog(log: LogSource, verifier: string): Generator<string> {
  yield JSON.stringify({ format, verifier });
  for (const { size, note } of log.checkpoints()) yield JSON.stringify({ size, note });
  for (const record of log.records()) yield spellRecord(record);
}

/** A record as one line of JSON. */
export function spellRecord({ index, leaf, salt, payload, tag }: StoredRecord): string {
  const kept = {
    ...(salt === undefined ? {} : { salt: encode(salt) }),
    ...(payload === undefined ? {} : { payload }),
  };
  return JSON.stringify({ index, leaf: encode(leaf), ...kept, tag: encode(tag) });
}

/** Undefined: the line is not about a record. Its content is not trusted. */
export function readRecordLine(text: string): StoredRecord | undefined {
  try {
    return readRecord(JSON.parse(text) as Line);
  } catch {
    return undefined;
  }
}

/** Throws when the file is not an export. The verifier judges what it says about the log. */
export function openExport(file: string): ExportedLog {
  const [head] = readLines(file);
  const { format: found, verifier }: Line = head ?? {};
  if (found !== format || typeof verifier !== 'string') throw new Error(`${file} is not an export of a log`);
  return {
    verifier,
    checkpoints: () => readCheckpoints(file),
    records: () => readRecords(file),
  };
}

function* readCheckpoints(file: string): Generator<StoredCheckpoint> {
  for (const { size, note } of readLines(file)) {
    if (size !== undefined || note !== undefined) yield { size: Number(size), note: String(note) };
  }
}

function* readRecords(file: string): Generator<StoredRecord> {
  for (const line of readLines(file)) {
    const record = readRecord(line);
    if (record !== undefined) yield record;
  }
}

function readRecord(line: Line): StoredRecord | undefined {
  if (line.index === undefined && line.leaf === undefined) return undefined;
  return {
    index: typeof line.index === 'number' ? line.index : -1,
    leaf: decode(line.leaf),
    ...(line.salt === undefined ? {} : { salt: decode(line.salt) }),
    ...(line.payload === undefined ? {} : { payload: typeof line.payload === 'string' ? line.payload : '' }),
    tag: decode(line.tag),
  };
}

/** In portions, so that a log of any size fits into memory. */
function* readLines(file: string): Generator<Line> {
  const descriptor = openSync(file, 'r');
  try {
    const portion = Buffer.alloc(portionBytes);
    let rest = Buffer.alloc(0);
    let number = 0;
    for (;;) {
      const read = readSync(descriptor, portion);
      const bytes = Buffer.concat([rest, portion.subarray(0, read)]);
      let from = 0;
      for (let end = bytes.indexOf(10); end >= 0; end = bytes.indexOf(10, from)) {
        number += 1;
        yield parseLine(bytes.subarray(from, end), file, number);
        from = end + 1;
      }
      rest = Buffer.from(bytes.subarray(from));
      if (rest.length > longestLine) throw new Error(`line ${number + 1} of ${file} is too long`);
      if (read > 0) continue;
      if (rest.length > 0) yield parseLine(rest, file, number + 1);
      return;
    }
  } finally {
    closeSync(descriptor);
  }
}

function parseLine(bytes: Uint8Array, file: string, number: number): Line {
  try {
    const line: unknown = JSON.parse(Buffer.from(bytes).toString('utf8'));
    if (typeof line === 'object' && line !== null) return line;
  } catch {
    // Reported below.
  }
  throw new Error(`line ${number} of ${file} is not JSON`);
}

function encode(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('base64');
}

function decode(text: unknown): Uint8Array {
  return typeof text === 'string' ? Buffer.from(text, 'base64') : new Uint8Array();
}
