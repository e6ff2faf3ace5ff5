import { randomFillSync } from 'node:crypto';
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { openCheckpoint, signCheckpoint, deriveTagKey, tagRecord } from '../../audit/checkpoint.ts';
import type { Signer, TagKey } from '../../audit/checkpoint.ts';
import { commitPayload, encodeLeaf, saltBytes } from '../../audit/leaf.ts';
import { hashLeaf, MerkleFrontier } from '../../audit/merkle.ts';
import { ConfigError } from '../../model/fault.ts';
import type { LogEntry } from '../stores.ts';
import type { Database, Statement } from './database.ts';

const maxPayloadCharacters = 65_000;

/** Appends records to the Merkle log inside the writer's transaction, and signs checkpoints between transactions. */
export class LogAppender {
  readonly #signer: Signer;
  readonly #origin: string;
  readonly #checkpointFile: string;
  readonly #tagKey: TagKey;
  readonly #insert: Statement;
  readonly #insertCheckpoint: Statement;
  #frontier: MerkleFrontier;
  #committed: MerkleFrontier;
  #signedSize: number;
  #salts = Buffer.alloc(0);

  constructor(database: Database, signer: Signer, origin: string, checkpointFile: string) {
    this.#signer = signer;
    this.#origin = origin;
    this.#checkpointFile = checkpointFile;
    this.#tagKey = deriveTagKey(signer);
    this.#insert = database.prepare('INSERT INTO records (position, leaf, salt, payload, tag) VALUES (?, ?, ?, ?, ?)');
    this.#insertCheckpoint = database.prepare('INSERT INTO checkpoints (size, note, frontier) VALUES (?, ?, ?)');
    const last = database.prepare('SELECT size, note, frontier FROM checkpoints ORDER BY size DESC LIMIT 1').get();
    this.#frontier = last === undefined ? new MerkleFrontier() : MerkleFrontier.decode(last['frontier'] as Uint8Array);
    this.#signedSize = this.#frontier.size;
    if (last !== undefined) this.#checkLastCheckpoint(String(last['note']));
    this.#checkRememberedCheckpoint();
    this.#replayTail(database);
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
    const leaf = encodeLeaf(entry, commitPayload(salt, entry.payload));
    const leafHash = hashLeaf(leaf);
    this.#insert.run(index, leaf, salt, entry.payload, tagRecord(this.#tagKey, index, leafHash));
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

  /** Signs all that is committed. The database has the checkpoint before the file outside it does. */
  sign(): void {
    if (!this.hasUnsigned) return;
    const { size } = this.#committed;
    const note = signCheckpoint(this.#signer, { origin: this.#origin, size, root: this.#committed.root() });
    this.#insertCheckpoint.run(size, note, this.#committed.encode());
    this.#signedSize = size;
    writeFileSync(`${this.#checkpointFile}.new`, note, { mode: 0o600 });
    renameSync(`${this.#checkpointFile}.new`, this.#checkpointFile);
  }

  #checkLastCheckpoint(note: string): void {
    const checkpoint = openCheckpoint(note, this.#signer);
    if (checkpoint.size === this.#frontier.size && this.#frontier.root().equals(checkpoint.root)) return;
    throw tampered(`The state stored with checkpoint ${checkpoint.size} does not belong to it.`);
  }

  #checkRememberedCheckpoint(): void {
    let note: string;
    try {
      note = readFileSync(this.#checkpointFile, 'utf8');
    } catch (error) {
      if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return;
      throw error;
    }
    const remembered = openCheckpoint(note, this.#signer);
    if (remembered.size > this.#signedSize) {
      throw tampered(
        `A checkpoint over ${remembered.size} records was signed, but the database knows none above ${this.#signedSize}.`,
      );
    }
  }

  /** Takes in what was committed after the last checkpoint; its tags tell our own records from anyone else's. */
  #replayTail(database: Database): void {
    const tail = database.prepare('SELECT position, leaf, tag FROM records WHERE position >= ? ORDER BY position');
    for (const row of tail.iterate(this.#signedSize)) {
      const index = this.#frontier.size;
      const leafHash = hashLeaf(row['leaf'] as Uint8Array);
      if (row['position'] !== index) throw tampered(`Record ${index} is missing.`);
      if (!tagRecord(this.#tagKey, index, leafHash).equals(row['tag'] as Uint8Array)) {
        throw tampered(`Record ${index} was not written by this gate.`);
      }
      this.#frontier.append(leafHash);
    }
    if (this.#frontier.size === this.#signedSize) {
      const rows = database.readNumber('SELECT coalesce(max(position) + 1, 0) FROM records');
      if (rows < this.#signedSize)
        throw tampered(`The log ends at ${rows}, but ${this.#signedSize} records were signed.`);
    }
  }

  #takeSalt(): Buffer {
    if (this.#salts.length < saltBytes) this.#salts = randomFillSync(Buffer.allocUnsafe(saltBytes * 128));
    const salt = this.#salts.subarray(0, saltBytes);
    this.#salts = this.#salts.subarray(saltBytes);
    return salt;
  }
}

function tampered(what: string): ConfigError {
  return new ConfigError(
    `The audit log was changed by something other than Sallyport. ${what}`,
    'Run `sallyport audit verify` to see what differs, then restore the database from a backup or set the folder aside.',
  );
}
