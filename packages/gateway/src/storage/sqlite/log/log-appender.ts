import { randomFillSync } from 'node:crypto';
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import {
  MerkleFrontier,
  deriveTagKey,
  encodeCommittedLeaf,
  hashLeaf,
  isTagOf,
  matchesPayload,
  saltBytes,
  signCheckpoint,
  tagRecord,
} from '@sallyport/log';
import type { Checkpoint, Signer, TagKey } from '@sallyport/log';
import { ConfigError } from '../../../call/fault.ts';
import type { LogEntry } from '../../stores.ts';
import type { Database, Statement } from '../database.ts';
import { readRecord } from './log-reader.ts';
import { prepareFiling } from './record-calls.ts';
import { openRememberedCheckpoint } from './open-remembered-checkpoint.ts';

const maxPayloadCharacters = 65_000;
/** How many of the newest records are checked with their payloads before anything is written after them. */
const tailRecords = 250;
/** Appends records to the Merkle log inside the writer's transaction, and signs checkpoints between transactions. */
export class LogAppender {
  readonly #signer: Signer;
  readonly #origin: string;
  readonly #checkpointFile: string;
  readonly #tagKey: TagKey;
  readonly #insert: Statement;
  readonly #insertCheckpoint: Statement;
  readonly #fileCalls: Statement;
  #frontier: MerkleFrontier;
  #committed: MerkleFrontier;
  #signedSize: number;
  #salts = Buffer.alloc(0);
  #saltsUsed = 0;

  /** Records from `checkFrom` on are checked with their payloads. Absent: only the newest. */
  constructor(database: Database, signer: Signer, origin: string, checkpointFile: string, checkFrom?: number) {
    this.#signer = signer;
    this.#origin = origin;
    this.#checkpointFile = checkpointFile;
    this.#tagKey = deriveTagKey(signer);
    this.#insert = database.prepare('INSERT INTO records (position, leaf, salt, payload, tag) VALUES (?, ?, ?, ?, ?)');
    this.#insertCheckpoint = database.prepare('INSERT INTO checkpoints (size, note, frontier) VALUES (?, ?, ?)');
    this.#fileCalls = prepareFiling(database);
    const last = database.prepare('SELECT size, note, frontier FROM checkpoints ORDER BY size DESC LIMIT 1').get();
    this.#frontier = last === undefined ? new MerkleFrontier() : decodeFrontier(last['frontier']);
    this.#signedSize = this.#frontier.size;
    if (last !== undefined) this.#checkLastCheckpoint(String(last['note']));
    this.#checkRememberedCheckpoint(last && String(last['note']));
    this.#replayTail(database, checkFrom);
    this.#committed = this.#frontier.clone();
  }

  get size(): number {
    return this.#frontier.size;
  }

  get hasUnsigned(): boolean {
    return this.#committed.size > this.#signedSize;
  }

  /** Returns the record's place in the log. */
  append(entry: LogEntry): number {
    if (entry.payload.length > maxPayloadCharacters) throw new RangeError('the payload of a record exceeds 64 KB');
    const index = this.#frontier.size;
    const salt = this.#takeSalt();
    const leaf = encodeCommittedLeaf(entry, salt, entry.payload);
    const leafHash = hashLeaf(leaf);
    this.#insert.write(index, leaf, salt, entry.payload, tagRecord(this.#tagKey, index, leafHash));
    this.#frontier.append(leafHash);
    return index;
  }

  /** The transaction is on disk. */
  committed(): void {
    this.#committed = this.#frontier.clone();
  }

  rolledBack(): void {
    this.#frontier = this.#committed.clone();
  }

  /**
   * Signs everything committed, inside a transaction without new records, and files it by call. Call the returned function when the
   * transaction is on disk: the database has the checkpoint before the file outside it does. Undefined: everything is
   * signed.
   */
  sign(): (() => void) | undefined {
    if (!this.hasUnsigned) return undefined;
    const { size } = this.#committed;
    this.#fileCalls.run(this.#signedSize, size);
    const note = signCheckpoint(this.#signer, { origin: this.#origin, size, root: this.#committed.root() });
    this.#insertCheckpoint.run(size, note, this.#committed.encode());
    return () => {
      this.#signedSize = size;
      this.#publish(note);
    };
  }

  #checkLastCheckpoint(note: string): void {
    const checkpoint = this.#open(note, 'The last checkpoint in the database');
    if (checkpoint.size === this.#frontier.size && this.#frontier.root().equals(checkpoint.root)) return;
    throw tampered(`The state stored with checkpoint ${checkpoint.size} does not belong to it.`);
  }

  /** The file outside the database may be older, when writing it failed; then it is written again. */
  #checkRememberedCheckpoint(newest: string | undefined): void {
    const note = readIfPresent(this.#checkpointFile);
    const rememberedSize = note === undefined ? 0 : this.#open(note, this.#checkpointFile).size;
    if (rememberedSize > this.#signedSize) {
      throw tampered(
        `A checkpoint over ${rememberedSize} records was signed, but the database has none above ${this.#signedSize}.`,
      );
    }
    if (newest !== undefined && rememberedSize < this.#signedSize) this.#publish(newest);
  }

  #open(note: string, where: string): Checkpoint {
    return openRememberedCheckpoint(note, where, { signer: this.#signer, checkpointFile: this.#checkpointFile });
  }

  #publish(note: string): void {
    writeFileSync(`${this.#checkpointFile}.new`, note, { mode: 0o600 });
    renameSync(`${this.#checkpointFile}.new`, this.#checkpointFile);
  }

  /**
   * Reads the records committed after the last checkpoint; tags show which of them the gate wrote. The newest records
   * before it are checked in the same way, with their payloads; all of the log is read after the start.
   */
  #replayTail(database: Database, checkFrom = Infinity): void {
    const tail = database.prepare(
      'SELECT position, leaf, salt, payload, tag FROM records WHERE position >= ? ORDER BY position',
    );
    let index = Math.min(checkFrom, Math.max(0, this.#signedSize - tailRecords));
    for (const row of tail.iterate(index)) {
      if (row['position'] !== index) throw tampered(`Record ${index} is missing.`);
      const record = readRecord(row);
      const leafHash = hashLeaf(record.leaf);
      if (!isTagOf(record.tag, this.#tagKey, index, leafHash)) {
        throw tampered(`Record ${index} was not written by this gate, or was changed.`);
      }
      if (!matchesPayload(record, record.leaf)) throw tampered(`The payload of record ${index} was changed.`);
      if (index >= this.#signedSize) this.#frontier.append(leafHash);
      index += 1;
    }
    if (index < this.#signedSize) {
      throw tampered(`The log ends at ${index}, but ${this.#signedSize} records were signed.`);
    }
  }

  #takeSalt(): Buffer {
    if (this.#saltsUsed === this.#salts.length) {
      this.#salts = randomFillSync(Buffer.allocUnsafe(saltBytes * 128));
      this.#saltsUsed = 0;
    }
    const salt = this.#salts.subarray(this.#saltsUsed, this.#saltsUsed + saltBytes);
    this.#saltsUsed += saltBytes;
    return salt;
  }
}

function decodeFrontier(stored: unknown): MerkleFrontier {
  try {
    return MerkleFrontier.decode(stored as Uint8Array);
  } catch {
    throw tampered('The state stored with the last checkpoint is not one that Sallyport writes.');
  }
}

function readIfPresent(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
}

function tampered(what: string): ConfigError {
  return new ConfigError(
    `The audit log was changed by something other than Sallyport. ${what}`,
    'Run `sallyport audit verify` to see what differs, then restore the database from a backup or set the folder aside.',
  );
}
