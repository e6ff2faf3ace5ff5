import { hash } from 'node:crypto';
import { setPriority } from 'node:os';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { parentPort } from 'node:worker_threads';
import { canonicalJson, parseStrictJson, StrictJsonError } from '@sallyport/contract';
import type { Json } from '@sallyport/contract';
import { harmlessBytes, hasTooManyParts, TooManyParts } from './json-parts.ts';
import { parsePlainJson, PlainJsonError, readUtf8 } from './plain-json.ts';

export type Work =
  /** Reads a message. Its bytes are free afterwards. */
  | { readonly kind: 'message'; readonly bytes: ArrayBuffer }
  /** Reads arguments, strictly. */
  | { readonly kind: 'arguments'; readonly text: string }
  | { readonly kind: 'digest'; readonly value: Json };

export interface ResultOf {
  readonly message: Json;
  readonly arguments: Json;
  /** SHA-256 of the canonical form, hexadecimal. */
  readonly digest: string;
}

/** Why there is no result. */
export type Problem =
  | { readonly kind: 'parts' }
  | { readonly kind: 'plain'; readonly message: string }
  | { readonly kind: 'strict'; readonly reason: string; readonly position: number }
  /** Our own failure. */
  | { readonly kind: 'fault'; readonly message: string };

export interface ToThread {
  readonly id: number;
  readonly work: Work;
}

export interface FromThread {
  readonly id: number;
  /** Absent: there is a problem. */
  readonly result?: ResultOf[Work['kind']];
  readonly problem?: Problem;
}

/** Behind the threads that every caller waits for, and before those that nobody waits for. */
const niceness = 5;

// Left to itself, the engine keeps hundreds of megabytes of texts that nobody needs any more.
setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;
setFlagsFromString('--no-expose-gc');

if (parentPort === null) throw new Error('large texts are read by a worker thread');
const port = parentPort;
// On Linux this concerns this thread alone; elsewhere it would slow the gate down.
if (process.platform === 'linux') setPriority(0, niceness);

port.on('message', ({ id, work }: ToThread) => {
  const post = (answer: FromThread): void => port.postMessage(answer);
  try {
    post({ id, result: run(work) });
  } catch (error) {
    post({ id, problem: describe(error) });
  }
  collectGarbage();
});

function run(work: Work): ResultOf[Work['kind']] {
  switch (work.kind) {
    case 'message':
      return readMessage(work.bytes);
    case 'arguments':
      checkParts(work.text);
      return parseStrictJson(work.text);
    case 'digest':
      return hash('sha256', canonicalJson(work.value));
  }
}

function readMessage(memory: ArrayBuffer): Json {
  const bytes = Buffer.from(memory);
  if (hasTooManyParts(bytes)) throw new TooManyParts();
  const text = readUtf8(bytes);
  // Gives the memory back now, and not when it is next collected.
  memory.transfer(0);
  return parsePlainJson(text);
}

function checkParts(text: string): void {
  if (text.length <= harmlessBytes) return;
  const bytes = Buffer.from(text);
  const isTooMuch = hasTooManyParts(bytes);
  bytes.buffer.transfer(0);
  if (isTooMuch) throw new TooManyParts();
}

function describe(error: unknown): Problem {
  if (error instanceof TooManyParts) return { kind: 'parts' };
  if (error instanceof PlainJsonError) return { kind: 'plain', message: error.message };
  if (error instanceof StrictJsonError) return { kind: 'strict', reason: error.reason, position: error.position };
  return { kind: 'fault', message: error instanceof Error ? error.message : String(error) };
}
