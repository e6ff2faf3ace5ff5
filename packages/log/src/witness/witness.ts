import { createHash } from 'node:crypto';
import { closeSync, fsyncSync, openSync, readFileSync, renameSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { openCheckpoint } from '../checkpoint.ts';
import type { Signer, Verifier } from '../checkpoint.ts';
import { cosign } from '../cosignature.ts';
import { hashBytes, sha256 } from '../merkle.ts';
import { verifyConsistency } from '../merkle-proof.ts';
import { CheckpointError, decodeBase64, readCheckpointBody, readNote, readSize } from '../note.ts';
import type { Checkpoint } from '../note.ts';

const longestProof = 63;

export interface WitnessOptions {
  readonly signer: Signer;
  /** The logs to watch: the name of each key is the origin of its log. */
  readonly logs: readonly Verifier[];
  /** Where the newest checkpoint of each log is kept. One witness only may use it at a time. */
  readonly folder: string;
  readonly nowS?: () => number;
}

export interface WitnessAnswer {
  readonly status: 200 | 400 | 403 | 404 | 409 | 422;
  readonly contentType: 'text/plain' | 'text/x.tlog.size';
  readonly body: string;
}

/**
 * Remembers how far each log was seen, and signs only what continues that (C2SP tlog-witness). All of it is
 * synchronous, so that no two requests are judged by the same memory. A checkpoint is on disk before it is signed.
 */
export class Witness {
  readonly #options: WitnessOptions;

  constructor(options: WitnessOptions) {
    this.#options = options;
  }

  /** The body of an add-checkpoint request. Throws only when the memory cannot be read or written. */
  addCheckpoint(request: string): WitnessAnswer {
    const parsed = parseRequest(request);
    if (parsed === undefined) return say(400, 'this is not an add-checkpoint request');
    const { oldSize, proof, note } = parsed;
    const named = readUnverified(note);
    if (named === undefined) return say(400, 'this is not a checkpoint');
    const verifier = this.#options.logs.find(({ name }) => name === named.checkpoint.origin);
    if (verifier === undefined) return say(404, 'this log is not known here');
    const checkpoint = openBy(note, verifier);
    if (checkpoint === undefined) return say(403, 'the log has not signed this');
    if (oldSize > checkpoint.size) return say(400, 'the old size is above that of the checkpoint');
    const seen = this.#recall(verifier);
    if (oldSize !== (seen?.size ?? 0)) {
      return { status: 409, contentType: 'text/x.tlog.size', body: `${seen?.size ?? 0}\n` };
    }
    if (!continues(seen, checkpoint, proof)) return say(422, 'the checkpoint does not continue what was seen before');
    this.#remember(checkpoint.origin, note);
    const timeS = this.#options.nowS?.() ?? Math.floor(Date.now() / 1000);
    return { status: 200, contentType: 'text/plain', body: cosign(this.#options.signer, named.body, timeS) };
  }

  #recall(verifier: Verifier): Checkpoint | undefined {
    let note: string;
    try {
      note = readFileSync(this.#fileOf(verifier.name), 'utf8');
    } catch (error) {
      if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
      throw error;
    }
    // If somebody changed the file, the witness must not forget what it saw.
    return openCheckpoint(note, verifier);
  }

  #remember(origin: string, note: string): void {
    const file = this.#fileOf(origin);
    const descriptor = openSync(`${file}.new`, 'w', 0o600);
    try {
      writeSync(descriptor, note);
      fsyncSync(descriptor);
    } finally {
      closeSync(descriptor);
    }
    renameSync(`${file}.new`, file);
    const folder = openSync(this.#options.folder, 'r');
    try {
      fsyncSync(folder);
    } finally {
      closeSync(folder);
    }
  }

  #fileOf(origin: string): string {
    return join(this.#options.folder, `${createHash('sha256').update(origin).digest('hex')}.checkpoint`);
  }
}

function continues(seen: Checkpoint | undefined, checkpoint: Checkpoint, proof: readonly Uint8Array[]): boolean {
  const { size, root } = checkpoint;
  const empty = sha256('');
  if (size === 0 && !empty.equals(root)) return false;
  const { size: oldSize, root: oldRoot } = seen ?? { size: 0, root: empty };
  return verifyConsistency({ oldSize, oldRoot, size, root, proof });
}

function parseRequest(request: string) {
  const end = request.indexOf('\n\n');
  const [first = '', ...lines] = end < 0 ? [] : request.slice(0, end).split('\n');
  const oldSize = first.startsWith('old ') ? readSize(first.slice(4)) : undefined;
  const proof = lines.map((line) => decodeBase64(line));
  const isProof = proof.length <= longestProof && proof.every((hash) => hash?.length === hashBytes);
  if (oldSize === undefined || !isProof) return undefined;
  return { oldSize, proof: proof as readonly Buffer[], note: request.slice(end + 2) };
}

function readUnverified(note: string): { readonly body: string; readonly checkpoint: Checkpoint } | undefined {
  try {
    const { body } = readNote(note);
    return { body, checkpoint: readCheckpointBody(body) };
  } catch (error) {
    if (error instanceof CheckpointError) return undefined;
    throw error;
  }
}

function openBy(note: string, verifier: Verifier): Checkpoint | undefined {
  try {
    return openCheckpoint(note, verifier);
  } catch (error) {
    if (error instanceof CheckpointError) return undefined;
    throw error;
  }
}

function say(status: WitnessAnswer['status'], text: string): WitnessAnswer {
  return { status, contentType: 'text/plain', body: `${text}\n` };
}
